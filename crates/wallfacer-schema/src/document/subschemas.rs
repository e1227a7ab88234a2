//! Lists the schemas written directly inside a schema. Only known places count: an `$id` inside an `enum` or an unknown
//! keyword is data.

use crate::pointer;
use serde_json::Value;

const SINGLE: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
const LISTED: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
const KEYED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];

pub(crate) fn of(schema: &Value) -> Vec<(String, &Value)> {
    let Value::Object(keywords) = schema else { return Vec::new() };
    let mut found = Vec::new();
    for (keyword, value) in keywords {
        let at = pointer::join("", keyword);
        let keyword = keyword.as_str();
        match value {
            Value::Object(_) if SINGLE.contains(&keyword) => found.push((at, value)),
            Value::Object(members) if KEYED.contains(&keyword) => {
                found.extend(members.iter().map(|(name, child)| (pointer::join(&at, name), child)));
            }
            Value::Array(items) if LISTED.contains(&keyword) => {
                found.extend(items.iter().enumerate().map(|(index, child)| (format!("{at}/{index}"), child)));
            }
            _ => {}
        }
    }
    found
}
