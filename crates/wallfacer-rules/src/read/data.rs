//! Reads JSON whose open places are filled while rules run.

use super::reader::{Around, LATEST, Reader};
use crate::draft::{Draft, Piece, Sketch};
use crate::source::Span;
use crate::text::{Part, Text};
use crate::yaml::{Data, Node};
use serde_json::{Map, Value};

pub(super) fn draft(node: &Node, reader: &mut Reader<'_>, around: &Around) -> Draft {
    Draft(sketch(node, reader, around))
}

pub(super) fn sketch(node: &Node, reader: &mut Reader<'_>, around: &Around) -> Sketch {
    if node.placeholders().is_empty() {
        return Sketch::Ready(node.json());
    }
    match &node.data {
        Data::Text(text) => Sketch::Text(pieces(node.span, text, reader, around)),
        Data::Unquoted(name) => {
            let text = Text { parts: vec![Part::Placeholder(name.clone())] };
            Sketch::Text(pieces(node.span, &text, reader, around))
        }
        Data::List(items) => Sketch::List(items.iter().map(|item| sketch(item, reader, around)).collect()),
        Data::Map(entries) => {
            let member = |entry: &crate::yaml::Entry, reader: &mut Reader<'_>| {
                (
                    pieces(entry.key.span, &entry.key.text, reader, around),
                    sketch(&entry.value, reader, around),
                )
            };
            Sketch::Map(entries.iter().map(|entry| member(entry, reader)).collect())
        }
        Data::Null | Data::Bool(_) | Data::Number(_) => Sketch::Ready(node.json()),
    }
}

fn pieces(span: Span, text: &Text, reader: &mut Reader<'_>, around: &Around) -> Vec<Piece> {
    text.parts.iter().map(|part| piece(span, part, reader, around)).collect()
}

fn piece(span: Span, part: &Part, reader: &mut Reader<'_>, around: &Around) -> Piece {
    let name = match part {
        Part::Literal(text) | Part::Foreign(text) => return Piece::Literal(text.clone()),
        Part::Placeholder(name) => name,
    };
    if !name.starts_with("steps.") && reader.version < LATEST {
        reader.requires_latest(span, &format!("`{{{{{name}}}}}`"));
        return Piece::Literal(String::new());
    }
    match reader.library.path(&path_of(name)) {
        Ok(path) => {
            reader.check_path(span, &path, around);
            Piece::Reference { written: name.clone(), path }
        }
        Err(why) => {
            let help = "it looks like {{steps.NAME.response.structuredContent.id}}";
            reader.error(span, format!("`{{{{{name}}}}}` is not a valid reference: {why}"), help);
            Piece::Literal(String::new())
        }
    }
}

/// `steps.log-in.response` means `$.steps['log-in'].response`, for the name of a step may hold a `-`.
fn path_of(name: &str) -> String {
    let mut words = name.splitn(3, '.');
    match (words.next(), words.next(), words.next()) {
        (Some(root), Some(first), Some(rest)) if first.contains('-') => format!("$.{root}['{first}'].{rest}"),
        (Some(root), Some(first), None) if first.contains('-') => format!("$.{root}['{first}']"),
        _ => format!("$.{name}"),
    }
}

/// Arguments: a map, or nothing at all.
pub(super) fn arguments(node: Option<&Node>, key: &str, reader: &mut Reader<'_>, around: &Around) -> Draft {
    match node {
        None => Draft(Sketch::Ready(Value::Object(Map::new()))),
        Some(node) => {
            if !matches!(node.data, Data::Map(_)) {
                reader.mismatch(node, key, "a map of arguments");
            }
            draft(node, reader, around)
        }
    }
}
