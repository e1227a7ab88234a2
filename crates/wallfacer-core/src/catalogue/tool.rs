//! A tool as listed: its name, what it takes and gives, and what it says of its own effects.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::entry::{Entry, kind, optional_text, required_text};

/// Arguments marked as headers are looked for this deep; deeper ones stay in the body alone.
const MAX_HEADER_DEPTH: usize = 16;
const MAX_HEADER_PARAMS: usize = 64;

#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub annotations: Annotations,
    /// Arguments that travel as HTTP headers too: the path to the argument, and the header's name.
    pub header_params: Vec<(Vec<String>, String)>,
    /// The entry as it was received, an object. Every test has its own list of tools, and a schema may be large.
    pub listed: Arc<Value>,
}

/// One argument of a tool, as far as the top of its schema tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Argument<'a> {
    pub name: &'a str,
    pub kind: Option<&'a str>,
    pub required: bool,
}

/// What a tool says of its own effects. What is left out stays open: the defaults are for others to apply.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

impl Entry for Tool {
    const METHOD: &'static str = "tools/list";
    const KEY: &'static str = "tools";

    fn read(object: &Map<String, Value>) -> Result<Tool, String> {
        let name = required_text(object, "name")?;
        let input_schema = match object.get("inputSchema") {
            Some(Value::Object(schema)) => schema,
            Some(other) => return Err(format!("`inputSchema` is {}, not an object", kind(other))),
            None => return Err("`inputSchema` is missing".to_owned()),
        };
        let mut header_params = Vec::new();
        find_header_params(input_schema, &mut Vec::new(), &mut header_params);
        Ok(Tool {
            name,
            title: optional_text(object, "title"),
            description: optional_text(object, "description"),
            annotations: Annotations::read(object.get("annotations")),
            header_params,
            listed: Arc::new(Value::Object(object.clone())),
        })
    }
}

impl Tool {
    /// What its arguments must be, an object.
    pub fn input_schema(&self) -> &Value {
        &self.listed["inputSchema"]
    }

    pub fn output_schema(&self) -> Option<&Value> {
        self.listed.get("outputSchema").filter(|schema| !schema.is_null())
    }

    /// The same tool with another schema of its arguments.
    pub fn with_input_schema(&self, schema: Map<String, Value>) -> Tool {
        let mut listed = Value::clone(&self.listed);
        listed["inputSchema"] = Value::Object(schema);
        Tool { listed: Arc::new(listed), ..self.clone() }
    }

    /// Whether it says that it refuses every call that does not ask for a task.
    pub fn is_a_task(&self) -> bool {
        let support = self.listed.get("execution").and_then(|execution| execution.get("taskSupport"));
        support.and_then(Value::as_str) == Some("required")
    }

    /// Its arguments in the order of its schema.
    pub fn arguments(&self) -> Vec<Argument<'_>> {
        let required: Vec<&str> = match self.input_schema().get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let properties =
            self.input_schema().get("properties").and_then(Value::as_object).into_iter().flatten();
        properties
            .map(|(name, schema)| Argument {
                name,
                kind: schema.get("type").and_then(Value::as_str),
                required: required.contains(&name.as_str()),
            })
            .collect()
    }
}

impl Annotations {
    fn read(value: Option<&Value>) -> Annotations {
        let hint = |key: &str| value.and_then(|value| value.get(key)).and_then(Value::as_bool);
        let title = value.and_then(|value| value.get("title")).and_then(Value::as_str).map(str::to_owned);
        Annotations {
            title,
            read_only_hint: hint("readOnlyHint"),
            destructive_hint: hint("destructiveHint"),
            idempotent_hint: hint("idempotentHint"),
            open_world_hint: hint("openWorldHint"),
        }
    }
}

/// Only a chain of `properties` leads to such an argument; the specification allows no other way.
fn find_header_params(
    schema: &Map<String, Value>,
    path: &mut Vec<String>,
    found: &mut Vec<(Vec<String>, String)>,
) {
    if path.len() == MAX_HEADER_DEPTH || found.len() == MAX_HEADER_PARAMS {
        return;
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let Some(property) = property.as_object() else { continue };
        path.push(name.clone());
        if let Some(header) = property.get("x-mcp-header").and_then(Value::as_str) {
            found.push((path.clone(), header.to_owned()));
        }
        find_header_params(property, path, found);
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<Tool, String> {
        Tool::read(value.as_object().unwrap())
    }

    #[test]
    fn a_tool_keeps_all_that_it_says() {
        let tool = read(json!({
            "name": "search", "title": "Search", "description": "Looks.",
            "inputSchema": { "type": "object", "required": ["q"], "properties": {
                "q": { "type": "string" },
                "page": { "type": "object", "properties": {
                    "region": { "type": "string", "x-mcp-header": "Region" } } } } },
            "outputSchema": { "type": "object" },
            "annotations": { "readOnlyHint": true, "destructiveHint": "no" },
            "_meta": { "a": 1 },
        }))
        .unwrap();
        let query = Argument { name: "q", kind: Some("string"), required: true };
        let page = Argument { name: "page", kind: Some("object"), required: false };
        assert_eq!(tool.arguments(), [query, page]);
        assert_eq!(tool.header_params, [(vec!["page".to_owned(), "region".to_owned()], "Region".to_owned())]);
        assert_eq!(tool.annotations.read_only_hint, Some(true));
        assert_eq!(tool.annotations.destructive_hint, None);
        assert!(tool.output_schema().is_some());
    }

    #[test]
    fn a_tool_without_name_or_schema_says_what_is_wrong() {
        let cases = [
            (json!({ "inputSchema": {} }), "`name` is missing"),
            (json!({ "name": 5, "inputSchema": {} }), "`name` is a number, not a text"),
            (json!({ "name": "", "inputSchema": {} }), "`name` is empty"),
            (json!({ "name": "a" }), "`inputSchema` is missing"),
            (json!({ "name": "a", "inputSchema": "none" }), "`inputSchema` is a text, not an object"),
        ];
        for (value, why) in cases {
            assert_eq!(read(value).unwrap_err(), why);
        }
    }
}
