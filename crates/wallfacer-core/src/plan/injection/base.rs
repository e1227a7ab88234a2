//! Chooses the calls of a tool that payloads are put into, such as lead as far into it as can be known beforehand: one
//! with as little as it needs, one with all it takes, and one for each of its choices.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::ground::Ground;
use super::place::{Purpose, places};
use crate::catalogue::Tool;
use crate::plan::case::Step;
use crate::plan::guard::words;

/// Calls of one tool that payloads are put into.
const MAX_BASES: usize = 12;
/// Members of one choice that are tried.
const MAX_CHOICES: usize = 16;

/// What is known of a tool's arguments.
#[derive(Debug, Clone, Default)]
pub struct Known {
    /// With these it succeeded.
    pub good: Vec<Value>,
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
        .chain(&known.good)
        .filter_map(Value::as_object)
        .flatten()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let declares = tool.input_schema.get("properties").is_some_and(|properties| properties.is_object());
    // Who declares nothing says by refusals what is wanted, and what was drawn at random is not.
    let all = if declares || known.demanded.is_empty() {
        all
    } else {
        known.demanded.clone().into_iter().collect()
    };
    let required = required(tool);
    let least = all.iter().filter(|(key, _)| required.contains(&key.as_str()));
    let least: Map<String, Value> = least.map(|(key, value)| (key.clone(), value.clone())).collect();
    let full = dressed(Value::Object(all), ground);
    let with_choice = |(key, choice): (&str, Value)| {
        let mut base = full.clone();
        base[key] = choice;
        base
    };
    let chosen = choices(tool).into_iter().map(with_choice);
    let least = dressed(Value::Object(least), ground);
    let bases = known.good.first().cloned().into_iter().chain([full.clone()]).chain(chosen).chain([least]);
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
    let property = tool.input_schema.get("properties").and_then(|properties| properties.get(key));
    property.is_some_and(|property| property.get("enum").is_some() || property.get("const").is_some())
}

/// Every choice that the schema offers at its top, one at a time.
fn choices(tool: &Tool) -> Vec<(&str, Value)> {
    let properties = tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten();
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
    use serde_json::json;

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
