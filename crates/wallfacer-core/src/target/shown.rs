//! Tells what a report may say of a [`Target`]: every value that may be a secret is left away.

use super::imitation::secret_values;
use super::secret::{self, REDACTED};
use super::token::{is_token, secret_pairs, show_url, url_secrets};
use super::{Command, Endpoint, Inherit, Protocol, Target};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// A target without its secrets. Variables and headers are there by name only.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shown {
    /// The program and its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The names of the variables that were set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The names of the variables of our own that it was given, where that was not all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env_only: Option<Vec<String>>,
    /// The names of the variables of our own that it was given as they are, where it was given all others too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_pass: Vec<String>,
    /// The version of the protocol that was spoken because somebody said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Directories that it is told of when it asks for roots.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<String>,
    /// What it was shown of the home as it is.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub keep: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The names of the headers that were sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<String>,
}

impl Target {
    pub fn shown(&self) -> Shown {
        let secrets = self.secrets();
        let command = self.reach.command();
        let endpoint = self.reach.endpoint();
        Shown {
            command: command.map(|command| words(command, &secrets)).unwrap_or_default(),
            cwd: command
                .and_then(|command| command.cwd.as_ref())
                .map(|cwd| without(&cwd.to_string_lossy(), &secrets)),
            env: command.map(|command| command.environment.set.keys().cloned().collect()).unwrap_or_default(),
            env_only: command.and_then(|command| match &command.environment.inherit {
                Inherit::All => None,
                Inherit::Only(names) => Some(names.clone()),
            }),
            env_pass: command
                .filter(|command| command.environment.inherit == Inherit::All)
                .map(|command| command.environment.pass.iter().cloned().collect())
                .unwrap_or_default(),
            protocol: match self.protocol {
                Protocol::Auto => None,
                Protocol::Fixed(version) => Some(version.as_str().to_owned()),
            },
            roots: self.roots.iter().map(|root| without(&root.to_string_lossy(), &secrets)).collect(),
            keep: self.sandbox.keep.iter().map(|path| without(&path.to_string_lossy(), &secrets)).collect(),
            url: endpoint.map(|endpoint| without(&show_url(&endpoint.url), &secrets)),
            headers: endpoint.map(header_names).unwrap_or_default(),
        }
    }

    /// Values that must not appear in anything we write, wherever the server repeats them.
    pub fn secrets(&self) -> BTreeSet<String> {
        let mut secrets = self.from_environment.clone();
        if let Some(command) = self.reach.command() {
            for (name, value) in &command.environment.set {
                secrets.extend(secret::is_secret_name(name).then(|| value.clone()));
                // Of `Bearer abc`, a URL or a JSON document, a server may repeat only the secret within it.
                secrets.extend(secret_values(name, value));
            }
            for (argument, spans) in arguments(command) {
                secrets.extend(spans.into_iter().map(|at| argument[at].trim().to_owned()));
                secrets.extend(url_secrets(&argument).into_iter().map(|(_, value)| value));
            }
        }
        if let Some(endpoint) = self.reach.endpoint() {
            let headers = endpoint.headers.iter().filter(|(name, _)| secret::is_secret_name(name));
            // Of `Bearer abc` a server repeats the second word at most, of `Basic abc` what is hidden in it.
            secrets.extend(headers.clone().flat_map(|(_, value)| passwords(value)));
            let values =
                headers.flat_map(|(_, value)| [value.as_str(), value.rsplit(' ').next().unwrap_or("")]);
            secrets.extend(values.map(str::to_owned));
            secrets.extend(url_secrets(&endpoint.url).into_iter().map(|(_, value)| value));
        }
        secrets.retain(|value| secret::is_long_enough(value));
        secrets
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = self.command.iter().map(|word| quoted_for_shell(word)).collect::<Vec<_>>().join(" ");
        match &self.url {
            Some(url) if self.command.is_empty() => formatter.write_str(url),
            Some(url) => write!(formatter, "{url} (started as `{command}`)"),
            None => formatter.write_str(&command),
        }
    }
}

fn header_names(endpoint: &Endpoint) -> Vec<String> {
    endpoint.headers.iter().map(|(name, _)| name.clone()).collect()
}

fn words(command: &Command, secrets: &BTreeSet<String>) -> Vec<String> {
    let program = without(&command.program.to_string_lossy(), secrets);
    let arguments = arguments(command).map(|(argument, spans)| {
        if spans.is_empty() {
            return without(&show_url(&argument), secrets);
        }
        let mut shown = String::new();
        let mut done = 0;
        for at in spans {
            shown += &without(&argument[done..at.start], secrets);
            shown += REDACTED;
            done = at.end;
        }
        shown + &without(&argument[done..], secrets)
    });
    std::iter::once(program).chain(arguments).collect()
}

/// Each argument with the places where a secret stands in it. A URL has its own way to be shown.
fn arguments(command: &Command) -> impl Iterator<Item = (String, Vec<Range<usize>>)> {
    let mut previous = String::new();
    command.args.iter().map(move |argument| {
        let argument = argument.to_string_lossy().into_owned();
        let spans = match secret_start(&argument, &previous) {
            Some(start) if start < argument.len() => std::iter::once(start..argument.len()).collect(),
            Some(_) => Vec::new(),
            None if argument.contains("://") => Vec::new(),
            None => secret_pairs(&argument),
        };
        previous.clone_from(&argument);
        (argument, spans)
    })
}

fn secret_start(argument: &str, previous: &str) -> Option<usize> {
    let after_flag = previous.starts_with('-') && !previous.contains('=');
    let value = argument.find(['=', ':']).map(|border| border + 1);
    match (previous, argument) {
        ("-e" | "--env" | "-H" | "--header", _) => return value,
        _ if after_flag && secret::is_secret_name(previous) && !argument.starts_with('-') => return Some(0),
        _ => {}
    }
    if let Some(start) = value
        && !argument[start..].starts_with("//")
        && (secret::is_secret_name(&argument[..start - 1])
            || ["--env=", "--header="].contains(&&argument[..start]))
    {
        return Some(start);
    }
    // What a thing hashes to is no secret.
    let is_hash = |start: usize| argument[..start - 1].ends_with("sha256");
    let behind_a_name = value.filter(|start| is_token(&argument[*start..]) && !is_hash(*start));
    behind_a_name.or_else(|| is_token(argument).then_some(0))
}

/// `user:password` and the password alone, out of the value of a header that carries them.
fn passwords(header: &str) -> Vec<String> {
    let decoded = header.strip_prefix("Basic ").and_then(|text| BASE64.decode(text).ok());
    let Some(pair) = decoded.and_then(|bytes| String::from_utf8(bytes).ok()) else { return vec![] };
    let password = pair.split_once(':').map_or("", |(_, password)| password).to_owned();
    vec![pair, password]
}

fn without(text: &str, secrets: &BTreeSet<String>) -> String {
    // The longest first, so that no rest of one is left where another begins alike.
    let mut secrets: Vec<_> = secrets.iter().collect();
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    secrets.into_iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), REDACTED))
}

/// A word as a shell would take it.
pub fn quoted_for_shell(word: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "@%+=:,./-_[]~".contains(letter);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::super::{EndpointKind, Reach};
    use super::*;

    fn command(args: &[&str]) -> Target {
        Target::new(Reach::Command(Command::new("server", args)))
    }

    fn endpoint(url: &str, headers: &[(&str, &str)]) -> Target {
        let headers = headers.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        Target::new(Reach::Url(Endpoint { url: url.into(), headers, kind: EndpointKind::Auto }))
    }

    #[test]
    fn a_secret_in_the_arguments_is_not_shown() {
        for (args, shown) in [
            (&["--api-key", "hunter2"][..], "server --api-key [redacted]"),
            (&["--api-key=hunter2", "-v"], "server --api-key=[redacted] -v"),
            (&["run", "-e", "NAME=hunter2", "image"], "server run -e NAME=[redacted] image"),
            (&["-H", "X-Who: hunter2"], "server -H X-Who:[redacted]"),
            (&["GITHUB_TOKEN=hunter2"], "server GITHUB_TOKEN=[redacted]"),
            (
                &["postgres://ada:hunter2@db/x?ssl=hunter2"],
                "server 'postgres://[redacted]@db/x?ssl=[redacted]'",
            ),
            (&["ghp_hunter2"], "server [redacted]"),
            (&["sk-live-abc123def456", "serve"], "server [redacted] serve"),
            (&["9f86d081884c7d659a2feaa0c55ad015"], "server [redacted]"),
            (&["--workspace=9f86d081884c7d659a2feaa0c55ad015"], "server --workspace=[redacted]"),
            (&["host=db password=abc dbname=x"], "server 'host=db password=[redacted] dbname=x'"),
            (&[r#"{"host":"db","apiKey":"abc"}"#], r#"server '{"host":"db","apiKey":"[redacted]"}'"#),
            (&["--db=postgres://ada:hunter2@db/x"], "server --db=postgres://[redacted]@db/x"),
            (&["--token", "--verbose"], "server --token --verbose"),
            (&["-y", "some package", "/tmp"], "server -y 'some package' /tmp"),
            (&["http://localhost:80/mcp"], "server http://localhost:80/mcp"),
        ] {
            assert_eq!(command(args).shown().to_string(), shown);
        }
    }

    #[test]
    fn a_secret_in_a_url_is_not_shown() {
        for (url, shown) in [
            ("https://ada:hunter2@host:1/mcp", "https://[redacted]@host:1/mcp"),
            ("https://host/mcp?token=hunter2&hunter2", "https://host/mcp?token=[redacted]&[redacted]"),
            ("https://host/s/0123456789abcdef0123456789/mcp", "https://host/s/[redacted]/mcp"),
            ("https://host/mcp#hunter2", "https://host/mcp"),
            ("http://[::1]:8000/mcp", "http://[::1]:8000/mcp"),
        ] {
            assert_eq!(endpoint(url, &[]).shown().to_string(), shown);
        }
    }

    #[test]
    fn headers_and_variables_are_shown_by_name_alone() {
        let mut target = command(&[]);
        if let Reach::Command(command) = &mut target.reach {
            command.environment.set.insert("MODE".into(), "hunter2".into());
        }
        let shown = serde_json::to_string(&target.shown()).unwrap();
        assert_eq!(shown, r#"{"command":["server"],"env":["MODE"]}"#);
        let shown = endpoint("http://host/", &[("X-Who", "hunter2")]).shown();
        assert_eq!(serde_json::to_string(&shown).unwrap(), r#"{"url":"http://host/","headers":["X-Who"]}"#);
    }

    #[test]
    fn a_value_from_the_environment_is_hidden_wherever_it_stands() {
        let mut target = command(&["--dir=/data/hunter2/x"]);
        target.from_environment.insert("hunter2".into());
        assert_eq!(target.shown().to_string(), "server --dir=/data/[redacted]/x");
    }

    #[test]
    fn what_a_server_might_repeat_is_among_the_secrets() {
        let target =
            endpoint("http://host/", &[("Authorization", "Bearer hunter2"), ("Accept", "text/html")]);
        assert_eq!(target.secrets().into_iter().collect::<Vec<_>>(), ["Bearer hunter2", "hunter2"]);
        assert!(endpoint("http://host/?a=ordinary&key=hunter2", &[]).secrets().contains("hunter2"));
        let basic = endpoint("http://host/", &[("Authorization", "Basic YWRhOmh1bnRlcjI=")]);
        assert!(basic.secrets().contains("hunter2"));
        assert!(command(&["--password", "hunter2"]).secrets().contains("hunter2"));
        assert!(command(&["--password", "1"]).secrets().is_empty());
        for argument in ["postgres://ada:hunter2@db/x", "password=hunter2", "host=db password=hunter2"] {
            assert!(command(&[argument]).secrets().contains("hunter2"), "{argument}");
        }
        assert!(command(&["sk-live-abc123def456"]).secrets().contains("sk-live-abc123def456"));
    }
}
