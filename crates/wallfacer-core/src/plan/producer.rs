//! Calls that make what others need: who reads a note needs one that was written before, and the id that it was given.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use wallfacer_text::lexicon::{Action, actions};

use super::case::{Kept, Step};
use super::field::{Field, stems};
use super::knowledge::Knowledge;
use super::lesson::Lesson;

/// Below this a call has too little to do with a tool to come before it.
const LEAST_WORTH: usize = 5;
/// Parts of arguments that are looked at.
const MAX_NODES: usize = 200;

/// A call that succeeded, behind what had to come first, and what it gave.
#[derive(Debug, Clone)]
pub struct Producer {
    pub tool: String,
    pub steps: Vec<Step>,
    /// What it was called with, each part under its name.
    sent: Vec<Lesson>,
    gave: Vec<Lesson>,
}

/// What a call is filled from first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum First {
    Given,
    Sent,
}

impl Producer {
    pub fn new(tool: &str, steps: Vec<Step>, gave: Vec<Lesson>) -> Producer {
        let arguments = match steps.last() {
            Some(Step::Call { params, .. }) => params.get("arguments").and_then(Value::as_object),
            _ => None,
        };
        let sent = arguments.map(leaves).unwrap_or_default();
        Producer { tool: tool.to_owned(), steps, sent, gave }
    }

    /// How likely it is that a tool needs this call first; none where it hardly does.
    pub fn worth_for(&self, name: &str, knowledge: &Knowledge, refusal: &BTreeSet<String>) -> Option<usize> {
        let does = actions(&self.tool);
        if does.contains(&Action::Removes) {
            return None;
        }
        let verb = match () {
            () if does.contains(&Action::Creates) => 4,
            () if does.contains(&Action::Prepares) => 3,
            () if does.contains(&Action::Writes) || does.contains(&Action::Changes) => 1,
            () => 0,
        };
        let needed: Vec<&Field> = knowledge
            .fields()
            .iter()
            .filter(|field| field.required || knowledge.wanted().contains(&field.name))
            .collect();
        let verbs = |stem: &String| actions(stem).is_empty();
        let mut about: BTreeSet<String> = stems(name).into_iter().filter(verbs).collect();
        needed.iter().for_each(|field| about.extend(stems(&field.name)));
        about.extend(refusal.iter().cloned());
        let shared = stems(&self.tool).into_iter().filter(verbs).filter(|stem| about.contains(stem)).count();
        let fits = |lessons: &[Lesson]| {
            lessons.iter().any(|lesson| {
                needed.iter().any(|field| !lesson.field.is_empty() && field.distance(&lesson.field) < 2)
            })
        };
        let worth =
            verb + 2 * shared.min(2) + 3 * usize::from(fits(&self.gave)) + 2 * usize::from(fits(&self.sent));
        (worth >= LEAST_WORTH && (verb > 0 || shared > 0)).then_some(worth)
    }

    /// Arguments in which what the call was sent or gave stands wherever the names fit; and what is to be kept of its answer.
    pub fn fill(&self, arguments: &Value, fields: &[Field], first: First) -> (Value, Vec<Step>) {
        let mut filled = arguments.clone();
        let mut kept: Vec<Step> = Vec::new();
        let mut open: Vec<(String, &mut Value)> = vec![(String::new(), &mut filled)];
        for _ in 0..MAX_NODES {
            let Some((path, value)) = open.pop() else { break };
            match value {
                Value::Object(members) => {
                    let inner = members
                        .iter_mut()
                        .map(|(key, value)| (wallfacer_schema::pointer::join(&path, key), value));
                    open.extend(inner);
                }
                Value::Array(items) => {
                    open.extend(items.iter_mut().map(|item| (format!("{path}/*"), item)));
                }
                value => {
                    let of_item = path.strip_suffix("/*").unwrap_or(&path);
                    let field = fields.iter().find(|field| field.path == path || field.path == of_item);
                    let Some(field) = field.filter(|field| field.choices.is_empty()) else { continue };
                    if let Some((new, keep)) = self.value_for(field, first) {
                        *value = new;
                        kept.extend(keep.map(Step::Keep));
                    }
                }
            }
        }
        kept.dedup();
        (filled, kept)
    }

    /// What stands under the nearest name.
    fn value_for(&self, field: &Field, first: First) -> Option<(Value, Option<Kept>)> {
        let near = |lessons: &[Lesson]| {
            let fitting = lessons.iter().enumerate().filter_map(|(index, lesson)| {
                let distance = field.distance(&lesson.field);
                let value =
                    field.takes(&lesson.value).filter(|_| distance < 2 && !lesson.field.is_empty())?;
                Some((distance, index, value))
            });
            fitting.min_by_key(|(distance, index, _)| (*distance, *index))
        };
        let sent = near(&self.sent).map(|(distance, _, value)| (distance, (value, None)));
        let given = near(&self.gave).map(|(distance, index, value)| {
            let lesson = &self.gave[index];
            let nth = self.gave[..index].iter().filter(|other| other.field == lesson.field).count();
            let kept =
                Kept { field: lesson.field.clone(), nth, into: field.name.clone(), value: value.clone() };
            (distance, (value, Some(kept)))
        });
        let (one, other) = if first == First::Given { (given, sent) } else { (sent, given) };
        match (one, other) {
            (Some(one), Some(other)) => Some(if other.0 < one.0 { other.1 } else { one.1 }),
            (one, other) => one.or(other).map(|(_, found)| found),
        }
    }
}

/// The texts and numbers of some arguments, each under its name.
fn leaves(arguments: &Map<String, Value>) -> Vec<Lesson> {
    let mut open: Vec<(&str, &Value)> =
        arguments.iter().rev().map(|(key, value)| (key.as_str(), value)).collect();
    let mut found = Vec::new();
    for _ in 0..MAX_NODES {
        let Some((key, value)) = open.pop() else { break };
        match value {
            Value::Object(members) => {
                open.extend(members.iter().rev().map(|(key, value)| (key.as_str(), value)))
            }
            Value::Array(items) => open.extend(items.iter().rev().map(|item| (key, item))),
            Value::String(_) | Value::Number(_) => {
                found.push(Lesson { field: key.to_owned(), value: value.clone() });
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Entry, Tool};
    use crate::plan::{Case, Intent};
    use serde_json::json;

    fn knowledge(name: &str, properties: Value, required: Value) -> Knowledge {
        let schema = json!({ "type": "object", "properties": properties, "required": required });
        let listed = json!({ "name": name, "inputSchema": schema });
        Knowledge::of(&Tool::read(listed.as_object().unwrap()).unwrap())
    }

    fn creates() -> Producer {
        let steps = Case::tool("create_note", json!({ "title": "x" }), Intent::Valid, 1).steps;
        Producer::new("create_note", steps, vec![Lesson { field: "id".into(), value: json!("n-7") }])
    }

    #[test]
    fn the_id_of_what_was_created_goes_into_the_call_that_reads_it() {
        let reads = knowledge("get_note", json!({ "note_id": { "type": "string" } }), json!(["note_id"]));
        assert!(creates().worth_for("get_note", &reads, &BTreeSet::new()).is_some());
        let (filled, kept) = creates().fill(&json!({ "note_id": "1" }), reads.fields(), First::Given);
        assert_eq!(filled, json!({ "note_id": "n-7" }));
        let [Step::Keep(kept)] = &kept[..] else { panic!("{kept:?}") };
        assert_eq!((kept.field.as_str(), kept.nth, kept.into.as_str()), ("id", 0, "note_id"));
    }

    #[test]
    fn what_has_nothing_to_do_with_a_tool_does_not_come_before_it() {
        let adds = knowledge("sum", json!({ "a": { "type": "number" } }), json!(["a"]));
        assert_eq!(creates().worth_for("sum", &adds, &BTreeSet::new()), None);
        let steps = Case::tool("delete_note", json!({}), Intent::Valid, 1).steps;
        let deletes = Producer::new("delete_note", steps, Vec::new());
        let reads = knowledge("get_note", json!({ "note_id": { "type": "string" } }), json!(["note_id"]));
        assert_eq!(deletes.worth_for("get_note", &reads, &BTreeSet::new()), None);
    }
}
