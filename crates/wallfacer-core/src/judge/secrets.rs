//! Looks for the secrets that a server was given in the bytes that it wrote.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use aho_corasick::AhoCorasick;

use crate::findings::{LAYERS, pieces, unbroken, unescape};
use crate::world::Entrusted;

/// A shorter one would be found in ordinary text.
const SHORTEST: usize = 8;

/// Values that a server was given and must keep to itself.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// As it is written, and the variable that it is from, where that is known.
    values: Vec<(String, Option<String>)>,
    given: Vec<Given>,
    /// Hosts that the environment of the server names: one of them may be the one that a secret is for.
    pub hosts: BTreeSet<String>,
    /// Made when it is asked for the first time.
    pieces: Arc<OnceLock<Pieces>>,
}

/// A secret, and who may have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    pub secret: String,
    pub owner: Owner,
}

/// Where a secret is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// Made for this run: there is nobody whom it could be for.
    Ours,
    /// A variable of this name.
    Variable(String),
    /// A header, an argument: nobody knows whom it is for.
    Unknown,
}

/// What gives secrets away, and which.
#[derive(Debug)]
struct Pieces {
    automaton: AhoCorasick,
    secrets: Vec<usize>,
}

impl Secrets {
    /// Those that were made for this run.
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Secrets {
        let secrets = secrets.into_iter().map(|secret| Given { secret, owner: Owner::Ours });
        Secrets::default().with(secrets)
    }

    /// And these, which are looked for after the others.
    pub fn and(self, secrets: impl IntoIterator<Item = String>) -> Secrets {
        self.with(secrets.into_iter().map(|secret| Given { secret, owner: Owner::Unknown }))
    }

    /// And these, each from a variable of this name.
    pub fn and_named(mut self, entrusted: impl Into<Entrusted>) -> Secrets {
        let Entrusted { secrets, hosts } = entrusted.into();
        self.hosts.extend(hosts);
        self.with(secrets.into_iter().map(|(name, secret)| Given { secret, owner: Owner::Variable(name) }))
    }

    fn with(mut self, secrets: impl Iterator<Item = Given>) -> Secrets {
        for given in secrets.filter(|given| given.secret.len() >= SHORTEST) {
            let name = match &given.owner {
                Owner::Variable(name) => Some(name.clone()),
                Owner::Ours | Owner::Unknown => None,
            };
            // As they stand within JSON, which is how servers speak.
            let quoted = serde_json::to_string(&given.secret).unwrap_or_default();
            let inner = quoted.trim_matches('"').to_owned();
            if inner != given.secret {
                self.values.push((given.secret.clone(), name.clone()));
            }
            self.values.push((inner, name));
            self.given.push(given);
        }
        self.pieces = Arc::default();
        self
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn shown_in(&self, bytes: &[u8]) -> bool {
        self.find(bytes).is_some()
    }

    /// The first that is shown: the variable that it is from, or the empty name where that is not known.
    pub fn find(&self, bytes: &[u8]) -> Option<&str> {
        let text = String::from_utf8_lossy(bytes);
        let found = self.values.iter().find(|(secret, _)| text.contains(secret.as_str()))?;
        Some(found.1.as_deref().unwrap_or_default())
    }

    /// All that these bytes give away, however it is written: escaped, encoded, in lines, or only a part of it.
    pub fn given_away_in(&self, bytes: &[u8]) -> Vec<&Given> {
        let pieces = self.pieces.get_or_init(|| Pieces::of(&self.given));
        let mut found = BTreeSet::new();
        let mut layer = bytes.to_vec();
        for _ in 0..=LAYERS {
            pieces.find(&layer, &mut found);
            if let Some(whole) = unbroken(&layer) {
                pieces.find(&whole.bytes, &mut found);
            }
            let Some(undone) = unescape(&layer) else { break };
            layer = undone.bytes;
        }
        found.into_iter().filter_map(|number| self.given.get(number)).collect()
    }
}

impl Pieces {
    fn of(given: &[Given]) -> Pieces {
        let all = given.iter().enumerate();
        let all = all
            .flat_map(|(number, given)| pieces(&given.secret).into_iter().map(move |piece| (piece, number)));
        let (pieces, secrets): (Vec<_>, Vec<_>) = all.unzip();
        let automaton = AhoCorasick::builder().ascii_case_insensitive(true).build(pieces);
        Pieces { automaton: automaton.expect("the pieces of a few hundred secrets are few"), secrets }
    }

    fn find(&self, bytes: &[u8], found: &mut BTreeSet<usize>) {
        let places = self.automaton.find_overlapping_iter(bytes);
        found.extend(places.map(|place| self.secrets[place.pattern().as_usize()]));
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn a_secret_is_found_as_it_is_and_as_json_writes_it() {
        let secrets = Secrets::new(["plain-secret".to_owned(), "with \"quotes\"".to_owned()]);
        assert!(secrets.shown_in(b"{\"text\":\"key=plain-secret\"}"));
        assert!(secrets.shown_in(br#"{"text":"with \"quotes\""}"#));
        assert!(!secrets.shown_in(b"{\"text\":\"nothing\"}"));
    }

    #[test]
    fn a_secret_is_told_by_the_variable_that_it_is_from() {
        let secrets = Secrets::default().and_named([("TOKEN".to_owned(), "plain-secret".to_owned())]);
        assert_eq!(secrets.find(b"plain-secret"), Some("TOKEN"));
        assert_eq!(Secrets::new(["plain-secret".to_owned()]).find(b"plain-secret"), Some(""));
    }

    #[test]
    fn what_is_too_short_is_not_looked_for() {
        assert!(Secrets::new(["abc".to_owned()]).is_empty());
    }

    #[test]
    fn a_secret_is_given_away_in_every_form_and_by_sixteen_bytes_of_it() {
        let secret = "ghp_a/b+c%d\"e0123456789abcdefghijklm";
        let secrets = Secrets::new(["another-secret-0".to_owned(), secret.to_owned()]);
        let escaped: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let hexadecimal: String = secret.bytes().map(|byte| format!("{byte:02X}")).collect();
        let encoded = STANDARD.encode(format!("user:{secret}"));
        let lines = format!("{}\r\n{}", &encoded[..20], &encoded[20..]);
        let part = format!("GET /{} HTTP/1.1", &secret[12..28]);
        for text in [secret, &escaped, &hexadecimal, &encoded, &lines, &part] {
            let found = secrets.given_away_in(text.as_bytes());
            assert_eq!(
                found.iter().map(|given| given.secret.as_str()).collect::<Vec<_>>(),
                [secret],
                "{text}"
            );
        }
        assert!(secrets.given_away_in(&secret.as_bytes()[..15]).is_empty());
        assert!(Secrets::default().given_away_in(b"anything at all").is_empty());
    }
}
