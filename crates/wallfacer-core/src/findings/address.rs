//! Stores how a [`Target`] was reached, and reads it back: enough to get at the server once more, without its secrets.
//!
//! Where a report has `[redacted]`, a stored target names the secret, so that a replay can ask for it.

use std::collections::BTreeSet;
use std::path::Path;

use super::redaction::Redaction;
use super::restore::{put_back, replace};
use super::secrets::replay_variable;
use crate::target::{Flags, REDACTED, Shown, Target};

/// The target as it was got at from this directory.
pub fn stored_target(target: &Target, redaction: &Redaction, directory: &Path) -> Shown {
    let shown = target.shown();
    let (command, endpoint) = (target.reach.command(), target.reach.endpoint());
    let words = command.into_iter().flat_map(|command| {
        let args = command.args.iter().map(|word| word.to_string_lossy().into_owned());
        std::iter::once(command.program.to_string_lossy().into_owned()).chain(args)
    });
    let words = words.zip(&shown.command).map(|(word, shown)| named(&word, shown, redaction)).collect();
    let place = command.map(|command| match &command.cwd {
        Some(cwd) => directory.join(cwd).to_string_lossy().into_owned(),
        None => directory.to_string_lossy().into_owned(),
    });
    Shown {
        command: words,
        cwd: place.map(|place| redaction.known(&place)),
        roots: target.roots.iter().map(|root| redaction.known(&root.to_string_lossy())).collect(),
        keep: target.sandbox.keep.iter().map(|path| redaction.known(&path.to_string_lossy())).collect(),
        url: endpoint
            .zip(shown.url.as_deref())
            .map(|(endpoint, shown)| named(&endpoint.url, shown, redaction)),
        ..shown
    }
}

/// What one would type to get at a stored target from its own directory; `lookup` knows variables by name. Else the
/// variables that are missing.
pub fn typed_target(stored: &Shown, lookup: impl Fn(&str) -> Option<String>) -> Result<Flags, Missing> {
    let mut missing = BTreeSet::new();
    let mut word = |text: &String| put_back(text, &lookup, &mut missing);
    let command: Vec<String> = stored.command.iter().map(&mut word).collect();
    let (url, cwd) = (stored.url.as_ref().map(&mut word), stored.cwd.as_ref().map(&mut word));
    let roots: Vec<String> = stored.roots.iter().map(&mut word).collect();
    let keep = stored.keep.iter().map(&mut word).map(Into::into).collect();
    let mut pair = |name: &String, border: &str| {
        let variable = replay_variable(name);
        let value = lookup(&variable);
        if value.is_none() {
            missing.insert(variable);
        }
        format!("{name}{border}{}", value.unwrap_or_default())
    };
    let env = stored.env.iter().map(|name| pair(name, "=")).collect();
    let headers = stored.headers.iter().map(|name| pair(name, ": ")).collect();
    let hidden = command.iter().chain(&url).any(|text| text.contains(REDACTED));
    if hidden {
        return Err(Missing::Hidden);
    }
    if !missing.is_empty() {
        return Err(Missing::Variables(missing.into_iter().collect()));
    }
    let command = command.into_iter().map(Into::into).collect();
    let roots = roots.into_iter().map(Into::into).collect();
    Ok(Flags {
        command,
        url,
        cwd: cwd.map(Into::into),
        roots,
        env,
        env_clear: stored.env_only.is_some(),
        env_pass: stored.env_only.clone().unwrap_or_else(|| stored.env_pass.clone()),
        keep,
        protocol: stored.protocol.clone(),
        headers,
        ..Flags::default()
    })
}

/// The variables that a replay of a stored target asks for.
pub fn asked_for(stored: &Shown) -> Vec<String> {
    match typed_target(stored, |_| None) {
        Err(Missing::Variables(variables)) => variables,
        Ok(_) | Err(Missing::Hidden) => Vec::new(),
    }
}

/// Why a stored target is not enough.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    #[error("set {}, or name the server anew (`-- COMMAND`, `--url`, `--server`)", .0.join(" and "))]
    Variables(Vec<String>),
    #[error(
        "its command or URL held a secret that has no name; name the server anew (`-- COMMAND`, `--url`, `--server`)"
    )]
    Hidden,
}

/// The word with a name for each secret, where that tells no more than the report does.
fn named(word: &str, shown: &str, redaction: &Redaction) -> String {
    let named = redaction.known(word);
    match replace(&named, |_, _| REDACTED.to_owned()) == shown {
        true => named,
        false => shown.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Secrets;
    use crate::target::{Command, Endpoint, EndpointKind, Inherit, Protocol, Reach, Version};
    use std::ffi::OsString;

    fn stored(target: &Target) -> Shown {
        stored_target(target, &Redaction::new(Secrets::of(target)), Path::new("/project"))
    }

    fn command(args: &[&str]) -> Target {
        Target::new(Reach::Command(Command::new("./server", args)))
    }

    fn lookup(variable: &str) -> Option<String> {
        let known = [("API_KEY", "hunter2"), ("MODE", "fast"), ("X_WHO", "ada"), ("TOKEN", "hunter3")];
        let named = known.iter().find(|(name, _)| replay_variable(name) == variable);
        named.map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn a_command_comes_back_with_its_directory_and_its_secrets_by_name() {
        let target = command(&["--api-key", "hunter2", "--dir=/data"]);
        let stored = stored(&target);
        assert_eq!(stored.command, ["./server", "--api-key", "<redacted:API_KEY>", "--dir=/data"]);
        assert_eq!(stored.cwd.as_deref(), Some("/project"));
        let typed = typed_target(&stored, lookup).unwrap();
        let words = ["./server", "--api-key", "hunter2", "--dir=/data"].map(OsString::from);
        assert_eq!(typed.command, words);
        assert_eq!(asked_for(&stored), ["WALLFACER_REPLAY_API_KEY"]);
    }

    #[test]
    fn variables_and_headers_are_asked_for_by_name() {
        let mut target = command(&[]);
        if let Reach::Command(command) = &mut target.reach {
            command.environment.set.insert("MODE".into(), "fast".into());
        }
        assert_eq!(typed_target(&stored(&target), lookup).unwrap().env, ["MODE=fast"]);
        let headers = vec![("X-Who".into(), "ada".into()), ("X-Other".into(), "secret".into())];
        let url = "http://host/mcp?token=hunter3".into();
        let target = Target::new(Reach::Url(Endpoint { url, headers, kind: EndpointKind::Auto }));
        let stored = stored(&target);
        assert!(!serde_json::to_string(&stored).unwrap().contains("hunter3"));
        let missing = typed_target(&stored, lookup).unwrap_err();
        assert_eq!(missing, Missing::Variables(vec!["WALLFACER_REPLAY_X_OTHER".to_owned()]));
        let all = |variable: &str| lookup(variable).or(Some("x".to_owned()));
        let typed = typed_target(&stored, all).unwrap();
        assert_eq!(typed.url.as_deref(), Some("http://host/mcp?token=hunter3"));
        assert_eq!(typed.headers, ["X-Who: ada", "X-Other: x"]);
    }

    #[test]
    fn what_was_kept_from_the_server_and_what_it_was_made_to_speak_come_back() {
        let mut target = command(&[]);
        target.protocol = Protocol::Fixed(Version::V2025_06_18);
        if let Reach::Command(command) = &mut target.reach {
            command.environment.inherit = Inherit::Only(vec!["PATH".to_owned()]);
        }
        let typed = typed_target(&stored(&target), lookup).unwrap();
        assert!(typed.env_clear);
        assert_eq!(
            (typed.env_pass, typed.protocol),
            (vec!["PATH".to_owned()], Some("2025-06-18".to_owned()))
        );
    }

    #[test]
    fn a_secret_without_a_name_is_neither_stored_nor_guessed() {
        for target in [command(&["--password", "123"]), command(&["postgres://a:pw@host/x"])] {
            let stored = stored(&target);
            assert!(stored.command.iter().any(|word| word.contains(REDACTED)), "{stored:?}");
            assert_eq!(typed_target(&stored, lookup), Err(Missing::Hidden));
        }
    }
}
