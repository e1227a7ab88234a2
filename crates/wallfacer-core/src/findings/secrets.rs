//! Gives each secret of a run a name, which stands in its place and by which a replay asks for it.

use std::collections::BTreeMap;

use crate::target::{Target, has_known_beginning, is_long_enough, is_secret_name, url_secrets};

/// What replay reads a secret from: this, then its name.
const VARIABLE: &str = "WALLFACER_REPLAY_";

/// Real secrets, each with a name of its own.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    names: BTreeMap<String, String>,
}

impl Secrets {
    /// Named by the variable, header, flag or parameter that holds them.
    pub fn of(target: &Target) -> Secrets {
        Secrets::named_by(target, &BTreeMap::new())
    }

    /// The same, where variables of our own environment that hold secrets are known by name.
    pub fn named_by(target: &Target, environment: &BTreeMap<String, String>) -> Secrets {
        let mut sources = sources(target);
        sources.extend(environment.iter().map(|(name, value)| {
            let name = name.strip_prefix(VARIABLE).unwrap_or(name);
            (name.to_owned(), value.clone())
        }));
        sources.extend(arguments(target).into_iter().map(|word| ("argument".to_owned(), word)));
        let mut secrets = Secrets::default();
        for value in target.secrets() {
            let exact = sources.iter().find(|(_, held)| *held == value);
            let within = || sources.iter().find(|(_, held)| held.contains(&value));
            let name = exact.or_else(within).map_or("environment", |(name, _)| name);
            secrets.add(name, &value);
        }
        secrets
    }

    /// Those of another target too.
    pub fn with(mut self, other: &Secrets) -> Secrets {
        other.iter().for_each(|(value, name)| self.add(name, value));
        self
    }

    /// One more. A name that is taken gets a number.
    pub fn add(&mut self, name: &str, value: &str) {
        if !value.is_empty() && !self.names.contains_key(value) {
            self.names.insert(value.to_owned(), self.free_name(name));
        }
    }

    /// A value that somebody wrote into a rule or gave as a parameter, if its name or its form says that it is a secret.
    /// One that is too short to be looked for in every text is given back.
    pub fn add_written(&mut self, name: &str, value: &str) -> Option<String> {
        url_secrets(value)
            .iter()
            .filter(|(_, value)| is_long_enough(value))
            .for_each(|(name, value)| self.add(name, value));
        let value = value.trim();
        if !is_secret_name(name) && !has_known_beginning(value) {
            return None;
        }
        if !is_long_enough(value) {
            return (!value.is_empty()).then(|| value.to_owned());
        }
        self.add(name, value);
        // Of `Bearer abc` a server repeats the second word at most.
        let scheme = value
            .split_once(' ')
            .filter(|(scheme, _)| ["bearer", "basic"].contains(&&*scheme.to_ascii_lowercase()));
        scheme
            .filter(|(_, word)| is_long_enough(word))
            .into_iter()
            .for_each(|(_, word)| self.add(name, word));
        None
    }

    /// The secret that a replay asks for by this variable, where the target still holds it.
    pub fn by_variable(&self, variable: &str) -> Option<String> {
        let named = self.names.iter().find(|(_, name)| replay_variable(name) == variable);
        named.map(|(value, _)| value.clone())
    }

    pub(super) fn name(&self, value: &str) -> Option<&str> {
        self.names.get(value).map(String::as_str)
    }

    /// Value and name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.names.iter().map(|(value, name)| (value.as_str(), name.as_str()))
    }

    fn free_name(&self, name: &str) -> String {
        let name = key(name);
        let is_free = |name: &String| !self.names.values().any(|taken| taken == name);
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        std::iter::once(name.clone()).chain(numbered).find(is_free).expect("numbers do not run out")
    }
}

/// The environment variable that gives the secret of this name back.
pub fn replay_variable(name: &str) -> String {
    format!("{VARIABLE}{}", key(name))
}

/// A name as a shell takes it: `x-api-key` is `X_API_KEY`.
pub(super) fn key(name: &str) -> String {
    let plain = name.trim_matches('-').to_ascii_uppercase();
    let plain: String =
        plain.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' }).collect();
    if plain.is_empty() { "SECRET".to_owned() } else { plain }
}

/// All that a target is given by name, whether it is a secret or not.
fn sources(target: &Target) -> Vec<(String, String)> {
    let mut sources = Vec::new();
    if let Some(command) = target.reach.command() {
        sources.extend(command.environment.set.clone());
        let words = arguments(target);
        sources.extend(words.iter().flat_map(|word| url_secrets(word)));
        sources.extend(words.iter().filter_map(|word| pair(word, &['=', ':'])));
        sources.extend(
            words
                .windows(2)
                .filter(|pair| pair[0].starts_with('-'))
                .map(|pair| (pair[0].clone(), pair[1].clone())),
        );
    }
    if let Some(endpoint) = target.reach.endpoint() {
        sources.extend(endpoint.headers.clone());
        sources.extend(url_secrets(&endpoint.url));
    }
    sources
}

fn arguments(target: &Target) -> Vec<String> {
    let arguments = target.reach.command().into_iter().flat_map(|command| &command.args);
    arguments.map(|word| word.to_string_lossy().into_owned()).collect()
}

fn pair(word: &str, borders: &[char]) -> Option<(String, String)> {
    word.split_once(borders).map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::{Command, Endpoint, EndpointKind, Reach};

    fn named(target: &Target) -> Vec<(String, String)> {
        let secrets = Secrets::of(target);
        secrets.names.into_iter().map(|(value, name)| (name, value)).collect()
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn a_secret_is_named_by_what_holds_it() {
        let mut command = Command::new("server", ["--api-key", "secret-a", "--token=secret-b"]);
        command.environment.set.insert("DB_PASSWORD".into(), "secret-c".into());
        let mut target = Target::new(Reach::Command(command));
        target.from_environment.insert("secret-d".into());
        let wanted = [
            ("API_KEY", "secret-a"),
            ("TOKEN", "secret-b"),
            ("DB_PASSWORD", "secret-c"),
            ("ENVIRONMENT", "secret-d"),
        ];
        assert_eq!(named(&target), pairs(&wanted));
    }

    #[test]
    fn a_secret_without_a_flag_is_named_too() {
        let command = Command::new("server", ["sk-live-abc123def456", "postgres://ada:hunter2@db/x"]);
        let mut target = Target::new(Reach::Command(command));
        target.from_environment.extend(["secret-e".into(), "secret-f".into()]);
        let variables = [("OUR_TOKEN", "secret-e"), ("WALLFACER_REPLAY_PASSWORD", "secret-f")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let named = Secrets::named_by(&target, &variables.into());
        let name = |value: &str| named.name(value).unwrap();
        assert_eq!(name("sk-live-abc123def456"), "ARGUMENT");
        assert_eq!((name("ada:hunter2"), name("hunter2")), ("URL_PASSWORD", "URL_PASSWORD_2"));
        assert_eq!((name("secret-e"), name("secret-f")), ("OUR_TOKEN", "PASSWORD"));
    }

    #[test]
    fn a_value_of_a_rule_is_a_secret_by_its_name_or_its_form() {
        let mut secrets = Secrets::default();
        let values = [
            ("password", "hunter2"),
            ("q", "ordinary"),
            ("q", "ghp_abcdef123"),
            ("Authorization", "Bearer swordfish"),
            ("url", "https://ada:sesame-1@host/"),
            ("pin", "4711"),
            ("token", ""),
        ];
        let short: Vec<_> =
            values.iter().filter_map(|(name, value)| secrets.add_written(name, value)).collect();
        assert_eq!(short, ["4711"]);
        let known: Vec<&str> = secrets.iter().map(|(value, _)| value).collect();
        assert_eq!(
            known,
            ["Bearer swordfish", "ada:sesame-1", "ghp_abcdef123", "hunter2", "sesame-1", "swordfish"]
        );
    }

    #[test]
    fn parts_of_a_header_have_names_of_their_own() {
        let headers = vec![("Authorization".into(), "Bearer hunter2".into())];
        let url = "http://host/?x-key=hunter3".into();
        let target = Target::new(Reach::Url(Endpoint { url, headers, kind: EndpointKind::Auto }));
        let wanted =
            [("AUTHORIZATION", "Bearer hunter2"), ("AUTHORIZATION_2", "hunter2"), ("X_KEY", "hunter3")];
        assert_eq!(named(&target), pairs(&wanted));
        assert_eq!(Secrets::of(&target).by_variable("WALLFACER_REPLAY_X_KEY").as_deref(), Some("hunter3"));
    }

    #[test]
    fn a_variable_is_one_that_a_shell_takes() {
        assert_eq!(replay_variable("x-api-key"), "WALLFACER_REPLAY_X_API_KEY");
        assert_eq!(replay_variable("--pässword"), "WALLFACER_REPLAY_P_SSWORD");
        assert_eq!(replay_variable(""), "WALLFACER_REPLAY_SECRET");
    }
}
