//! Reads `where:`, which tools and fields a rule is about.

use super::fields::{Fields, Keys};
use super::reader::Reader;
use crate::assertion::Type;
use crate::tool::{Field, ToolShape};
use crate::yaml::{Data, Node};
use regex::Regex;
use std::sync::Arc;

const WHERE: Keys = Keys {
    what: "`where`",
    names: &[
        ("annotations", 1),
        ("name_matches", 1),
        ("description_matches", 1),
        ("has_output_schema", 4),
        ("field", 4),
    ],
};
const ANNOTATIONS: Keys = Keys {
    what: "`annotations`",
    names: &[("readOnlyHint", 1), ("destructiveHint", 1), ("idempotentHint", 1), ("openWorldHint", 1)],
};
const FIELD: Keys = Keys {
    what: "`field`",
    names: &[("type", 1), ("name_matches", 1), ("description_matches", 1), ("required", 1)],
};

/// Everything that is asked for must be so.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selector {
    hints: Vec<(String, bool)>,
    name: Option<Arc<Regex>>,
    description: Option<Arc<Regex>>,
    output_schema: Option<bool>,
    field: Option<FieldSelector>,
}

#[derive(Debug, Clone, Default)]
struct FieldSelector {
    kind: Option<Type>,
    name: Option<Arc<Regex>>,
    description: Option<Arc<Regex>>,
    required: Option<bool>,
}

pub(crate) fn selector(node: Option<&Node>, reader: &mut Reader<'_>) -> Selector {
    let Some(fields) = node.and_then(|node| Fields::of(node, &WHERE, reader)) else {
        return Selector::default();
    };
    Selector {
        hints: fields.get("annotations").map(|node| hints(node, reader)).unwrap_or_default(),
        name: pattern(&fields, "name_matches", reader),
        description: pattern(&fields, "description_matches", reader),
        output_schema: fields
            .get("has_output_schema")
            .and_then(|node| reader.boolean(node, "has_output_schema")),
        field: fields.get("field").and_then(|node| field(node, reader)),
    }
}

fn hints(node: &Node, reader: &mut Reader<'_>) -> Vec<(String, bool)> {
    let (Some(_), Data::Map(entries)) = (Fields::of(node, &ANNOTATIONS, reader), &node.data) else {
        return Vec::new();
    };
    entries
        .iter()
        .filter_map(|entry| {
            let name = entry.key.text.closed()?;
            let wanted = reader.boolean(&entry.value, &name)?;
            Some((name, wanted))
        })
        .collect()
}

fn field(node: &Node, reader: &mut Reader<'_>) -> Option<FieldSelector> {
    let fields = Fields::of(node, &FIELD, reader)?;
    let kinds = Type::ALL.map(|kind| (kind.name(), kind));
    Some(FieldSelector {
        kind: fields.get("type").and_then(|node| reader.choice(node, "type", &kinds)),
        name: pattern(&fields, "name_matches", reader),
        description: pattern(&fields, "description_matches", reader),
        required: fields.get("required").and_then(|node| reader.boolean(node, "required")),
    })
}

fn pattern(fields: &Fields<'_>, key: &str, reader: &mut Reader<'_>) -> Option<Arc<Regex>> {
    fields.get(key).and_then(|node| reader.regex(node, key))
}

impl Selector {
    pub(crate) fn fits(&self, tool: &ToolShape) -> bool {
        let matches = |pattern: &Option<Arc<Regex>>, text| {
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
        };
        self.hints.iter().all(|(name, wanted)| tool.hint(name) == Some(*wanted))
            && matches(&self.name, tool.name())
            && matches(&self.description, tool.description())
            && self.output_schema.is_none_or(|wanted| wanted == tool.has_output_schema())
    }

    pub(crate) fn is_about_fields(&self) -> bool {
        self.field.is_some()
    }

    /// The names of the fields that fit.
    pub(crate) fn fields<'t>(&self, tool: &'t ToolShape) -> Vec<&'t str> {
        let Some(wanted) = &self.field else { return Vec::new() };
        tool.fields().filter(|field| wanted.fits(field)).map(|field| field.name).collect()
    }
}

impl FieldSelector {
    fn fits(&self, field: &Field<'_>) -> bool {
        let matches = |pattern: &Option<Arc<Regex>>, text| {
            pattern.as_ref().is_none_or(|pattern| pattern.is_match(text))
        };
        self.kind.is_none_or(|kind| field.accepts(kind.name()))
            && matches(&self.name, field.name)
            && matches(&self.description, field.description())
            && self.required.is_none_or(|wanted| wanted == field.required)
    }
}
