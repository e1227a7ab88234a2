//! Secrets in, whether bytes hold one of them out.

/// A shorter one would be found in ordinary text.
const SHORTEST: usize = 8;

/// Values that a server was given and must keep to itself.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    values: Vec<String>,
}

impl Secrets {
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Secrets {
        let long = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST);
        // As they stand within JSON, which is how servers speak.
        let written = long.flat_map(|secret| {
            let quoted = serde_json::to_string(&secret).unwrap_or_default();
            let inner = quoted.trim_matches('"').to_owned();
            [Some(secret.clone()).filter(|_| inner != secret), Some(inner)]
        });
        Secrets { values: written.flatten().collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    pub fn shown_in(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        self.values.iter().any(|secret| text.contains(secret.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_as_it_is_and_as_json_writes_it() {
        let secrets = Secrets::new(["plain-secret".to_owned(), "with \"quotes\"".to_owned()]);
        assert!(secrets.shown_in(b"{\"text\":\"key=plain-secret\"}"));
        assert!(secrets.shown_in(br#"{"text":"with \"quotes\""}"#));
        assert!(!secrets.shown_in(b"{\"text\":\"nothing\"}"));
    }

    #[test]
    fn what_is_too_short_is_not_looked_for() {
        assert!(Secrets::new(["abc".to_owned()]).is_empty());
    }
}
