//! Puts JSON into one order, and a schema into one spelling, so that two that mean the same compare as equal.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Words of a schema that demand nothing.
const ANNOTATIONS: [&str; 9] = [
    "$comment",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];
/// Words whose members are named by the author.
const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties", "dependentRequired"];
/// Words whose lists have no order.
const SETS: [&str; 3] = ["enum", "required", "type"];

/// With the keys of every object in order. Catalogues are read with a bound on their depth.
pub fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => ordered(members.iter().map(|(key, value)| (key, sorted(value)))),
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// What a schema demands: without titles and descriptions, and with lists in order where order means nothing.
pub fn meaning(schema: &Value) -> Value {
    let Value::Object(members) = schema else { return sorted(schema) };
    let demands = members.iter().filter(|(key, _)| !ANNOTATIONS.contains(&key.as_str()));
    ordered(demands.map(|(key, value)| {
        let value = match value {
            Value::Object(named) if NAMED.contains(&key.as_str()) => {
                ordered(named.iter().map(|(name, schema)| (name, meaning(schema))))
            }
            Value::Array(items) if SETS.contains(&key.as_str()) => in_order(items),
            Value::Array(items) => Value::Array(items.iter().map(meaning).collect()),
            Value::Object(_) if !matches!(key.as_str(), "const" | "enum") => meaning(value),
            other => sorted(other),
        };
        (key, value)
    }))
}

fn ordered<'a>(members: impl Iterator<Item = (&'a String, Value)>) -> Value {
    let ordered: BTreeMap<&String, Value> = members.collect();
    Value::Object(ordered.into_iter().map(|(key, value)| (key.clone(), value)).collect::<Map<_, _>>())
}

fn in_order(items: &[Value]) -> Value {
    let mut items: Vec<Value> = items.iter().map(sorted).collect();
    items.sort_by_cached_key(Value::to_string);
    Value::Array(items)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_come_in_order_whatever_order_they_came_in() {
        let text = sorted(&json!({ "b": [{ "d": 1, "c": 2 }], "a": 1 })).to_string();
        assert_eq!(text, r#"{"a":1,"b":[{"c":2,"d":1}]}"#);
    }

    #[test]
    fn titles_and_the_order_of_names_mean_nothing_and_properties_called_title_do() {
        let one =
            json!({ "title": "A", "required": ["a", "b"], "properties": { "title": { "type": "string" } } });
        let other = json!({ "properties": { "title": { "type": "string", "description": "x" } },
            "required": ["b", "a"] });
        assert_eq!(meaning(&one), meaning(&other));
        let third = json!({ "required": ["b", "a"], "properties": {} });
        assert_ne!(meaning(&one), meaning(&third));
    }
}
