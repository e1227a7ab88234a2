//! Shows clients other names than the server uses itself, and translates theirs back.

use serde_json::{Map, Value};
use wallfacer_fixtures::Renaming;

/// Without a renaming, all names are shown as they are.
pub struct Names(pub Option<Renaming>);

impl Names {
    pub fn shown(&self, name: &str) -> String {
        self.0.map_or_else(|| name.to_owned(), |renaming| renaming.apply(name))
    }

    /// A tool as clients see it.
    pub fn tool(&self, declared: &Value) -> Value {
        let mut shown = declared.clone();
        shown["name"] = self.shown(declared["name"].as_str().unwrap_or_default()).into();
        shown["inputSchema"] = self.schema(&declared["inputSchema"]);
        shown
    }

    /// The recursion follows our own schema, which is finite.
    fn schema(&self, schema: &Value) -> Value {
        let mut shown = schema.clone();
        if let Some(properties) = schema["properties"].as_object() {
            let properties = properties.iter().map(|(name, each)| (self.shown(name), self.schema(each)));
            shown["properties"] = properties.collect::<Map<_, _>>().into();
        }
        if let Some(required) = schema["required"].as_array() {
            let required = required.iter().filter_map(Value::as_str).map(|name| self.shown(name));
            shown["required"] = required.collect::<Vec<_>>().into();
        }
        if let Some(forms) = schema["anyOf"].as_array() {
            shown["anyOf"] = forms.iter().map(|form| self.schema(form)).collect();
        }
        if let Some(items) = schema.get("items") {
            shown["items"] = self.schema(items);
        }
        shown
    }

    /// Arguments under the names of the schema, which is ours, in place of those that clients see.
    pub fn meant(&self, schema: &Value, mut value: Value) -> Value {
        match (&mut value, schema.get("items")) {
            (Value::Object(members), _) => {
                for (name, each) in schema["properties"].as_object().into_iter().flatten() {
                    if let Some(member) = members.remove(&self.shown(name)) {
                        // Under a name that no client can have used, lest it be taken for another argument.
                        members.insert(format!("\0{name}"), self.meant(each, member));
                    }
                }
                let plain = |name: String| name.strip_prefix('\0').map(str::to_owned).unwrap_or(name);
                *members =
                    std::mem::take(members).into_iter().map(|(name, each)| (plain(name), each)).collect();
            }
            (Value::Array(members), Some(each)) => {
                members.iter_mut().for_each(|member| *member = self.meant(each, member.take()));
            }
            _ => {}
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::Names;
    use serde_json::json;
    use wallfacer_fixtures::Renaming;

    #[test]
    fn arguments_come_back_under_the_names_of_the_schema() {
        let schema = json!({"type": "object", "required": ["text"], "properties": {
            "text": {"type": "string"},
            "filters": {"type": "array", "items": {"type": "object", "properties": {"limit": {}, "field": {}}}},
        }});
        for seed in 0..50 {
            let renaming = Renaming::new(seed);
            let names = Names(Some(renaming));
            let [text, filters, limit] = ["text", "filters", "limit"].map(|name| renaming.apply(name));
            assert_eq!(names.schema(&schema)["required"], json!([text]));
            assert_eq!(
                names.meant(&schema, json!({(text): "limit", (filters): [{(limit): 1}], "unknown": 2})),
                json!({"text": "limit", "filters": [{"limit": 1}], "unknown": 2})
            );
        }
    }
}
