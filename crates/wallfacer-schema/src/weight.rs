//! How much memory a JSON value takes, about.

use serde_json::Value;

/// What a value takes beside its text, and what a member of an object takes beside its value.
const NODE: usize = 64;

/// The bytes that a value takes.
pub fn weight(value: &Value) -> usize {
    let inside = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(name, value)| NODE + name.len() + weight(value)).sum(),
        _ => 0,
    };
    NODE + inside
}
