//! Reads one item of `sequences`; a reference to a step that does not come before is found here.

use super::assertion::assertions;
use super::data::arguments;
use super::fields::{Fields, Keys};
use super::fixture::sequence_fixtures;
use super::reader::{Around, LATEST, Reader};
use super::rule::origin;
use crate::sequence::{Client, Outcome, Sequence, Step};
use crate::written::written;
use crate::yaml::Node;

const SEQUENCE: Keys = Keys {
    what: "a sequence",
    names: &[
        ("name", 1),
        ("description", 1),
        ("steps", 1),
        ("cleanup", 4),
        ("leak", 4),
        ("test_fixtures", 1),
    ],
};
const STEP: Keys = Keys {
    what: "a step",
    names: &[
        ("call", 1),
        ("with", 1),
        ("bind", 1),
        ("expect", 1),
        ("assert", 1),
        ("client", 4),
        ("repeat", 4),
        ("timeout", 4),
        ("precondition", 4),
    ],
};
const CLEANUP: Keys =
    Keys { what: "a cleanup step", names: &[("call", 1), ("with", 1), ("client", 4), ("timeout", 4)] };
/// Sequences are written by hand; a longer one is several.
const MAX_STEPS: usize = 1000;
const MAX_REPEAT: u32 = 1000;

pub(crate) fn sequence(node: &Node, reader: &mut Reader<'_>) -> Option<Sequence> {
    let fields = Fields::of(node, &SEQUENCE, reader)?;
    let name = fields.required("name", reader).and_then(|node| reader.text(node, "name"));
    let items = fields.required("steps", reader).map(|node| reader.list(node, "steps")).unwrap_or_default();
    if items.is_empty() || items.len() > MAX_STEPS {
        let message = format!("`steps` must list from 1 to {MAX_STEPS} steps");
        reader.error(fields.key_span("steps"), message, "begin each step with `- call: TOOL`");
        return None;
    }
    let mut around = Around::default();
    let steps: Vec<_> = items.iter().map(|item| step(item, &STEP, reader, &mut around)).collect();
    let items = fields.get("cleanup").map(|node| reader.list(node, "cleanup")).unwrap_or_default();
    let cleanup: Vec<_> = items.iter().map(|item| step(item, &CLEANUP, reader, &mut around)).collect();
    let leak = fields.get("leak").map_or(Some(false), |node| reader.boolean(node, "leak"));
    Some(Sequence {
        name: name?,
        description: fields.text("description", reader),
        steps: steps.into_iter().collect::<Option<_>>()?,
        cleanup: cleanup.into_iter().collect::<Option<_>>()?,
        fixtures: sequence_fixtures(fields.get("test_fixtures"), reader),
        origin: origin(node.span, reader),
        leak: leak?,
        written: written("sequences", node, reader.version),
    })
}

fn step(node: &Node, keys: &Keys, reader: &mut Reader<'_>, around: &mut Around) -> Option<Step> {
    let fields = Fields::of(node, keys, reader)?;
    let call = fields.required("call", reader).and_then(|node| reader.text(node, "call"));
    let with = arguments(fields.get("with"), "with", reader, around);
    let assertions =
        fields.get("assert").map(|node| assertions(node, "assert", reader, around)).unwrap_or_default();
    let bind = fields.get("bind").and_then(|node| bind(node, reader));
    around.steps.extend(bind.clone());
    let outcomes = [("ok", Outcome::Ok), ("error", Outcome::Error), ("any", Outcome::Any)];
    let expect = optional(&fields, "expect", &outcomes, reader);
    if expect == Some(Outcome::Any) && reader.version < LATEST {
        reader.error(fields.key_span("expect"), "`any` belongs to version 4", "write `version: 4`");
    }
    let precondition =
        fields.get("precondition").map_or(Some(false), |node| reader.boolean(node, "precondition"));
    let client = optional(&fields, "client", &[("main", Client::Main), ("other", Client::Other)], reader);
    let repeat = fields.get("repeat").map_or(Some(1), |node| reader.count(node, "repeat", 1, MAX_REPEAT));
    let timeout = fields.get("timeout").and_then(|node| reader.duration(node, "timeout"));
    Some(Step {
        call: call?,
        with,
        bind,
        expect: expect?,
        assertions,
        client: client?,
        repeat: repeat?,
        timeout,
        precondition: precondition?,
    })
}

fn optional<T: Copy + Default>(
    fields: &Fields<'_>,
    key: &str,
    known: &[(&'static str, T)],
    reader: &mut Reader<'_>,
) -> Option<T> {
    fields.get(key).map_or_else(|| Some(T::default()), |node| reader.choice(node, key, known))
}

/// A name that can stand in `{{steps.NAME.…}}`.
fn bind(node: &Node, reader: &mut Reader<'_>) -> Option<String> {
    let name = reader.text(node, "bind")?;
    let is_name = !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
    if !is_name {
        reader.error(
            node.span,
            format!("`{name}` cannot be the name of a step"),
            "use letters, digits, `_` and `-`",
        );
    }
    is_name.then_some(name)
}
