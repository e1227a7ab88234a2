//! Reads the `metadata` of a file: its name, its parameters and what it extends.

use super::fields::{Fields, Keys};
use super::reader::Reader;
use crate::metadata::{Extended, Metadata, Parameter, ParameterType};
use crate::yaml::{Data, Entry, Node};

const METADATA: Keys = Keys {
    what: "metadata",
    names: &[
        ("name", 1),
        ("description", 1),
        ("authors", 1),
        ("tags", 1),
        ("parameters", 1),
        ("extends", 1),
        ("version", 1),
    ],
};
const PARAMETER: Keys =
    Keys { what: "a parameter", names: &[("description", 1), ("type", 1), ("default", 1)] };
const TYPES: [(&str, ParameterType); 4] = [
    ("string", ParameterType::String),
    ("integer", ParameterType::Integer),
    ("number", ParameterType::Number),
    ("boolean", ParameterType::Boolean),
];

pub(crate) fn metadata(node: Option<&Node>, reader: &mut Reader<'_>) -> Metadata {
    let Some(fields) = node.and_then(|node| Fields::of(node, &METADATA, reader)) else {
        return Metadata::default();
    };
    Metadata {
        name: fields.text("name", reader),
        description: fields.text("description", reader),
        authors: fields.get("authors").map(|node| reader.texts(node, "authors")).unwrap_or_default(),
        tags: fields.get("tags").map(|node| reader.texts(node, "tags")).unwrap_or_default(),
        parameters: fields.get("parameters").map(|node| parameters(node, reader)).unwrap_or_default(),
        extends: fields.get("extends").map(|node| extends(node, reader)).unwrap_or_default(),
    }
}

fn extends(node: &Node, reader: &mut Reader<'_>) -> Vec<Extended> {
    let items = reader.list(node, "extends");
    items
        .iter()
        .filter_map(|item| Some(Extended { pack: reader.text(item, "extends")?, span: item.span }))
        .collect()
}

fn parameters(node: &Node, reader: &mut Reader<'_>) -> Vec<Parameter> {
    match &node.data {
        Data::Map(entries) => entries.iter().filter_map(|entry| parameter(entry, reader)).collect(),
        _ => {
            reader.mismatch(node, "parameters", "a map from names to their descriptions");
            Vec::new()
        }
    }
}

fn parameter(entry: &Entry, reader: &mut Reader<'_>) -> Option<Parameter> {
    let name = entry.key.text.closed().filter(|name| crate::text::is_word(name));
    let Some(name) = name else {
        let message = format!("`{}` cannot be the name of a parameter", entry.key.text);
        reader.error(entry.key.span, message, "use letters, digits and `_`");
        return None;
    };
    if reader.version >= super::reader::LATEST && crate::file::RESERVED.contains(&name.as_str()) {
        reader.error(
            entry.key.span,
            format!("`{name}` has a meaning of its own in placeholders"),
            "choose another name",
        );
    }
    let fields = Fields::of(&entry.value, &PARAMETER, reader)?;
    let kind = fields.get("type").and_then(|node| reader.choice(node, "type", &TYPES));
    let default = fields.required("default", reader)?;
    if matches!(default.data, Data::List(_) | Data::Map(_)) {
        reader.mismatch(default, "default", "text, a number, or true or false");
        return None;
    }
    let value = default.json();
    if let Some(kind) = kind
        && kind.read(&value).is_none()
    {
        let message = format!("the default of `{name}` is not of type {}", kind.name());
        reader.error(default.span, message, "change the default, or the type");
    }
    Some(Parameter {
        name,
        description: fields.text("description", reader),
        kind,
        default: value,
        span: entry.key.span,
    })
}
