//! Chooses the calls of a tool that payloads are put into, such as lead as far into it as can be known beforehand: one
//! with as little as it needs, one with all it takes, and one for each of its choices.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::ground::Ground;
use super::place::{Purpose, places};
use crate::catalogue::Tool;
use crate::plan::case::Step;
use wallfacer_text::lexicon::words;

/// Calls of one tool that payloads are put into.
const MAX_BASES: usize = 20;
/// Members of one choice that are tried.
const MAX_CHOICES: usize = 16;
/// Arguments that are a yes or a no, and are tried one at a time.
const MAX_SWITCHES: usize = 6;
/// How deep empty lists and objects are filled.
const MAX_DEPTH: usize = 4;

/// What is known of a tool's arguments.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// With these it succeeded; what led furthest comes first.
    pub good: Vec<Value>,
    /// With these it succeeded before anybody watched what it does.
    pub worked: Option<Value>,
    /// How far each of those that were watched led.
    pub led: Vec<usize>,
    /// These are valid.
    pub valid: Vec<Value>,
    /// What must come before its calls.
    pub prelude: Vec<Step>,
    /// Arguments that its refusals ask for.
    pub demanded: BTreeMap<String, Value>,
    /// Files that it changes when nothing is injected.
    pub changes: Vec<std::path::PathBuf>,
    /// Whether it reached for the network.
    pub uses_network: bool,
    /// Whether it ran another program.
    pub runs_programs: bool,
    /// Whether other tools of the same server succeeded, and none of them ran a program.
    pub others_run_none: bool,
}

/// Calls that payloads are put into, the likeliest to lead somewhere first.
pub fn bases(tool: &Tool, known: &Known, ground: &Ground) -> Vec<Value> {
    let all: Map<String, Value> = known
        .valid
        .iter()
        .chain(known.good.iter().rev())
        .filter_map(Value::as_object)
        .flatten()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let declares = tool.input_schema().get("properties").is_some_and(|properties| properties.is_object());
    // Who declares nothing says by refusals what is wanted, and what was drawn at random is not.
    let all = if declares || known.demanded.is_empty() {
        all
    } else {
        known.demanded.clone().into_iter().collect()
    };
    let required = required(tool);
    let least = all.iter().filter(|(key, _)| required.contains(&key.as_str()));
    let least: Map<String, Value> = least.map(|(key, value)| (key.clone(), value.clone())).collect();
    let full = dressed(filled(Value::Object(all), tool.input_schema(), 0), ground);
    let with_choice = |(key, choice): (&str, Value)| {
        let mut base = full.clone();
        base[key] = choice;
        base
    };
    let chosen = choices(tool).into_iter().map(with_choice);
    let least = dressed(Value::Object(least), ground);
    let one_switch = |key: &str| {
        let mut base = least.clone();
        base[key] = Value::from(true);
        base
    };
    let single: Vec<Value> = switches(tool).into_iter().map(one_switch).collect();
    let good = known.good.first().or(known.worked.as_ref()).cloned();
    let switched = [true, false].map(|on| with_all_switches(&full, on));
    let bases =
        good.into_iter().chain([full.clone()]).chain(single).chain(chosen).chain(switched).chain([least]);
    let mut kept: Vec<Value> = Vec::new();
    for base in bases.into_iter().filter(Value::is_object) {
        if !kept.contains(&base) {
            kept.push(base);
        }
    }
    // The one with as little as it needs is never left out.
    if kept.len() > MAX_BASES {
        kept.drain(MAX_BASES - 1..kept.len() - 1);
    }
    kept
}

/// Arguments that are a yes or a no, or may also be left open.
fn switches(tool: &Tool) -> Vec<&str> {
    let properties = tool.input_schema().get("properties").and_then(Value::as_object).into_iter().flatten();
    let says =
        |schema: &Value| schema.get("type").is_some_and(|it| *it == "boolean" || is_among(it, "boolean"));
    let any = |schema: &Value| {
        let parts = ["anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array());
        parts.flatten().any(says)
    };
    let found = properties.filter(|(_, schema)| says(schema) || any(schema));
    found.map(|(name, _)| name.as_str()).take(MAX_SWITCHES).collect()
}

fn is_among(types: &Value, wanted: &str) -> bool {
    types.as_array().into_iter().flatten().any(|it| it == wanted)
}

/// The same with every yes-or-no question of the call answered alike: much code is behind one of them.
fn with_all_switches(base: &Value, on: bool) -> Value {
    let mut base = base.clone();
    for value in base.as_object_mut().into_iter().flat_map(|members| members.values_mut()) {
        if value.is_boolean() {
            *value = Value::from(on);
        }
    }
    base
}

/// The same with something in lists and objects that have nothing in them, where the schema says what they take.
fn filled(value: Value, schema: &Value, depth: usize) -> Value {
    let text = |schema: Option<&Value>| {
        schema.is_none_or(|schema| schema.get("type").is_none_or(|it| it == "string"))
    };
    if depth >= MAX_DEPTH {
        return value;
    }
    match value {
        Value::Array(items) if items.is_empty() => match schema.get("items") {
            Some(of) if text(Some(of)) && of.get("enum").is_none() => json!(["x"]),
            _ => json!([]),
        },
        Value::Array(items) => {
            let of = schema.get("items").cloned().unwrap_or_default();
            Value::Array(items.into_iter().map(|item| filled(item, &of, depth + 1)).collect())
        }
        Value::Object(members) if members.is_empty() && depth > 0 => match schema.get("additionalProperties")
        {
            Some(of) if of != &Value::Bool(false) && text(Some(of)) => json!({ "x": "x" }),
            _ => Value::Object(members),
        },
        Value::Object(members) => {
            let of = |key: &str| schema.get("properties").and_then(|all| all.get(key)).cloned();
            let member = |(key, value): (String, Value)| {
                let of = of(&key).unwrap_or_default();
                (key, filled(value, &of, depth + 1))
            };
            Value::Object(members.into_iter().map(member).collect())
        }
        value => value,
    }
}

/// Which function of the tool a call is about: the choice that it must make, or that is named for what is done. Other
/// choices are matters of form.
pub fn chosen(tool: &Tool, arguments: &Value) -> String {
    let required = required(tool);
    let members = arguments.as_object().into_iter().flatten();
    let decides = |key: &str| is_choice(tool, key) && (required.contains(&key) || names_a_function(key));
    let made = members.filter(|(key, _)| decides(key)).map(|(key, value)| format!("{key}={value}"));
    made.collect::<Vec<_>>().join(" ")
}

fn names_a_function(key: &str) -> bool {
    let named = ["action", "operation", "op", "method", "mode", "subcommand", "verb"];
    words(key).iter().any(|word| named.contains(&word.as_str()))
}

fn required(tool: &Tool) -> Vec<&str> {
    tool.arguments().into_iter().filter(|argument| argument.required).map(|argument| argument.name).collect()
}

/// Whether the schema leaves an argument only a few values.
pub fn is_choice(tool: &Tool, key: &str) -> bool {
    let property = tool.input_schema().get("properties").and_then(|properties| properties.get(key));
    property.is_some_and(|property| property.get("enum").is_some() || property.get("const").is_some())
}

/// Every choice that the schema offers at its top, one at a time.
fn choices(tool: &Tool) -> Vec<(&str, Value)> {
    let properties = tool.input_schema().get("properties").and_then(Value::as_object).into_iter().flatten();
    let offered = properties.flat_map(|(key, property)| {
        let listed = property.get("enum").and_then(Value::as_array).into_iter().flatten();
        listed.take(MAX_CHOICES).map(move |choice| (key.as_str(), choice.clone()))
    });
    offered.collect()
}

/// The same with directories and files that are there.
fn dressed(mut arguments: Value, ground: &Ground) -> Value {
    let Some((directory, file)) = &ground.inside else { return arguments };
    for place in places(&arguments) {
        let there = match place.purpose {
            Purpose::Directory => directory,
            Purpose::File => file,
            _ => continue,
        };
        if let Some(value) = arguments.pointer_mut(&place.at) {
            *value = Value::from(there.to_string_lossy());
        }
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Entry};
    use crate::world::DeclaredBy;

    #[test]
    fn empty_lists_and_maps_get_a_text_where_they_take_one() {
        let schema = json!({ "properties": {
            "names": { "type": "array", "items": { "type": "string" } },
            "sizes": { "type": "array", "items": { "type": "integer" } },
            "labels": { "type": "object", "additionalProperties": { "type": "string" } },
        } });
        let found = filled(json!({ "names": [], "sizes": [], "labels": {} }), &schema, 0);
        assert_eq!(found, json!({ "names": ["x"], "sizes": [], "labels": { "x": "x" } }));
    }

    #[test]
    fn calls_have_all_arguments_each_choice_and_paths_that_are_there() {
        let schema = json!({
            "type": "object",
            "properties": {
                "action": { "type": "string", "enum": ["read", "list"] },
                "sheet_path": { "type": "string" },
                "depth": { "type": "integer" },
            },
            "required": ["action"],
        });
        let tool =
            Tool::read(json!({ "name": "sheets", "inputSchema": schema }).as_object().unwrap()).unwrap();
        let scopes = [("/data/root".into(), DeclaredBy::CommandLine)].into();
        let ground = Ground::new(&scopes, &Catalogue::default(), 1);
        let known = Known {
            valid: vec![
                json!({ "action": "list", "depth": 2 }),
                json!({ "action": "list", "sheet_path": "x" }),
            ],
            ..Known::default()
        };
        let bases = bases(&tool, &known, &ground);
        let reads = |base: &&Value| base["action"] == "read";
        let full = bases.iter().find(reads).unwrap();
        assert!(full["sheet_path"].as_str().unwrap().starts_with("/data/root/"), "{full}");
        assert!(bases.contains(&json!({ "action": "list" })), "{bases:?}");
    }
}
