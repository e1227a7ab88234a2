//! Reads `generate:`, one specification per argument.

use super::fields::{Fields, Keys};
use super::reader::Reader;
use crate::generate::{Generate, Spec};
use crate::yaml::{Data, Entry, Node};
use serde_json::Number;

const SPEC: Keys = Keys {
    what: "a generated argument",
    names: &[
        ("type", 1),
        ("min_length", 1),
        ("max_length", 1),
        ("min", 1),
        ("max", 1),
        ("items", 1),
        ("min_items", 1),
        ("max_items", 1),
        ("pattern", 4),
        ("format", 4),
        ("properties", 4),
        ("required", 4),
        ("enum", 4),
        ("const", 4),
        ("one_of", 4),
        ("schema", 4),
    ],
};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Type {
    Text,
    Integer,
    Number,
    Boolean,
    List,
    Object,
    Null,
}

/// The last two are new in version 4.
const TYPES: [(&str, Type); 7] = [
    ("string", Type::Text),
    ("integer", Type::Integer),
    ("number", Type::Number),
    ("boolean", Type::Boolean),
    ("array", Type::List),
    ("object", Type::Object),
    ("null", Type::Null),
];

pub(super) fn generate(node: &Node, reader: &mut Reader<'_>) -> Generate {
    Generate { fields: members(node, "generate", reader) }
}

fn members(node: &Node, key: &str, reader: &mut Reader<'_>) -> Vec<(String, Spec)> {
    let Data::Map(entries) = &node.data else {
        reader.mismatch(node, key, "a map from arguments to how they are generated");
        return Vec::new();
    };
    let member = |Entry { key, value }: &Entry, reader: &mut Reader<'_>| {
        Some((key.text.closed()?, spec(value, reader)?))
    };
    entries.iter().filter_map(|entry| member(entry, reader)).collect()
}

fn spec(node: &Node, reader: &mut Reader<'_>) -> Option<Spec> {
    let fields = Fields::of(node, &SPEC, reader)?;
    if let Some(schema) = fields.get("schema") {
        return reader.schema(schema, "schema").map(Spec::Schema);
    }
    if let Some(value) = fields.even_null("const") {
        return Some(Spec::Enum(vec![reader.json(value, "const")]));
    }
    if let Some(values) = fields.get("enum") {
        let values: Vec<_> =
            reader.list(values, "enum").iter().map(|value| reader.json(value, "enum")).collect();
        if values.is_empty() {
            reader.error(
                fields.key_span("enum"),
                "`enum` must list at least one value",
                "write them as [a, b]",
            );
        }
        return Some(Spec::Enum(values));
    }
    if let Some(choices) = fields.get("one_of") {
        return Some(Spec::OneOf(
            reader.list(choices, "one_of").iter().filter_map(|choice| spec(choice, reader)).collect(),
        ));
    }
    let written = fields.required("type", reader)?;
    match reader.choice(written, "type", &TYPES)? {
        Type::Text => text(&fields, reader),
        Type::Integer => bounds(&fields, reader).map(|(min, max)| Spec::Integer { min, max }),
        Type::Number => bounds(&fields, reader).map(|(min, max)| Spec::Number { min, max }),
        Type::Boolean => Some(Spec::Boolean),
        Type::List => list(&fields, reader),
        Type::Object | Type::Null if reader.version < super::reader::LATEST => {
            reader.requires_latest(written.span, "this type");
            None
        }
        Type::Object => Some(Spec::Object {
            properties: fields
                .get("properties")
                .map(|node| members(node, "properties", reader))
                .unwrap_or_default(),
            required: fields.get("required").map(|node| reader.texts(node, "required")),
        }),
        Type::Null => Some(Spec::Null),
    }
}

fn text(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Spec> {
    let (min_length, max_length) = sizes(fields, "min_length", "max_length", reader)?;
    Some(Spec::Text {
        min_length,
        max_length,
        pattern: fields.text("pattern", reader),
        format: fields.text("format", reader),
    })
}

fn list(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Spec> {
    let (min_items, max_items) = sizes(fields, "min_items", "max_items", reader)?;
    let items = spec(fields.required("items", reader)?, reader)?;
    Some(Spec::List { items: Box::new(items), min_items, max_items })
}

fn sizes(
    fields: &Fields<'_>,
    least: &str,
    most: &str,
    reader: &mut Reader<'_>,
) -> Option<(Option<u64>, Option<u64>)> {
    // As much as fits into the largest message; what is really sent is bounded by whoever sends it.
    const MOST: u32 = 64 << 20;
    let mut size = |key: &str| fields.get(key).map(|node| reader.count(node, key, 0, MOST).map(u64::from));
    let (min, max) = (size(least), size(most));
    let (min, max) =
        (min.map_or(Some(None), |min| min.map(Some))?, max.map_or(Some(None), |max| max.map(Some))?);
    if let (Some(min), Some(max)) = (min, max)
        && min > max
    {
        contradiction(fields, least, most, reader);
        return None;
    }
    Some((min, max))
}

fn bounds(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<(Option<Number>, Option<Number>)> {
    let mut bound = |key: &str| match fields.get(key) {
        None => Some(None),
        Some(Node { data: Data::Number(number), .. }) => Some(Some(number.clone())),
        Some(other) => {
            reader.mismatch(other, key, "a number");
            None
        }
    };
    let (min, max) = (bound("min")?, bound("max")?);
    if let (Some(min), Some(max)) = (&min, &max)
        && min.as_f64() > max.as_f64()
    {
        contradiction(fields, "min", "max", reader);
        return None;
    }
    Some((min, max))
}

fn contradiction(fields: &Fields<'_>, least: &str, most: &str, reader: &mut Reader<'_>) {
    reader.error(
        fields.key_span(least),
        format!("`{least}` is larger than `{most}`"),
        "no value fits; swap the two",
    );
}
