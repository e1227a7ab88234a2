//! Decides whether a tool may be called where its effects could leave the sandbox.

use wallfacer_text::lexicon::{Action, does};

use crate::catalogue::Tool;
use crate::target::Destructive;

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
    let verb = does(&tool.name, Action::Destroys).or_else(|| does(&tool.name, Action::DestroysInFront))?;
    Some(format!("its name says `{verb}`"))
}

/// Whether the name of a tool says that it takes away what others have stored.
pub fn takes_away(name: &str) -> bool {
    does(name, Action::Removes).is_some()
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
