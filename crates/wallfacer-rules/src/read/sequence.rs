//! Reads one item of `sequences`; a reference to a step that does not come before is found here.

use super::assertion::assertions;
use super::data::arguments;
use super::desk::{Around, Desk, LATEST};
use super::fields::{Fields, Keys};
use super::fixture::sequence_fixtures;
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

pub(crate) fn sequence(node: &Node, desk: &mut Desk<'_>) -> Option<Sequence> {
    let fields = Fields::of(node, &SEQUENCE, desk)?;
    let name = fields.required("name", desk).and_then(|node| desk.text(node, "name"));
    let items = fields.required("steps", desk).map(|node| desk.list(node, "steps")).unwrap_or_default();
    if items.is_empty() || items.len() > MAX_STEPS {
        let message = format!("`steps` must list from 1 to {MAX_STEPS} steps");
        desk.error(fields.key_span("steps"), message, "begin each step with `- call: TOOL`");
        return None;
    }
    let mut around = Around::default();
    let steps: Vec<_> = items.iter().map(|item| step(item, &STEP, desk, &mut around)).collect();
    let items = fields.get("cleanup").map(|node| desk.list(node, "cleanup")).unwrap_or_default();
    let cleanup: Vec<_> = items.iter().map(|item| step(item, &CLEANUP, desk, &mut around)).collect();
    let leak = fields.get("leak").map_or(Some(false), |node| desk.boolean(node, "leak"));
    Some(Sequence {
        name: name?,
        description: fields.text("description", desk),
        steps: steps.into_iter().collect::<Option<_>>()?,
        cleanup: cleanup.into_iter().collect::<Option<_>>()?,
        fixtures: sequence_fixtures(fields.get("test_fixtures"), desk),
        origin: origin(node.span, desk),
        leak: leak?,
        written: written("sequences", node, desk.version),
    })
}

fn step(node: &Node, keys: &Keys, desk: &mut Desk<'_>, around: &mut Around) -> Option<Step> {
    let fields = Fields::of(node, keys, desk)?;
    let call = fields.required("call", desk).and_then(|node| desk.text(node, "call"));
    let with = arguments(fields.get("with"), "with", desk, around);
    let assertions =
        fields.get("assert").map(|node| assertions(node, "assert", desk, around)).unwrap_or_default();
    let bind = fields.get("bind").and_then(|node| bind(node, desk));
    around.steps.extend(bind.clone());
    let outcomes = [("ok", Outcome::Ok), ("error", Outcome::Error), ("any", Outcome::Any)];
    let expect = optional(&fields, "expect", &outcomes, desk);
    if expect == Some(Outcome::Any) && desk.version < LATEST {
        desk.error(fields.key_span("expect"), "`any` belongs to version 4", "write `version: 4`");
    }
    let precondition =
        fields.get("precondition").map_or(Some(false), |node| desk.boolean(node, "precondition"));
    let client = optional(&fields, "client", &[("main", Client::Main), ("other", Client::Other)], desk);
    let repeat = fields.get("repeat").map_or(Some(1), |node| desk.count(node, "repeat", 1, MAX_REPEAT));
    let timeout = fields.get("timeout").and_then(|node| desk.duration(node, "timeout"));
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
    desk: &mut Desk<'_>,
) -> Option<T> {
    fields.get(key).map_or_else(|| Some(T::default()), |node| desk.choice(node, key, known))
}

/// A name that can stand in `{{steps.NAME.…}}`.
fn bind(node: &Node, desk: &mut Desk<'_>) -> Option<String> {
    let name = desk.text(node, "bind")?;
    let is_name = !name.is_empty()
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'));
    if !is_name {
        desk.error(
            node.span,
            format!("`{name}` cannot be the name of a step"),
            "use letters, digits, `_` and `-`",
        );
    }
    is_name.then_some(name)
}
