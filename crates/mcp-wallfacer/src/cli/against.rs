//! The flags that name the other server of a comparison, and the [`Connector`] that they mean.

use std::path::Path;

use clap::Args;
use wallfacer_core::place::Pattern;
use wallfacer_core::target::{Protocol, Version};
use wallfacer_core::wire::Connector;

use super::target::{Chosen, TargetArgs};
use crate::exit::{Exit, Failure};

#[derive(Debug, Args)]
pub struct AgainstArgs {
    /// Hold the server against another: a URL, the name of a server in an MCP client's file, or a command line in quotes;
    /// `URL -- COMMAND` starts it first
    #[arg(long, value_name = "SERVER", conflicts_with = "learn", help_heading = "Comparison")]
    against: Option<String>,
    /// The version that the other speaks; without --against, the other is the same server [default: auto]
    #[arg(long, value_name = "VERSION", conflicts_with = "learn", help_heading = "Comparison")]
    against_protocol: Option<String>,
    /// A header for every request to the other, as "NAME: VALUE"
    #[arg(long, value_name = "NAME: VALUE", requires = "against", help_heading = "Comparison")]
    against_header: Vec<String>,
    /// A place of results that may differ, such as `$..time` or `$.structuredContent.items[*].id`
    #[arg(long, value_name = "JSONPATH", help_heading = "Comparison")]
    ignore: Vec<String>,
}

impl AgainstArgs {
    /// The other server; none where there is none to compare with.
    pub fn choose(
        &self,
        target: &TargetArgs,
        chosen: &Chosen,
        config: Option<&Path>,
    ) -> Result<Option<Connector>, Failure> {
        let mut other = match (&self.against, &self.against_protocol) {
            (Some(typed), _) => {
                let (url, command) = url_and_command(typed)?;
                let name = command.as_slice().first().filter(|_| url.is_none() && command.len() == 1);
                let named = name.and_then(|name| target.choose_client_server(name).ok());
                match named {
                    Some(chosen) => chosen.connector,
                    None => target.choose_other(url, &command, &self.against_header, config)?.connector,
                }
            }
            (None, Some(_)) => chosen.connector.clone(),
            (None, None) => return Ok(None),
        };
        let version = self.against_protocol.as_deref().unwrap_or("auto");
        let protocol = Protocol::parse(version).ok_or_else(|| {
            let known = Version::ALL.map(Version::as_str).join(", ");
            usage(format!("--against-protocol `{version}` is not known; use auto or one of {known}"))
        })?;
        other.speak(protocol);
        Ok(Some(other))
    }

    /// The places that may differ, as typed and as configured.
    pub fn ignored(&self, configured: &[Pattern]) -> Result<Vec<Pattern>, Failure> {
        let parse = |text: &String| Pattern::parse(text).map_err(|error| usage(format!("--ignore: {error}")));
        self.ignore.iter().map(parse).chain(configured.iter().cloned().map(Ok)).collect()
    }
}

fn usage(message: String) -> Failure {
    Failure { exit: Exit::Usage, message }
}

/// `URL`, `URL -- COMMAND` or `COMMAND`, with words as a shell has them.
fn url_and_command(typed: &str) -> Result<(Option<String>, Vec<String>), Failure> {
    let mut words = words(typed)
        .ok_or_else(|| usage(format!("--against `{typed}` has a quote that does not end; close it")))?
        .into_iter()
        .peekable();
    let url = words.next_if(|word| word.starts_with("http://") || word.starts_with("https://"));
    if url.is_some() && words.peek().is_some_and(|word| word != "--") {
        let message = "--against names a URL and more; a command that starts the server goes behind ` -- `";
        return Err(usage(message.to_owned()));
    }
    let command: Vec<String> = words.skip_while(|word| word == "--").collect();
    match url.is_none() && command.is_empty() {
        true => Err(usage("--against names no server; give a URL, a name or a command line".to_owned())),
        false => Ok((url, command)),
    }
}

/// Words between spaces; quotes hold them together. None where a quote does not end.
fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some(open), letter) if letter == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().push(letters.next()?),
            (None, space) if space.is_whitespace() => words.extend(word.take()),
            (_, letter) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_line_is_split_as_a_shell_does() {
        let split = |text: &str| words(text).unwrap().join("|");
        assert_eq!(
            split(r#"node  "my server.js" --name 'a b' c\ d """#),
            "node|my server.js|--name|a b|c d|"
        );
        assert_eq!(words("node 'server.js"), None);
    }

    #[test]
    fn a_url_may_have_a_command_that_starts_it() {
        let (url, command) = url_and_command("http://localhost:1/mcp -- node a.js").unwrap();
        assert_eq!(
            (url.as_deref(), command.join(" ")),
            (Some("http://localhost:1/mcp"), "node a.js".to_owned())
        );
        assert!(url_and_command("http://localhost:1/mcp node").is_err() && url_and_command(" ").is_err());
        assert_eq!(url_and_command("-- node").unwrap().1, ["node"]);
    }
}
