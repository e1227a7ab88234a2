//! What a YAML file says, with the place of everything it says.

use crate::source::Span;
use crate::text::Text;
use serde_json::{Map, Number, Value};

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) data: Data,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(Text),
    /// `{{name}}` written without quotes: whatever is put there keeps its own type.
    Unquoted(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) key: Key,
    pub(crate) value: Node,
}

#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) span: Span,
    pub(crate) text: Text,
}

/// Where a thing stands is no part of what it is.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        self.data == other.data
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Node {
    /// What it is, in the words of a message.
    pub(crate) fn kind(&self) -> &'static str {
        match &self.data {
            Data::Null => "empty",
            Data::Bool(_) => "true or false",
            Data::Number(_) => "a number",
            Data::Text(_) => "text",
            Data::Unquoted(_) => "a placeholder",
            Data::List(_) => "a list",
            Data::Map(_) => "a map",
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        match &self.data {
            Data::Map(entries) => entries.iter().find(|entry| entry.key.is(name)).map(|entry| &entry.value),
            _ => None,
        }
    }

    /// Every node below and including this one whose text or key holds placeholders, with their names.
    pub(crate) fn placeholders(&self) -> Vec<(Span, &str)> {
        let mut found = Vec::new();
        self.collect_placeholders(&mut found);
        found
    }

    fn collect_placeholders<'a>(&'a self, found: &mut Vec<(Span, &'a str)>) {
        match &self.data {
            Data::Text(text) => found.extend(text.placeholders().map(|name| (self.span, name))),
            Data::Unquoted(name) => found.push((self.span, name)),
            Data::List(items) => items.iter().for_each(|item| item.collect_placeholders(found)),
            Data::Map(entries) => entries.iter().for_each(|Entry { key, value }| {
                found.extend(key.text.placeholders().map(|name| (key.span, name)));
                value.collect_placeholders(found);
            }),
            Data::Null | Data::Bool(_) | Data::Number(_) => {}
        }
    }

    /// As JSON; a placeholder that is still open stays as it was written.
    pub(crate) fn json(&self) -> Value {
        let text = |text: &Text| text.closed().unwrap_or_else(|| text.to_string());
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(truth) => Value::Bool(*truth),
            Data::Number(number) => Value::Number(number.clone()),
            Data::Text(written) => Value::String(text(written)),
            Data::Unquoted(name) => Value::String(format!("{{{{{name}}}}}")),
            Data::List(items) => Value::Array(items.iter().map(Node::json).collect()),
            Data::Map(entries) => Value::Object(
                entries
                    .iter()
                    .map(|entry| (text(&entry.key.text), entry.value.json()))
                    .collect::<Map<_, _>>(),
            ),
        }
    }
}

impl Key {
    pub(crate) fn is(&self, name: &str) -> bool {
        self.text.closed().as_deref() == Some(name)
    }
}
