//! A tool as the server lists it, and what rules ask about it.

use std::sync::Arc;

use serde_json::Value;

/// Properties looked at for `where: field`; a schema with more was made to exhaust.
const MAX_FIELDS: usize = 256;

/// One entry of the server's list of tools.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolShape {
    definition: Arc<Value>,
}

/// One argument a tool takes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Value,
    pub(crate) required: bool,
}

impl ToolShape {
    /// From the entry as it was received: `{"name": …, "description": …, "inputSchema": …, "annotations": …}`.
    pub fn new(definition: impl Into<Arc<Value>>) -> Self {
        Self { definition: definition.into() }
    }

    /// What `$.tool` is.
    pub fn definition(&self) -> &Value {
        &self.definition
    }

    pub fn name(&self) -> &str {
        self.definition["name"].as_str().unwrap_or_default()
    }

    pub(crate) fn description(&self) -> &str {
        self.definition["description"].as_str().unwrap_or_default()
    }

    /// A hint that is not given is neither true nor false.
    pub(crate) fn hint(&self, name: &str) -> Option<bool> {
        self.definition["annotations"][name].as_bool()
    }

    pub(crate) fn has_output_schema(&self) -> bool {
        self.definition["outputSchema"].is_object()
    }

    pub(crate) fn fields(&self) -> impl Iterator<Item = Field<'_>> {
        let schema = &self.definition["inputSchema"];
        let required = schema["required"].as_array().map(Vec::as_slice).unwrap_or_default();
        let properties = schema["properties"].as_object().into_iter().flatten().take(MAX_FIELDS);
        properties.map(move |(name, schema)| Field {
            name,
            schema,
            required: required.iter().take(MAX_FIELDS).any(|other| other.as_str() == Some(name)),
        })
    }
}

impl Field<'_> {
    /// Whether a value of this type may be given: by `type`, or in one of its alternatives.
    pub(crate) fn accepts(&self, wanted: &str) -> bool {
        let is_type = |schema: &Value| match &schema["type"] {
            Value::String(kind) => kind == wanted,
            Value::Array(kinds) => kinds.iter().take(16).any(|kind| kind == wanted),
            _ => false,
        };
        let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|key| self.schema[key].as_array());
        is_type(self.schema) || alternatives.flatten().take(MAX_FIELDS).any(is_type)
    }

    pub(crate) fn description(&self) -> &str {
        self.schema["description"].as_str().unwrap_or_default()
    }
}
