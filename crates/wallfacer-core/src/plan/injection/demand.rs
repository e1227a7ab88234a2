//! Reads from a refusal which arguments it says are missing: some servers declare nothing, and tell only then.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

/// The part of a refusal that is read.
const MAX_REFUSAL: usize = 8_000;
const MAX_FIELDS: usize = 16;

/// Arguments that a refusal asks for, each with a value of the sort that it wants.
pub fn demanded(refusal: &str) -> BTreeMap<String, Value> {
    let text: String = refusal.chars().take(MAX_REFUSAL).collect();
    let listed = listed(&text);
    let told = if listed.is_empty() { told(&text) } else { listed };
    told.into_iter().take(MAX_FIELDS).collect()
}

/// A list of faults as JSON, each with the path of what it is about and what was expected there.
fn listed(text: &str) -> BTreeMap<String, Value> {
    let list = text.find('[').zip(text.rfind(']')).and_then(|(start, end)| text.get(start..=end));
    let faults: Vec<Value> = list.and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default();
    let fault = |fault: &Value| {
        let [Value::String(name)] = fault.get("path")?.as_array()?.as_slice() else { return None };
        Some((name.clone(), sample(fault.get("expected").and_then(Value::as_str).unwrap_or("string"))))
    };
    faults.iter().filter_map(fault).collect()
}

/// A sentence or a line for each.
fn told(text: &str) -> BTreeMap<String, Value> {
    static LINES: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?m)^([A-Za-z_]\w*)\r?\n\s+Field required").expect("a constant"));
    static WORDS: LazyLock<Regex> = LazyLock::new(|| {
        let asked = r#"(?i)(?:missing required (?:argument|parameter|property|field)|required property):?\s*['"`]?([a-z_]\w*)"#;
        Regex::new(asked).expect("a constant")
    });
    let found = LINES.captures_iter(text).chain(WORDS.captures_iter(text));
    found.map(|found| (found[1].to_owned(), sample("string"))).collect()
}

fn sample(expected: &str) -> Value {
    match expected {
        "array" => json!(["x"]),
        "object" | "record" => json!({}),
        "number" | "integer" | "int" => json!(1),
        "boolean" | "bool" => json!(true),
        _ => json!("x"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_read_from_lists_lines_and_sentences() {
        let list = r#"Error: Invalid arguments: [ { "expected": "string", "code": "invalid_type", "path": [ "path" ] },
            { "expected": "array", "path": ["edits"] }, { "expected": "string", "path": ["edits", 0] } ]"#;
        assert_eq!(
            demanded(list),
            [("edits".to_owned(), json!(["x"])), ("path".to_owned(), json!("x"))].into()
        );
        let lines = "2 validation errors for Pages\nshelf_path\n  Field required [type=missing]\ntarget\n  Field required";
        assert_eq!(demanded(lines).keys().collect::<Vec<_>>(), ["shelf_path", "target"]);
        assert!(demanded("Missing required argument: 'query'").contains_key("query"));
        assert!(demanded("there is no such page [1]").is_empty());
    }
}
