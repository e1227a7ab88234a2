//! Decides whether a tool may be called where its effects could leave the sandbox.

use crate::catalogue::Tool;
use crate::target::Destructive;

/// Verbs that take something away, send it off, or run what they are given, wherever they stand in a name.
const VERBS: [&str; 30] = [
    "delete",
    "remove",
    "drop",
    "destroy",
    "erase",
    "wipe",
    "purge",
    "truncate",
    "clear",
    "reset",
    "kill",
    "terminate",
    "shutdown",
    "reboot",
    "uninstall",
    "revoke",
    "overwrite",
    "write",
    "send",
    "publish",
    "pay",
    "refund",
    "buy",
    "purchase",
    "deploy",
    "push",
    "exec",
    "execute",
    "run",
    "eval",
];
/// Verbs that are as often nouns: they count where a name begins with them.
const LEADING: [&str; 18] = [
    "post", "email", "mail", "message", "notify", "order", "charge", "transfer", "release", "merge",
    "cancel", "stop", "restart", "move", "rename", "replace", "edit", "update",
];

/// Why a tool is held back; none where it may be called.
pub fn held_back(tool: &Tool, wishes: &Destructive) -> Option<String> {
    if wishes.allowed.iter().any(|pattern| pattern.is_match(&tool.name)) {
        return None;
    }
    if let Some(pattern) = wishes.patterns.iter().find(|pattern| pattern.is_match(&tool.name)) {
        return Some(format!("its name matches `{pattern}` of [destructive] patterns"));
    }
    if wishes.replace_defaults {
        return None;
    }
    if tool.annotations.destructive_hint == Some(true) {
        return Some("it says that it is destructive".to_owned());
    }
    // What a tool calls itself outweighs a hint that it only reads.
    let words = words(&tool.name);
    let leading = LEADING.iter().find(|verb| words.first().is_some_and(|word| word == *verb));
    let verb = VERBS.iter().find(|verb| words.iter().any(|word| word == *verb)).or(leading)?;
    Some(format!("its name says `{verb}`"))
}

/// The words of a name, whether it is written `snake_case`, `kebab-case` or `camelCase`.
pub fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let letters: Vec<char> = name.chars().collect();
    for (index, letter) in letters.iter().enumerate() {
        let previous = index.checked_sub(1).map(|before| letters[before]);
        let next = letters.get(index + 1);
        let starts_word = letter.is_uppercase()
            && (previous.is_some_and(|before| before.is_lowercase() || before.is_numeric())
                || previous.is_some_and(char::is_uppercase)
                    && next.is_some_and(|after| after.is_lowercase()));
        if !letter.is_alphanumeric() || starts_word {
            words.push(String::new());
        }
        if letter.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Entry;
    use regex::Regex;
    use serde_json::{Value, json};

    fn tool(name: &str, annotations: Value) -> Tool {
        let entry = json!({ "name": name, "inputSchema": { "type": "object" }, "annotations": annotations });
        Tool::read(entry.as_object().unwrap()).unwrap()
    }

    fn is_held(name: &str, annotations: Value) -> bool {
        held_back(&tool(name, annotations), &Destructive::default()).is_some()
    }

    #[test]
    fn verbs_are_seen_in_every_way_of_writing() {
        for name in [
            "delete_user",
            "userDelete",
            "send-email",
            "SendHTTPRequest",
            "run",
            "kill9",
            "db.drop",
            "postTweet",
        ] {
            let held = is_held(name, json!({}));
            assert_eq!(held, name != "kill9", "{name}");
        }
    }

    #[test]
    fn words_that_merely_contain_a_verb_hold_nothing_back() {
        let harmless = [
            "dropdown_options",
            "undeleted_items",
            "get_runtime",
            "sender_info",
            "read_page",
            "get_order",
            "list_email",
        ];
        for name in harmless {
            assert!(!is_held(name, json!({})), "{name}");
        }
    }

    #[test]
    fn a_hint_to_read_does_not_outweigh_the_name_and_one_to_destroy_is_believed() {
        assert!(is_held("delete_all", json!({ "readOnlyHint": true })));
        assert!(is_held("tidy", json!({ "destructiveHint": true })));
        assert!(!is_held("tidy", json!({ "destructiveHint": false })));
        assert!(!is_held("tidy", json!({})));
    }

    #[test]
    fn the_users_wishes_count() {
        let pattern = |text: &str| vec![Regex::new(text).unwrap()];
        let allowed = Destructive { allowed: pattern("^logs_"), ..Destructive::default() };
        assert!(held_back(&tool("logs_delete", json!({})), &allowed).is_none());
        let own = Destructive { patterns: pattern("^danger"), ..Destructive::default() };
        assert!(held_back(&tool("dangerous", json!({})), &own).is_some());
        let only_own = Destructive { replace_defaults: true, ..own };
        assert!(held_back(&tool("delete", json!({})), &only_own).is_none());
    }
}
