//! Remembers which values came from replies of the server, so that a payload that repeats a secret of the server's is
//! not taken for one that we made.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::plan::{Case, Lesson, Step};
use crate::target::is_secret_name;

/// Values of either sort that are remembered; a server can return new ones for ever.
const MAX_VALUES: usize = 10_000;
/// Nodes of one payload that are looked at.
const MAX_NODES: usize = 10_000;
/// A longer value is no secret that a reply taught.
const MAX_BYTES: usize = 2_000;

/// What was heard, and what we said first.
#[derive(Debug, Default)]
pub struct LearnedValues {
    heard: BTreeSet<String>,
    /// What we sent under the name of a secret before anybody else named it.
    ours: BTreeSet<String>,
}

impl LearnedValues {
    /// A case was performed.
    pub fn send(&mut self, case: &Case) {
        for (name, text) in texts(case) {
            if is_secret_name(name) && self.ours.len() < MAX_VALUES && !self.heard.contains(text) {
                self.ours.insert(text.to_owned());
            }
        }
    }

    /// A reply named these.
    pub fn hear(&mut self, lessons: &[Lesson]) {
        for text in lessons.iter().filter_map(|lesson| lesson.value.as_str()) {
            if self.heard.len() < MAX_VALUES && !self.ours.contains(text) {
                self.heard.insert(text.to_owned());
            }
        }
    }

    /// What of the payload of a case was heard.
    pub fn of(&self, case: &Case) -> BTreeSet<String> {
        let texts = texts(case).into_iter().map(|(_, text)| text);
        texts.filter(|text| self.heard.contains(*text)).map(str::to_owned).collect()
    }
}

/// The texts that a case sends, each with the nearest name above it.
fn texts(case: &Case) -> Vec<(&str, &str)> {
    let mut texts = Vec::new();
    let mut open: Vec<(&str, &Value)> = Vec::new();
    for step in case.prelude.iter().chain(&case.steps) {
        if let Step::Call { params, .. } | Step::Many { params, .. } = step {
            open.extend(params.iter().map(|(name, value)| (name.as_str(), value)));
        }
    }
    for _ in 0..MAX_NODES {
        let Some((name, value)) = open.pop() else { break };
        match value {
            Value::String(text) if text.len() <= MAX_BYTES => texts.push((name, text.as_str())),
            Value::Array(items) => open.extend(items.iter().take(MAX_NODES).map(|item| (name, item))),
            Value::Object(members) => {
                open.extend(members.iter().take(MAX_NODES).map(|(name, value)| (name.as_str(), value)));
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Intent;
    use serde_json::json;

    fn case(arguments: Value) -> Case {
        Case::tool("login", arguments, Intent::Valid, 1)
    }

    fn lesson(value: &str) -> Lesson {
        Lesson { field: "token".to_owned(), value: json!(value) }
    }

    #[test]
    fn what_a_reply_named_is_learned_and_what_it_only_repeats_is_ours() {
        let mut values = LearnedValues::default();
        values.send(&case(json!({ "token": "'; DROP TABLE x" })));
        values.hear(&[lesson("'; DROP TABLE x"), lesson("f00dcafe")]);
        let learned =
            values.of(&case(json!({ "nested": [{ "token": "f00dcafe" }], "q": "'; DROP TABLE x" })));
        assert_eq!(learned, BTreeSet::from(["f00dcafe".to_owned()]));
        values.send(&case(json!({ "token": "f00dcafe" })));
        values.hear(&[lesson("f00dcafe")]);
        assert_eq!(values.of(&case(json!({ "token": "f00dcafe" }))).len(), 1, "it stays the server's");
    }
}
