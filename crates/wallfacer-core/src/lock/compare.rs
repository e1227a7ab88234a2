//! Two locks in, what differs out, item by item.

use std::collections::BTreeSet;

use super::file::{Lock, Locked};

/// One thing that is other than it was.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct Difference {
    pub direction: Direction,
    /// The tool, prompt or resource; none for the server as a whole.
    pub name: Option<String>,
    pub what: String,
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

/// What is different now. Effects count only where both were watched: not to have seen is not to have lost.
pub fn compare(before: &Lock, now: &Lock) -> Vec<Difference> {
    let mut found = Vec::new();
    for (name, tool) in &now.tools {
        match before.tools.get(name) {
            Some(old) => tools(name, old, tool, &mut found),
            None => found.push(difference(Direction::Changed, Some(name), "the tool is new")),
        }
    }
    for name in before.tools.keys().filter(|name| !now.tools.contains_key(*name)) {
        found.push(difference(Direction::Changed, Some(name), "the tool is gone"));
    }
    effects(None, before.startup.as_ref(), now.startup.as_ref(), &mut found);
    for name in now.resources.symmetric_difference(&before.resources) {
        let what = if now.resources.contains(name) { "the resource is new" } else { "the resource is gone" };
        found.push(difference(Direction::Changed, Some(name), what));
    }
    let names: BTreeSet<&String> = before.prompts.keys().chain(now.prompts.keys()).collect();
    for name in names {
        let what = match (before.prompts.get(name), now.prompts.get(name)) {
            (None, _) => "the prompt is new",
            (_, None) => "the prompt is gone",
            (old, new) if old != new => "its description is another",
            _ => continue,
        };
        found.push(difference(Direction::Changed, Some(name), what));
    }
    found.sort();
    found
}

fn tools(name: &str, before: &Locked, now: &Locked, found: &mut Vec<Difference>) {
    let mut changed = |is: bool, what: &str| {
        if is {
            found.push(difference(Direction::Changed, Some(name), what));
        }
    };
    changed(before.description != now.description, "its description is another");
    changed(before.input_schema != now.input_schema, "its input schema is another");
    changed(before.output_schema != now.output_schema, "its output schema is another");
    let hints: BTreeSet<&String> = before.annotations.keys().chain(now.annotations.keys()).collect();
    for hint in hints {
        let (old, new) = (before.annotations.get(hint), now.annotations.get(hint));
        let said = |value: Option<&bool>| value.map_or("nothing".to_owned(), bool::to_string);
        changed(old != new, &format!("`{hint}` was {} and is {}", said(old), said(new)));
    }
    effects(Some(name), before.effects.as_ref(), now.effects.as_ref(), found);
}

fn effects(
    name: Option<&str>,
    before: Option<&BTreeSet<String>>,
    now: Option<&BTreeSet<String>>,
    found: &mut Vec<Difference>,
) {
    let (Some(before), Some(now)) = (before, now) else { return };
    let more = now.difference(before).map(|effect| (Direction::Widened, format!("it does now: {effect}")));
    let less = before.difference(now).map(|effect| (Direction::Narrowed, format!("not seen now: {effect}")));
    found.extend(more.chain(less).map(|(direction, what)| difference(direction, name, &what)));
}

fn difference(direction: Direction, name: Option<&str>, what: &str) -> Difference {
    Difference { direction, name: name.map(str::to_owned), what: what.to_owned() }
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
