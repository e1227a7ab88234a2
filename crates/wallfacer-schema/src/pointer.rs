//! JSON pointers: built from steps, and followed through a value one step at a time.

use serde_json::Value;

/// `pointer` with one more step, escaped.
pub(crate) fn join(pointer: &str, step: &str) -> String {
    let mut joined = String::with_capacity(pointer.len() + step.len() + 1);
    joined.push_str(pointer);
    joined.push('/');
    for character in step.chars() {
        match character {
            '~' => joined.push_str("~0"),
            '/' => joined.push_str("~1"),
            other => joined.push(other),
        }
    }
    joined
}

/// The steps of a pointer, unescaped. A pointer that is not empty begins with a slash.
pub(crate) fn steps(pointer: &str) -> Option<Vec<String>> {
    match pointer.strip_prefix('/') {
        None if pointer.is_empty() => Some(Vec::new()),
        None => None,
        Some(rest) => Some(rest.split('/').map(|step| step.replace("~1", "/").replace("~0", "~")).collect()),
    }
}

/// One step down.
pub(crate) fn descend<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}
