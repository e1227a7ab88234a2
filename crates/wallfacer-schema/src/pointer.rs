//! Builds JSON pointers step by step, and follows them through a value.

use serde_json::Value;

/// `pointer` with one more step, escaped.
pub fn join(pointer: &str, step: &str) -> String {
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
        Some(rest) => Some(rest.split('/').map(unescaped).collect()),
    }
}

/// One step of a pointer as the key that it names.
pub fn unescaped(step: &str) -> String {
    // In this order, for `~01` stands for `~1`.
    step.replace("~1", "/").replace("~0", "~")
}

/// One step down.
pub(crate) fn descend<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    }
}
