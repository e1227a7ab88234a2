//! The arguments of a tool, also those within others, with the words that tell what each is for.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use wallfacer_schema::pointer;
use wallfacer_text::lexicon::words;

use super::lesson::as_type_of;

/// Arguments of one tool that are looked at.
const MAX_FIELDS: usize = 96;
/// Levels of a schema that are looked at.
const MAX_LEVELS: usize = 6;
/// The part of a description that is read.
const MAX_DESCRIPTION: usize = 2_000;
/// Words that say of what sort a value is, and nothing of what it belongs to.
pub const GENERAL: [&str; 6] = ["id", "key", "name", "number", "title", "uuid"];
/// Members of an enumeration that are kept.
const MAX_CHOICES: usize = 16;

/// One argument, or a part of one.
#[derive(Debug, Clone)]
pub struct Field {
    /// A JSON pointer, in which items of lists are written `*`.
    pub path: String,
    pub name: String,
    pub description: String,
    pub required: bool,
    /// Whether it takes a text, or several.
    pub is_text: bool,
    pub is_number: bool,
    /// The values that it may have, where the schema lists them.
    pub choices: Vec<Value>,
    /// The words that tell what it is: those of its name, of its description, of the tool's name and description.
    words: [BTreeSet<String>; 3],
}

impl Field {
    /// Whether it is an argument itself, and no part of one. Where one object holds all, its members are the arguments.
    pub fn is_at_top(&self, within_one: bool) -> bool {
        self.path.matches('/').count() == 1 + usize::from(within_one) && !self.path.contains("/*")
    }

    /// How far the name that a value was returned under is from what is wanted here.
    pub fn distance(&self, name: &str) -> usize {
        let stems = stems(name);
        if !stems.is_empty() && stems == self.words[0] {
            return 0;
        }
        let is_general = |stem: &&String| GENERAL.contains(&stem.as_str());
        if stems.iter().any(|stem| is_general(&stem) && self.words[0].contains(stem)) {
            let rest = |words: &BTreeSet<String>| -> BTreeSet<String> {
                words.iter().filter(|stem| !is_general(stem)).cloned().collect()
            };
            let (given, wanted) = (rest(&stems), rest(&self.words[0]));
            return match () {
                () if !given.is_disjoint(&wanted) => 0,
                // `id` is what any `…_id` may want, and a name may be that of anything; the id of another thing is not.
                () if given.is_empty() || wanted.is_empty() || !stems.contains("id") => 1,
                () => self.words.len(),
            };
        }
        let fits = |words: &BTreeSet<String>| !stems.is_disjoint(words);
        self.words.iter().position(fits).unwrap_or(self.words.len())
    }

    /// The value as this argument takes it; none where it cannot.
    pub fn takes(&self, value: &Value) -> Option<Value> {
        let value = match (self.is_text, self.is_number) {
            (true, false) => as_type_of(value, &Value::from("")),
            (false, true) => as_type_of(value, &Value::from(0)),
            _ => value.clone(),
        };
        let fits = self.is_text && value.is_string() || self.is_number && value.is_number();
        fits.then_some(value)
    }
}

/// The arguments that a schema declares, outer ones first.
pub fn fields(schema: &Map<String, Value>, tool: &str, about: &str) -> Vec<Field> {
    let root = Value::Object(schema.clone());
    let about = stems(&format!("{tool} {}", cut(about)));
    let mut found: Vec<Field> = Vec::new();
    let mut open: Vec<(String, &Value)> = vec![(String::new(), &root)];
    for _ in 0..MAX_LEVELS {
        let mut next: Vec<(String, &Value)> = Vec::new();
        for (path, schema) in open {
            for schema in alternatives(&root, schema) {
                let required: Vec<&str> = schema
                    .get("required")
                    .and_then(Value::as_array)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_str)
                    .collect();
                let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
                for (name, property) in properties {
                    let path = pointer::join(&path, name);
                    if found.len() < MAX_FIELDS && !found.iter().any(|field| field.path == path) {
                        let required = required.contains(&name.as_str());
                        found.push(field(&root, path.clone(), name, property, required, &about));
                    }
                    next.push((path, property));
                }
                if let Some(items) = schema.get("items") {
                    next.push((format!("{path}/*"), items));
                }
            }
        }
        next.truncate(MAX_FIELDS);
        open = next;
    }
    found
}

/// The one argument that holds all others as its members, as `params` does with some servers.
pub fn holds_all(fields: &[Field]) -> Option<&Field> {
    let mut top = fields.iter().filter(|field| field.is_at_top(false));
    let only = top.next().filter(|_| top.next().is_none())?;
    fields.iter().any(|field| field.is_at_top(true)).then_some(only)
}

fn field(
    root: &Value,
    path: String,
    name: &str,
    schema: &Value,
    required: bool,
    about: &BTreeSet<String>,
) -> Field {
    let described = |schema: &Value| schema.get("description").and_then(Value::as_str).map(cut);
    let description =
        described(schema).or_else(|| alternatives(root, schema).into_iter().find_map(described));
    let description = description.unwrap_or_default();
    let mut types: Vec<String> = Vec::new();
    let mut choices: Vec<Value> = Vec::new();
    for schema in alternatives(root, schema) {
        let items = schema.get("items").map(|items| alternatives(root, items)).unwrap_or_default();
        for schema in items.into_iter().chain([schema]) {
            match schema.get("type") {
                Some(Value::String(one)) => types.push(one.clone()),
                Some(Value::Array(many)) => {
                    types.extend(many.iter().filter_map(Value::as_str).map(str::to_owned));
                }
                _ => {}
            }
        }
        let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        choices.extend(listed.chain(schema.get("const")).take(MAX_CHOICES).cloned());
    }
    choices.truncate(MAX_CHOICES);
    let is = |wanted: &[&str]| types.iter().any(|one| wanted.contains(&one.as_str()));
    let words = [stems(name), stems(&description), about.clone()];
    let (is_text, is_number) = (is(&["string"]) || types.is_empty(), is(&["integer", "number"]));
    Field { path, name: name.to_owned(), description, required, is_text, is_number, choices, words }
}

/// A schema, what it refers to, and its branches.
fn alternatives<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Value> {
    let mut found = vec![schema];
    let mut next = 0;
    while next < found.len() && found.len() < MAX_CHOICES {
        let schema = found[next];
        next += 1;
        let reference =
            schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
        found.extend(reference.and_then(|place| root.pointer(place)));
        for key in ["anyOf", "oneOf", "allOf"] {
            found.extend(schema.get(key).and_then(Value::as_array).into_iter().flatten());
        }
    }
    found
}

fn cut(text: &str) -> String {
    text.chars().take(MAX_DESCRIPTION).collect()
}

/// Words of a text, one and many alike.
pub fn stems(text: &str) -> BTreeSet<String> {
    let stem = |word: String| match word.strip_suffix('s') {
        Some(stem) if stem.len() > 1 => stem.to_owned(),
        _ => word,
    };
    words(text).into_iter().map(stem).filter(|stem| stem.len() > 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn of(schema: Value) -> Vec<Field> {
        fields(schema.as_object().unwrap(), "t", "")
    }

    #[test]
    fn parts_of_arguments_are_found_behind_lists_and_references() {
        let found = of(json!({
            "properties": { "edits": { "type": "array", "items": { "$ref": "#/$defs/Edit" } } },
            "required": ["edits"],
            "$defs": { "Edit": { "properties": { "path": { "type": "string" } } } },
        }));
        let paths: Vec<&str> = found.iter().map(|field| field.path.as_str()).collect();
        assert_eq!(paths, ["/edits", "/edits/*/path"]);
        assert!(found[0].required && found[0].is_at_top(false) && !found[1].is_at_top(false));
        assert!(!found[1].is_at_top(true) && holds_all(&found).is_none());
    }

    #[test]
    fn one_object_may_hold_all_arguments() {
        let held = json!({ "type": "object", "properties": { "shelf": {}, "lamp": {} } });
        let found = of(json!({ "properties": { "params": held } }));
        assert_eq!(holds_all(&found).map(|field| field.name.as_str()), Some("params"));
        assert!(found[1].is_at_top(true) && !found[0].is_at_top(true));
        assert!(holds_all(&of(json!({ "properties": { "params": held, "other": {} } }))).is_none());
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let found = of(json!({ "properties": { "next": { "$ref": "#" } } }));
        assert!(!found.is_empty() && found.len() <= MAX_FIELDS);
    }

    #[test]
    fn an_id_is_near_to_every_id() {
        let found = of(json!({ "properties": { "taskId": { "type": "string" } } }));
        assert!(found[0].distance("task_id") < found[0].distance("id"));
        assert!(found[0].distance("id") < found[0].distance("colour"));
        assert!(found[0].distance("requestId") > found[0].distance("id"));
        assert_eq!(found[0].takes(&json!(5)), Some(json!("5")));
    }
}
