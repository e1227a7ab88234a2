//! Describes the table of configuration keys to others: as a JSON Schema for editors, and as a page for people.

use super::keys::{self, KEYS, Key, SECTIONS, SEVERITIES, Shape};
use crate::kind::FINDING_KINDS;
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

/// The JSON Schema of `wallfacer.toml`.
pub fn config_schema() -> Value {
    let sections: Map<_, _> =
        SECTIONS.iter().map(|(name, meaning)| ((*name).to_owned(), section(name, meaning))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "wallfacer.toml",
        "type": "object",
        "additionalProperties": false,
        "properties": sections,
    })
}

/// Every key in one Markdown table.
pub fn config_reference() -> String {
    let mut table = String::from("| key | value | default | meaning |\n|---|---|---|---|\n");
    for (section, meaning) in SECTIONS {
        match *section {
            "severity" => row(&mut table, "severity.KEY", &SEVERITIES.join(", "), "", meaning),
            "packs" => row(&mut table, "packs.NAME.PARAMETER", "string, number or boolean", "", meaning),
            _ => {}
        }
        for key in KEYS.iter().filter(|key| key.section == *section) {
            row(&mut table, &format!("{section}.{}", key.name), &words(key.shape), key.default, key.meaning);
        }
    }
    table
}

fn row(table: &mut String, key: &str, value: &str, default: &str, meaning: &str) {
    let default = if default.is_empty() { String::new() } else { format!("`{default}`") };
    writeln!(table, "| `{key}` | {value} | {default} | {meaning} |").expect("a string takes all text");
}

fn words(shape: Shape) -> String {
    match shape {
        Shape::Text => "string".to_owned(),
        Shape::Flag => "true or false".to_owned(),
        Shape::Whole(least, most) => format!("{least} to {most}"),
        Shape::Choice(known) => known.join(", "),
        Shape::Texts => "list of strings".to_owned(),
        Shape::Patterns => "list of regular expressions".to_owned(),
        Shape::TextTable => "table of strings".to_owned(),
        Shape::WholeTable(least, most) => format!("table, each {least} to {most}"),
    }
}

fn section(name: &str, meaning: &str) -> Value {
    match name {
        "severity" => severity(meaning),
        "packs" => json!({
            "type": "object",
            "description": meaning,
            "additionalProperties": {
                "type": "object",
                "additionalProperties": { "type": ["string", "number", "boolean"] },
            },
        }),
        _ => {
            let properties: Map<_, _> =
                keys::names(name).map(|key| (key.to_owned(), property(keys::key(name, key)))).collect();
            json!({
                "type": "object",
                "description": meaning,
                "additionalProperties": false,
                "properties": properties,
            })
        }
    }
}

fn severity(meaning: &str) -> Value {
    let kinds = FINDING_KINDS.join("|");
    json!({
        "type": "object",
        "description": meaning,
        "additionalProperties": { "enum": SEVERITIES },
        "propertyNames": { "pattern": format!("^({kinds}|rule:.+|tool:.+\\.({kinds}))$") },
    })
}

fn property(key: &Key) -> Value {
    let mut property = match key.shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Shape::Choice(known) => json!({ "enum": known }),
        Shape::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::Patterns => json!({ "type": "array", "items": { "type": "string", "format": "regex" } }),
        Shape::TextTable => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Shape::WholeTable(least, most) => json!({
            "type": "object",
            "additionalProperties": { "type": "integer", "minimum": least, "maximum": most },
        }),
    };
    property["description"] = json!(key.meaning);
    if let Some(default) = default(key) {
        property["default"] = default;
    }
    property
}

/// The defaults of the table are TOML and, being so plain, JSON as well.
fn default(key: &Key) -> Option<Value> {
    serde_json::from_str(key.default).ok()
}
