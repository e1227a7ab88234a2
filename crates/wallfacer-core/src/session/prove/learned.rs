//! Remembers which values came from replies of the server, so that a payload that repeats a secret of the server's is
//! not taken for one that we made.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::findings::{Redaction, Secrets, is_planted};
use crate::plan::{Case, Lesson, Step};
use crate::target::{is_secret_name, is_token};

/// Values of either sort that are remembered; a server can return new ones for ever.
const MAX_VALUES: usize = 10_000;
/// Nodes of one payload that are looked at.
const MAX_NODES: usize = 10_000;
/// A longer value is no secret that a reply taught.
const MAX_BYTES: usize = 2_000;
/// Tokens that are looked for in all that a run writes: each is, in every spelling.
const MAX_TOKENS: usize = 1_000;

/// What was heard, and what we said first.
#[derive(Debug, Default)]
pub struct LearnedValues {
    /// What replies named; a token with the name that the server gave it, where that is the name of a secret.
    heard: BTreeMap<String, Option<String>>,
    /// What we sent under the name of a secret before anybody else named it.
    ours: BTreeSet<String>,
    /// Tokens of replies that went into a call.
    sent: BTreeSet<String>,
}

impl LearnedValues {
    /// A case was performed.
    pub fn send(&mut self, case: &Case) {
        for (name, text) in texts(case) {
            if self.heard.get(text).is_some_and(Option::is_some) {
                self.sent.insert(text.to_owned());
            }
            if is_secret_name(name) && self.ours.len() < MAX_VALUES && !self.heard.contains_key(text) {
                self.ours.insert(text.to_owned());
            }
        }
    }

    /// A reply named these.
    pub fn hear(&mut self, lessons: &[Lesson]) {
        for Lesson { field, value } in lessons {
            let Some(text) = value.as_str().filter(|text| !self.ours.contains(*text)) else { continue };
            if self.heard.len() < MAX_VALUES || self.heard.contains_key(text) {
                let is_secret = is_secret_name(field) && is_token(text) && !is_planted(text);
                let name = self.heard.entry(text.to_owned()).or_default();
                *name = name.take().or_else(|| is_secret.then(|| field.clone()));
            }
        }
    }

    /// What of the payload of a case was heard. Of a secret it may be a part of a text only: an injection is added to what
    /// a call takes.
    pub fn of(&self, case: &Case) -> BTreeMap<String, Option<String>> {
        let texts: BTreeSet<&str> = texts(case).into_iter().map(|(_, text)| text).collect();
        let is_sent = |(heard, secret): &(&String, &Option<String>)| {
            texts.contains(heard.as_str())
                || secret.is_some() && texts.iter().any(|text| text.contains(heard.as_str()))
        };
        self.heard.iter().filter(is_sent).map(|(heard, secret)| (heard.clone(), secret.clone())).collect()
    }

    /// The tokens that replies named; those that went into a call first, because there may be too many.
    pub fn tokens(&self) -> Vec<String> {
        let named = self.heard.iter().filter(|(_, name)| name.is_some()).map(|(token, _)| token);
        let others = named.filter(|token| !self.sent.contains(*token));
        self.sent.iter().chain(others).take(MAX_TOKENS).cloned().collect()
    }

    /// The text of a note, without the tokens that replies named.
    pub fn taken_from(&self, text: String) -> String {
        let mut secrets = Secrets::default();
        for (heard, name) in self.heard.iter().filter(|(heard, _)| text.contains(heard.as_str())) {
            name.iter().for_each(|name| secrets.add(name, heard));
        }
        Redaction::new(secrets).of(&text)
    }
}

/// The texts that a case sends, each with the nearest name above it.
fn texts(case: &Case) -> Vec<(&str, &str)> {
    let mut texts = Vec::new();
    let mut open: Vec<(&str, &Value)> = Vec::new();
    for step in case.prelude.iter().chain(&case.steps) {
        if let Some((_, params)) = step.request() {
            open.extend(params.iter().map(|(name, value)| (name.as_str(), value)));
        }
        if let Step::Rounds(schedule) = step {
            let params = schedule.asks().flat_map(|ask| &ask.params);
            open.extend(params.map(|(name, value)| (name.as_str(), value)));
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
        assert_eq!(learned, BTreeMap::from([("f00dcafe".to_owned(), None)]));
        values.send(&case(json!({ "token": "f00dcafe" })));
        values.hear(&[lesson("f00dcafe")]);
        assert_eq!(values.of(&case(json!({ "token": "f00dcafe" }))).len(), 1, "it stays the server's");
    }

    #[test]
    fn a_token_that_was_called_a_secret_is_one_wherever_it_stands_and_an_id_is_none() {
        let mut values = LearnedValues::default();
        let token = "9f86d081884c7d659a2feaa0c55ad015";
        let id = Lesson { field: "id".to_owned(), value: json!("64b7f2c0a1d94e338aa1") };
        values.hear(&[lesson(token), lesson("PROJ-123"), id]);
        let sent =
            json!({ "path": format!("{token}; touch x"), "key": "PROJ-123", "id": "64b7f2c0a1d94e338aa1" });
        let wanted = [(token, Some("token")), ("PROJ-123", None), ("64b7f2c0a1d94e338aa1", None)];
        let wanted = wanted.map(|(value, name)| (value.to_owned(), name.map(str::to_owned)));
        assert_eq!(values.of(&case(sent)), BTreeMap::from(wanted));
    }

    #[test]
    fn tokens_that_went_into_a_call_come_first_and_are_not_endless() {
        let mut values = LearnedValues::default();
        let token = |number: usize| format!("f0e1d2c3b4a5{number:08}");
        (0..2 * MAX_TOKENS).for_each(|number| values.hear(&[lesson(&token(number))]));
        values.send(&case(json!({ "token": token(2 * MAX_TOKENS - 1) })));
        let tokens = values.tokens();
        assert_eq!((tokens.len(), &tokens[0]), (MAX_TOKENS, &token(2 * MAX_TOKENS - 1)));
    }

    #[test]
    fn a_note_tells_no_token_of_the_servers_and_all_else() {
        let mut values = LearnedValues::default();
        values.hear(&[lesson("9f86d081884c7d659a2feaa0c55ad015"), lesson("deployment")]);
        let told = "seen once: deployment 9f86d081884c7d659a2feaa0c55ad015".to_owned();
        assert_eq!(values.taken_from(told), "seen once: deployment [redacted]");
    }
}
