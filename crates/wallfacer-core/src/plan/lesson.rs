//! What a reply teaches: a result holds values that other calls may need, a refusal often says what it wants.

use serde_json::Value;

/// The text of a result that is looked through.
const MAX_SAID: usize = 64 << 10;
/// The part of a refusal that is read.
const MAX_REFUSAL: usize = 4_000;

/// Something worth trying as an argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// The field for which it was learned; empty where any may want it.
    pub field: String,
    pub value: Value,
}

/// The value as an argument of this type takes it: ids are numbers here and texts there.
pub fn as_type_of(value: &Value, other: &Value) -> Value {
    match (value, other) {
        (Value::Number(number), Value::String(_)) => Value::from(number.to_string()),
        (Value::String(text), Value::Number(_)) => {
            text.parse::<i64>().map_or_else(|_| value.clone(), Value::from)
        }
        _ => value.clone(),
    }
}

/// What the answer to one call teaches.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Teaching {
    #[default]
    Nothing,
    /// It was done, and these values were returned.
    Result(Vec<Lesson>),
    /// It was refused, in these words.
    Refusal(String),
}

impl Teaching {
    /// As much of a refusal as is read.
    pub fn refusal(text: &str) -> Teaching {
        let end =
            (0..=MAX_REFUSAL.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        Teaching::Refusal(text[..end].to_owned())
    }
}

/// All text of a tool's result, one block after another.
pub fn said(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut text = String::new();
    for block in blocks.filter_map(|block| block.get("text").and_then(Value::as_str)) {
        if text.len() > MAX_SAID {
            break;
        }
        text.push_str(block);
        text.push('\n');
    }
    text
}
