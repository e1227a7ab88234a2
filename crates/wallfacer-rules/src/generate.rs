//! Describes the arguments that a rule wants generated as a JSON Schema, for a generator elsewhere.

use serde_json::{Map, Number, Value, json};

/// Numbers without bounds stay in this range, where sums and products of a few of them are still exact.
const DEFAULT_RANGE: i64 = 100;
/// Lists without a bound stay this short.
const DEFAULT_ITEMS: u64 = 8;

/// One specification per argument; every argument is always given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Generate {
    pub fields: Vec<(String, Spec)>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Spec {
    Text {
        min_length: Option<u64>,
        max_length: Option<u64>,
        pattern: Option<String>,
        format: Option<String>,
    },
    Integer {
        min: Option<Number>,
        max: Option<Number>,
    },
    Number {
        min: Option<Number>,
        max: Option<Number>,
    },
    Boolean,
    Null,
    List {
        items: Box<Spec>,
        min_items: Option<u64>,
        max_items: Option<u64>,
    },
    Object {
        properties: Vec<(String, Spec)>,
        required: Option<Vec<String>>,
    },
    Enum(Vec<Value>),
    OneOf(Vec<Spec>),
    /// A JSON Schema as it is.
    Schema(Value),
}

impl Generate {
    pub fn schema(&self) -> Value {
        object(&self.fields, None)
    }
}

impl Spec {
    pub fn schema(&self) -> Value {
        match self {
            Spec::Text { min_length, max_length, pattern, format } => with(
                json!({ "type": "string" }),
                [
                    ("minLength", min_length.map(Value::from)),
                    ("maxLength", max_length.map(Value::from)),
                    ("pattern", pattern.clone().map(Value::from)),
                    ("format", format.clone().map(Value::from)),
                ],
            ),
            Spec::Integer { min, max } => number("integer", min.as_ref(), max.as_ref()),
            Spec::Number { min, max } => number("number", min.as_ref(), max.as_ref()),
            Spec::Boolean => json!({ "type": "boolean" }),
            Spec::Null => json!({ "type": "null" }),
            Spec::List { items, min_items, max_items } => with(
                json!({ "type": "array", "items": items.schema() }),
                [
                    ("minItems", min_items.map(Value::from)),
                    ("maxItems", Some(max_items.unwrap_or(DEFAULT_ITEMS.max(min_items.unwrap_or(0))).into())),
                ],
            ),
            Spec::Object { properties, required } => object(properties, required.as_deref()),
            Spec::Enum(values) => json!({ "enum": values }),
            Spec::OneOf(choices) => json!({ "anyOf": choices.iter().map(Spec::schema).collect::<Vec<_>>() }),
            Spec::Schema(schema) => schema.clone(),
        }
    }
}

fn object(properties: &[(String, Spec)], required: Option<&[String]>) -> Value {
    let schemas: Map<String, Value> =
        properties.iter().map(|(name, spec)| (name.clone(), spec.schema())).collect();
    let required: Vec<&str> = match required {
        Some(names) => names.iter().map(String::as_str).collect(),
        None => properties.iter().map(|(name, _)| name.as_str()).collect(),
    };
    json!({ "type": "object", "properties": schemas, "required": required, "additionalProperties": false })
}

fn number(kind: &str, min: Option<&Number>, max: Option<&Number>) -> Value {
    let bound = |number: &Number| Value::Number(number.clone());
    match (min, max) {
        (None, None) => json!({ "type": kind, "minimum": -DEFAULT_RANGE, "maximum": DEFAULT_RANGE }),
        _ => with(json!({ "type": kind }), [("minimum", min.map(bound)), ("maximum", max.map(bound))]),
    }
}

fn with<const COUNT: usize>(mut schema: Value, more: [(&str, Option<Value>); COUNT]) -> Value {
    for (name, value) in more {
        if let Some(value) = value {
            schema[name] = value;
        }
    }
    schema
}
