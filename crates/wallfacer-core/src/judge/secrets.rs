//! Looks for the secrets that a server was given in the bytes that it wrote.

/// A shorter one would be found in ordinary text.
const SHORTEST: usize = 8;

/// Values that a server was given and must keep to itself.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// As it is written, and the variable that it is from, where that is known.
    values: Vec<(String, Option<String>)>,
}

impl Secrets {
    pub fn new(secrets: impl IntoIterator<Item = String>) -> Secrets {
        Secrets::default().and(secrets)
    }

    /// And these, which are looked for after the others.
    pub fn and(self, secrets: impl IntoIterator<Item = String>) -> Secrets {
        self.with(secrets.into_iter().map(|secret| (None, secret)))
    }

    /// And these, each from a variable of this name.
    pub fn and_named(self, secrets: impl IntoIterator<Item = (String, String)>) -> Secrets {
        self.with(secrets.into_iter().map(|(name, secret)| (Some(name), secret)))
    }

    fn with(mut self, secrets: impl Iterator<Item = (Option<String>, String)>) -> Secrets {
        for (name, secret) in secrets.filter(|(_, secret)| secret.len() >= SHORTEST) {
            // As they stand within JSON, which is how servers speak.
            let quoted = serde_json::to_string(&secret).unwrap_or_default();
            let inner = quoted.trim_matches('"').to_owned();
            if inner != secret {
                self.values.push((secret, name.clone()));
            }
            self.values.push((inner, name));
        }
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
    fn a_secret_is_told_by_the_variable_that_it_is_from() {
        let secrets = Secrets::default().and_named([("TOKEN".to_owned(), "plain-secret".to_owned())]);
        assert_eq!(secrets.find(b"plain-secret"), Some("TOKEN"));
        assert_eq!(Secrets::new(["plain-secret".to_owned()]).find(b"plain-secret"), Some(""));
    }

    #[test]
    fn what_is_too_short_is_not_looked_for() {
        assert!(Secrets::new(["abc".to_owned()]).is_empty());
    }
}
