//! What a file says about itself.

use crate::source::Span;
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Metadata {
    pub name: Option<String>,
    pub description: Option<String>,
    pub authors: Vec<String>,
    pub tags: Vec<String>,
    pub parameters: Vec<Parameter>,
    pub extends: Vec<Extended>,
}

/// A value that the user of a file may choose.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub description: Option<String>,
    pub kind: Option<ParameterType>,
    pub default: Value,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    String,
    Integer,
    Number,
    Boolean,
}

/// Another file whose rules are taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extended {
    pub pack: String,
    pub span: Span,
}

impl ParameterType {
    pub fn name(self) -> &'static str {
        match self {
            ParameterType::String => "string",
            ParameterType::Integer => "integer",
            ParameterType::Number => "number",
            ParameterType::Boolean => "boolean",
        }
    }

    /// The value in this type, if it can be one: what comes from a command line is always text.
    pub(crate) fn read(self, value: &Value) -> Option<Value> {
        let parsed = || value.as_str().and_then(|text| serde_json::from_str::<Value>(text.trim()).ok());
        match self {
            ParameterType::String => Some(match value {
                Value::String(text) => Value::String(text.clone()),
                other => Value::String(other.to_string()),
            }),
            ParameterType::Integer => {
                Some(value.clone()).filter(is_integer).or_else(|| parsed().filter(is_integer))
            }
            ParameterType::Number => {
                Some(value.clone()).filter(Value::is_number).or_else(|| parsed().filter(Value::is_number))
            }
            ParameterType::Boolean => {
                Some(value.clone()).filter(Value::is_boolean).or_else(|| parsed().filter(Value::is_boolean))
            }
        }
    }
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64()
}
