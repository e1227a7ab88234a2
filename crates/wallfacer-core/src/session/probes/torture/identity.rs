//! Which arguments name a session or its owner, and which words say that sessions are apart.

use std::sync::LazyLock;

use regex::Regex;

use crate::plan::words;

/// Whether an argument names a session, or whoever one belongs to.
pub fn is_identity(name: &str) -> bool {
    const OWNERS: [&str; 8] =
        ["session", "user", "username", "tenant", "account", "owner", "customer", "client"];
    words(name).iter().any(|word| OWNERS.contains(&word.as_str()))
}

/// Whether somebody says that sessions, or users, do not see each other's.
pub fn says_apart(text: &str) -> bool {
    static APART: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"\bprivate (?:to|for)\b|\b(?:is|are|stays?|kept|remains?) private\b|\bper[- ](?:session|user|tenant|client)\b|\bonly (?:visible|shown|available|accessible) to\b|\b(?:session|user|tenant)[- ](?:scoped|isolated|private|specific)\b|\bscoped to (?:the|this|a|its|their|your|each)\b|\bisolated (?:per|by|from|between)\b|\b(?:this|current|its own|their own|your own) session\b";
        Regex::new(words).expect("a pattern of our own")
    });
    APART.is_match(&text.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_promise_it_say_that_sessions_are_apart() {
        for text in
            ["Notes are private to their session.", "Stored per-user.", "Lists the items of this session"]
        {
            assert!(says_apart(text), "{text}");
        }
        for text in ["Adds a private note.", "Lists all users", "Opens a session with the database", ""] {
            assert!(!says_apart(text), "{text}");
        }
        assert!(is_identity("user_id") && is_identity("sessionId") && !is_identity("usage"));
    }
}
