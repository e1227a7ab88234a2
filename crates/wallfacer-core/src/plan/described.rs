//! The arguments of a tool with all that is said of them: many servers describe them in the text of the tool, and declare
//! nothing but names and types.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::example;
use crate::catalogue::Tool;

/// Lines of a description that are read.
const MAX_LINES: usize = 400;

/// The input schema in which each argument has a description where the tool's own text has one, and the examples that the
/// text shows.
pub fn described(tool: &Tool) -> Map<String, Value> {
    let mut schema = tool.input_schema().as_object().cloned().unwrap_or_default();
    let text = tool.description.as_deref().unwrap_or_default();
    let Some(Value::Object(properties)) = schema.get_mut("properties") else { return schema };
    let said = of_arguments(text, &properties.keys().cloned().collect::<Vec<_>>());
    let shown = example::objects(text);
    for (name, property) in properties.iter_mut() {
        let Value::Object(property) = property else { continue };
        if let Some(said) = said.get(name)
            && !property.contains_key("description")
        {
            property.insert("description".to_owned(), Value::from(said.as_str()));
        }
        let examples: Vec<Value> = shown.iter().filter_map(|call| value_in(call, name)).collect();
        if !examples.is_empty() && !property.contains_key("examples") {
            property.insert("examples".to_owned(), Value::Array(examples));
        }
    }
    schema
}

/// What an example of a call has for an argument; some show it within the request.
fn value_in(call: &Map<String, Value>, name: &str) -> Option<Value> {
    let inner = call.get("arguments").or_else(|| call.get("params")).and_then(Value::as_object);
    inner.and_then(|inner| inner.get(name)).or_else(|| call.get(name)).cloned()
}

/// What a text says of each of these arguments: `name: …`, `- name (string): …`, `` `name` - … ``, `:param name: …`.
fn of_arguments(text: &str, names: &[String]) -> BTreeMap<String, String> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        let name = r"[`*]{0,3}(?P<name>[A-Za-z_]\w*)[`*]{0,3}";
        Regex::new(&format!(r"^\s*(?:[-*•]\s+|:param\s+|@param\s+|\d+[.)]\s+)?{name}\s*(?:\([^)]*\)|\[[^\]]*\])?\s*(?::|-|–|—|=)\s*(?P<said>\S.*)$"))
            .expect("a fixed pattern")
    });
    let mut said: BTreeMap<String, String> = BTreeMap::new();
    let mut last: Option<String> = None;
    for line in text.lines().take(MAX_LINES) {
        match LINE.captures(line) {
            Some(found) if names.iter().any(|name| *name == found["name"]) => {
                let name = found["name"].to_owned();
                said.entry(name.clone()).or_insert_with(|| found["said"].trim().to_owned());
                last = Some(name);
            }
            // What goes on, further in, belongs to the argument above.
            _ if line.starts_with("        ") && !line.trim().is_empty() => {
                if let Some(said) = last.as_ref().and_then(|name| said.get_mut(name)) {
                    said.push(' ');
                    said.push_str(line.trim());
                }
            }
            _ => last = None,
        }
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Entry;
    use serde_json::json;

    fn of(description: &str) -> Value {
        let properties =
            json!({ "shelf": { "type": "string" }, "count": { "type": "integer", "description": "own" } });
        let entry = json!({ "name": "t", "description": description,
            "inputSchema": { "type": "object", "properties": properties } });
        Value::Object(described(&Tool::read(entry.as_object().unwrap()).unwrap()))
    }

    #[test]
    fn a_text_describes_arguments_in_many_ways() {
        for text in [
            "Moves books.\n\n    Args:\n        shelf: Where to (e.g. 'upper')\n        count: How many",
            "Moves books.\n- shelf (string, required): Where to (e.g. 'upper')",
            "Moves books.\n* **shelf**: Where to (e.g. 'upper')",
            "Moves books.\n:param shelf: Where to (e.g. 'upper')",
        ] {
            assert_eq!(of(text)["properties"]["shelf"]["description"], "Where to (e.g. 'upper')", "{text}");
            assert_eq!(of(text)["properties"]["count"]["description"], "own");
        }
    }

    #[test]
    fn an_example_of_a_call_gives_its_values() {
        let schema = of("Moves books. Example: {\"shelf\": \"upper\", \"count\": 2}");
        assert_eq!(schema["properties"]["shelf"]["examples"], json!(["upper"]));
    }
}
