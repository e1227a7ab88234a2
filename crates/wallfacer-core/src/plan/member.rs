//! Reads from a refusal which members an object argument must have, where its schema names none.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};
use wallfacer_schema::samples;
use wallfacer_text::lexicon::FieldKind;

use super::lesson::Lesson;
use super::refusal::{choices, of_type, wanted_type};

pub(super) fn names_in(path: &Value) -> Vec<String> {
    match path {
        Value::Array(parts) => parts.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Value::String(path) => {
            path.split(['/', '.']).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        }
        _ => Vec::new(),
    }
}

/// The argument with a member added that one fault of a list says is missing, such as `metadata.body`, where the schema names
/// no members. It keeps the members that earlier faults of the list asked for.
pub(super) fn with_member(
    path: &Value,
    fault: &Value,
    fields: &[String],
    sent: &Map<String, Value>,
    learned: &[Lesson],
) -> Option<Lesson> {
    let names = names_in(path);
    let [field, inner @ ..] = &names[..] else { return None };
    let (last, outer) = inner.split_last()?;
    let known = learned.iter().rev().find(|lesson| lesson.field == *field && lesson.value.is_object());
    let mut whole = known.map(|lesson| &lesson.value).or_else(|| sent.get(field))?.clone();
    if !fields.contains(field) || fields.contains(last) || !whole.is_object() {
        return None;
    }
    let mut object = whole.as_object_mut()?;
    for name in outer {
        object = object.entry(name.clone()).or_insert_with(|| json!({})).as_object_mut()?;
    }
    let choices = ["options", "values"].iter().find_map(|key| fault.get(*key)?.as_array()?.first());
    let expected = fault.get("expected").and_then(Value::as_str).unwrap_or_default();
    let value = choices.cloned().or_else(|| of_type(expected).into_iter().next());
    let usual = || FieldKind::of(last, "").and_then(|kind| samples::strings(kind).first().copied());
    object.insert(last.clone(), value.unwrap_or_else(|| json!(usual().unwrap_or("example"))));
    Some(Lesson { field: field.clone(), value: whole })
}

/// What a line such as "parcel.lids must be an array" asks of a member of an argument that was sent.
pub(super) fn member_asked_for(
    line: &str,
    fields: &[String],
    sent: &Map<String, Value>,
    learned: &[Lesson],
) -> Option<Lesson> {
    static PATH: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+").expect("a fixed pattern"));
    let fault = || json!({ "expected": wanted_type(line), "options": choices(line) });
    let mut paths = PATH.find_iter(line).map(|path| json!(path.as_str()));
    paths.find_map(|path| with_member(&path, &fault(), fields, sent, learned))
}
