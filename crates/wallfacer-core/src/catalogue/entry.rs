//! Reads one element of a list (a tool, a resource, a prompt), or says why it cannot be used.

use serde_json::{Map, Value};

/// Something that a server lists.
pub trait Entry: Sized {
    /// The method that lists it, and the key of the list in its result.
    const METHOD: &'static str;
    const KEY: &'static str;

    fn read(object: &Map<String, Value>) -> Result<Self, String>;
}

/// An element that cannot be used.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    /// Its place in the list, counted over all pages.
    pub index: usize,
    pub name: Option<String>,
    pub why: String,
}

impl Broken {
    pub fn new(index: usize, element: &Value, why: String) -> Broken {
        let name = element.get("name").and_then(Value::as_str).map(str::to_owned);
        Broken { index, name, why }
    }
}

/// A text that must be there.
pub(super) fn required_text(object: &Map<String, Value>, key: &str) -> Result<String, String> {
    match object.get(key) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
        Some(Value::String(_)) => Err(format!("`{key}` is empty")),
        Some(other) => Err(format!("`{key}` is {}, not a text", kind(other))),
        None => Err(format!("`{key}` is missing")),
    }
}

pub(super) fn optional_text(object: &Map<String, Value>, key: &str) -> Option<String> {
    object.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// A JSON type in words.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
