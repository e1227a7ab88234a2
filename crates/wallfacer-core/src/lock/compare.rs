//! Compares two locks and lists what differs, item by item.

use std::collections::BTreeSet;

use serde::Serializer;

use super::file::{Lock, Locked};
use crate::plan::Subject;

/// One thing that is other than it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Difference {
    pub direction: Direction,
    /// By its name; without one it is the server as a whole.
    #[serde(rename = "name", serialize_with = "by_name")]
    pub subject: Subject,
    pub what: String,
    /// The text as it was and as it is, where a text differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub texts: Option<Texts>,
}

/// A text before and now.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Texts {
    pub before: String,
    pub now: String,
}

fn by_name<S: Serializer>(subject: &Subject, serializer: S) -> Result<S::Ok, S::Error> {
    serde::Serialize::serialize(&subject.name(), serializer)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It does more than before.
    Widened,
    /// What it says of itself is not what it said.
    Changed,
    /// It does less than before.
    Narrowed,
}

impl Direction {
    pub fn as_str(self) -> &'static str {
        match self {
            Direction::Widened => "widened",
            Direction::Changed => "changed",
            Direction::Narrowed => "narrowed",
        }
    }
}

/// What is different now. Effects count only where both were watched: not to have seen is not to have lost. Of a server
/// that calls itself otherwise only that is told: everything else would differ too.
pub fn compare(before: &Lock, now: &Lock) -> Vec<Difference> {
    if before.server != now.server {
        let said = |name: &Option<String>| name.as_ref().map_or("nothing".into(), |name| format!("`{name}`"));
        let what =
            format!("it calls itself {}, and the lock is of {}", said(&now.server), said(&before.server));
        return vec![changed(Subject::Server, &what)];
    }
    let mut found = Vec::new();
    for (name, tool) in &now.tools {
        match before.tools.get(name) {
            Some(old) => tools(name, old, tool, &mut found),
            None => found.push(changed(Subject::Tool(name.clone()), "the tool is new")),
        }
    }
    for name in before.tools.keys().filter(|name| !now.tools.contains_key(*name)) {
        found.push(changed(Subject::Tool(name.clone()), "the tool is gone"));
    }
    effects(&Subject::Server, before.startup.as_ref(), now.startup.as_ref(), &mut found);
    for name in now.resources.symmetric_difference(&before.resources) {
        let what = if now.resources.contains(name) { "the resource is new" } else { "the resource is gone" };
        found.push(changed(Subject::Resource(name.clone()), what));
    }
    let names: BTreeSet<&String> = before.prompts.keys().chain(now.prompts.keys()).collect();
    for name in names {
        let what = match (before.prompts.get(name), now.prompts.get(name)) {
            (None, _) => "the prompt is new",
            (_, None) => "the prompt is gone",
            (old, new) if old != new => "its description is another",
            _ => continue,
        };
        let texts = Texts::of(before.prompts.get(name), now.prompts.get(name));
        found.push(Difference { texts, ..changed(Subject::Prompt(name.clone()), what) });
    }
    found.sort();
    found
}

fn tools(name: &str, before: &Locked, now: &Locked, found: &mut Vec<Difference>) {
    let subject = Subject::Tool(name.to_owned());
    let mut differs = |is: bool, what: &str| {
        if is {
            found.push(changed(subject.clone(), what));
        }
    };
    differs(before.input_schema != now.input_schema, "its input schema is another");
    differs(before.output_schema != now.output_schema, "its output schema is another");
    let hints: BTreeSet<&String> = before.annotations.keys().chain(now.annotations.keys()).collect();
    for hint in hints {
        let (old, new) = (before.annotations.get(hint), now.annotations.get(hint));
        let said = |value: Option<&bool>| value.map_or("nothing".to_owned(), bool::to_string);
        differs(old != new, &format!("`{hint}` was {} and is {}", said(old), said(new)));
    }
    if before.description != now.description {
        let texts = Texts::of(before.description.as_ref(), now.description.as_ref());
        found.push(Difference { texts, ..changed(subject.clone(), "its description is another") });
    }
    effects(&subject, before.effects.as_ref(), now.effects.as_ref(), found);
}

impl Texts {
    /// Both, where one of them is there and the other may be missing.
    fn of(before: Option<&String>, now: Option<&String>) -> Option<Texts> {
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        before.or(now).map(|_| Texts { before: text(before), now: text(now) })
    }
}

fn effects(
    subject: &Subject,
    before: Option<&BTreeSet<String>>,
    now: Option<&BTreeSet<String>>,
    found: &mut Vec<Difference>,
) {
    let (Some(before), Some(now)) = (before, now) else { return };
    let more = now.difference(before).map(|effect| (Direction::Widened, format!("it does now: {effect}")));
    let less = before.difference(now).map(|effect| (Direction::Narrowed, format!("not seen now: {effect}")));
    let differences = more.chain(less);
    found.extend(differences.map(|(direction, what)| Difference {
        direction,
        subject: subject.clone(),
        what,
        texts: None,
    }));
}

fn changed(subject: Subject, what: &str) -> Difference {
    Difference { direction: Direction::Changed, subject, what: what.to_owned(), texts: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lock(tools: serde_json::Value) -> Lock {
        let whole = json!({ "version": 1, "server": "demo", "tools": tools, "resources": [], "prompts": {},
            "startup": null });
        Lock::read(&whole.to_string()).unwrap()
    }

    fn tool(description: &str, effects: serde_json::Value) -> serde_json::Value {
        json!({ "description": description, "input_schema": "a", "output_schema": null, "annotations": {},
            "effects": effects })
    }

    fn told(before: &Lock, now: &Lock) -> Vec<(&'static str, String)> {
        compare(before, now).into_iter().map(|each| (each.direction.as_str(), each.what)).collect()
    }

    #[test]
    fn what_a_tool_does_more_is_widened_and_what_it_says_otherwise_is_changed() {
        let before = lock(json!({ "a": tool("Adds.", json!(["read scope"])) }));
        let now = lock(json!({ "a": tool("Adds!", json!(["connect x:1"])), "b": tool("", json!(null)) }));
        assert_eq!(
            told(&before, &now),
            [
                ("widened", "it does now: connect x:1".to_owned()),
                ("changed", "its description is another".to_owned()),
                ("changed", "the tool is new".to_owned()),
                ("narrowed", "not seen now: read scope".to_owned()),
            ]
        );
        assert_eq!(told(&now, &now), []);
    }

    #[test]
    fn of_a_server_with_another_name_only_that_is_told() {
        let before = lock(json!({ "a": tool("Adds.", json!(["read scope"])) }));
        let mut now = lock(json!({}));
        now.server = Some("other".to_owned());
        assert_eq!(
            told(&before, &now),
            [("changed", "it calls itself `other`, and the lock is of `demo`".to_owned())]
        );
    }

    #[test]
    fn not_to_have_watched_is_no_difference() {
        let seen = lock(json!({ "a": tool("", json!(["read scope"])) }));
        let unseen = lock(json!({ "a": tool("", json!(null)) }));
        assert_eq!((told(&seen, &unseen), told(&unseen, &seen)), (vec![], vec![]));
    }

    #[test]
    fn a_lock_reads_back_as_it_was_written_and_others_are_refused() {
        let lock = lock(json!({ "a": tool("Adds.", json!(["read scope"])) }));
        assert_eq!(Lock::read(&lock.written()).unwrap(), lock);
        assert!(Lock::read(&lock.written().replace("\"version\": 1", "\"version\": 9")).is_err());
    }
}
