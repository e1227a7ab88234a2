//! Reads one item of `invariants`, and the part of it that a rule about every tool has as well.

use super::assertion::assertions;
use super::data::arguments;
use super::fields::{Fields, Keys};
use super::fixture::fixtures;
use super::generate::generate;
use super::reader::{Around, LATEST, Reader};
use crate::assertion::Assertion;
use crate::fixture::Fixture;
use crate::rule::{Input, Origin, Rule};
use crate::source::Span;
use crate::written::written;
use crate::yaml::Node;
use std::collections::BTreeSet;
use std::sync::Arc;

const RULE: Keys = Keys {
    what: "a rule",
    names: &[
        ("name", 1),
        ("description", 1),
        ("tool", 1),
        ("unlisted", 4),
        ("fixed", 1),
        ("generate", 1),
        ("input", 1),
        ("cases", 1),
        ("repeat", 4),
        ("assert", 1),
        ("test_fixtures", 1),
    ],
};
const APPLY: Keys = Keys {
    what: "`apply`",
    names: &[
        ("input", 1),
        ("fixed", 1),
        ("generate", 1),
        ("cases", 1),
        ("repeat", 4),
        ("assert", 1),
        ("test_fixtures", 1),
    ],
};
/// More inputs for one rule than any run has time for.
const MAX_CASES: u32 = 1_000_000;
/// Determinism shows in a few calls, or not at all.
const MAX_REPEAT: u32 = 100;

/// What `apply` and a rule have in common.
#[derive(Debug)]
pub(crate) struct Body {
    pub(crate) input: Input,
    pub(crate) cases: Option<u32>,
    pub(crate) repeat: u32,
    pub(crate) assertions: Vec<Assertion>,
    pub(crate) fixtures: Vec<Fixture>,
}

pub(crate) fn rule(node: &Node, reader: &mut Reader<'_>) -> Option<Rule> {
    let fields = Fields::of(node, &RULE, reader)?;
    let name = fields.required("name", reader).and_then(|node| reader.text(node, "name"));
    let tool = fields.required("tool", reader).and_then(|node| reader.text(node, "tool"));
    let description = fields.text("description", reader);
    let unlisted = fields.get("unlisted").map_or(Some(false), |node| reader.boolean(node, "unlisted"));
    let body = body_of(&fields, reader)?;
    let written = written("invariants", node, reader.version);
    let rule = body.into_rule(name?, description, tool?, origin(node.span, reader), written);
    Some(Rule { unlisted: unlisted?, ..rule })
}

pub(crate) fn body(node: &Node, reader: &mut Reader<'_>) -> Option<Body> {
    let fields = Fields::of(node, &APPLY, reader)?;
    body_of(&fields, reader)
}

pub(super) fn origin(span: Span, reader: &Reader<'_>) -> Origin {
    Origin { file: reader.source.name.clone(), line: reader.source.line(span) }
}

/// Names tell findings apart, so each is given once.
pub(crate) fn check_name(seen: &mut BTreeSet<String>, name: &str, span: Span, reader: &mut Reader<'_>) {
    if seen.insert(name.to_owned()) {
        return;
    }
    let (message, help) =
        (format!("the name `{name}` is given twice"), "findings are told apart by it; choose another");
    if reader.version < LATEST { reader.warn(span, message, help) } else { reader.error(span, message, help) }
}

impl Body {
    pub(crate) fn into_rule(
        self,
        name: String,
        description: Option<String>,
        tool: String,
        origin: Origin,
        written: Arc<str>,
    ) -> Rule {
        let Body { input, cases, repeat, assertions, fixtures } = self;
        let unlisted = false;
        Rule {
            name,
            description,
            tool,
            unlisted,
            input,
            cases,
            repeat,
            assertions,
            fixtures,
            origin,
            written,
        }
    }
}

fn body_of(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Body> {
    let repeat = fields.get("repeat").map_or(Some(1), |node| reader.count(node, "repeat", 1, MAX_REPEAT));
    let mut around = Around::default();
    if repeat.is_some_and(|repeat| repeat > 1) {
        around.steps.push(Rule::FIRST.into());
    }
    let input = input(fields, reader);
    let cases = fields.get("cases").map(|node| reader.count(node, "cases", 1, MAX_CASES));
    let assertions = claims(fields, reader, &around);
    let fixtures = fixtures(fields.get("test_fixtures"), reader);
    Some(Body { input: input?, cases: cases.flatten(), repeat: repeat?, assertions: assertions?, fixtures })
}

fn claims(fields: &Fields<'_>, reader: &mut Reader<'_>, around: &Around) -> Option<Vec<Assertion>> {
    let node = fields.required("assert", reader)?;
    let before = reader.problems.len();
    let claims = assertions(node, "assert", reader, around);
    if claims.is_empty() && reader.problems.len() == before {
        let (message, help) = (
            "the rule claims nothing, so it can never fail",
            "add an assertion, such as { kind: exists, path: $.response.content }",
        );
        let span = fields.key_span("assert");
        if reader.version < LATEST {
            reader.warn(span, message, help)
        } else {
            reader.error(span, message, help)
        }
    }
    Some(claims)
}

fn input(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Input> {
    let schema_valid = match fields.get("input") {
        Some(node) => reader.choice(node, "input", &[("schema_valid", true)])?,
        None => false,
    };
    // Only steps of a sequence come before a call.
    let around = Around::default();
    match (fields.even_null("fixed"), fields.get("generate")) {
        (Some(_), Some(_)) => {
            reader.error(
                fields.key_span("generate"),
                "both `fixed` and `generate` are given",
                "keep one of the two",
            );
            None
        }
        (fixed, None) if schema_valid => {
            let fixed = fixed.filter(|node| node.data != crate::yaml::Data::Null);
            Some(Input::SchemaValid { over: arguments(fixed, "fixed", reader, &around), made: None })
        }
        (None, Some(node)) if schema_valid => {
            // Earlier versions wanted one of the two to be written, and did not look at it.
            let made = generate(node, reader);
            let made = Some(made).filter(|_| reader.version >= LATEST);
            Some(Input::SchemaValid { over: arguments(None, "fixed", reader, &around), made })
        }
        (Some(fixed), None) => {
            let fixed = Some(fixed).filter(|node| node.data != crate::yaml::Data::Null);
            Some(Input::Fixed(arguments(fixed, "fixed", reader, &around)))
        }
        (None, Some(node)) => Some(Input::Generated(generate(node, reader))),
        (None, None) => {
            let help = "add `fixed: { … }`, `generate: { … }` or `input: schema_valid`";
            reader.error(fields.span, "it is not said what is sent", help);
            None
        }
    }
}
