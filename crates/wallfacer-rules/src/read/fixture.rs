//! Reads `test_fixtures:`, what a rule or a sequence is tried on without a server.

use super::fields::{Fields, Keys};
use super::reader::{LATEST, Reader};
use crate::fixture::{Expect, Fixture, SequenceFixture};
use crate::yaml::Node;

const FIXTURE: Keys = Keys {
    what: "a fixture",
    names: &[
        ("name", 1),
        ("input", 1),
        ("response", 1),
        ("expect", 1),
        ("tool", 4),
        ("field", 4),
        ("effects", 4),
        ("steps", 4),
        ("canary", 4),
        ("marker", 4),
        ("latency", 4),
    ],
};
const SEQUENCE_FIXTURE: Keys = Keys {
    what: "a fixture of a sequence",
    names: &[("name", 1), ("responses", 1), ("expect", 1), ("canary", 4), ("marker", 4)],
};

pub(super) fn fixtures(node: Option<&Node>, reader: &mut Reader<'_>) -> Vec<Fixture> {
    let items = node.map(|node| reader.list(node, "test_fixtures")).unwrap_or_default();
    items.iter().filter_map(|item| fixture(item, reader)).collect()
}

pub(super) fn sequence_fixtures(node: Option<&Node>, reader: &mut Reader<'_>) -> Vec<SequenceFixture> {
    let items = node.map(|node| reader.list(node, "test_fixtures")).unwrap_or_default();
    items.iter().filter_map(|item| sequence_fixture(item, reader)).collect()
}

fn fixture(node: &Node, reader: &mut Reader<'_>) -> Option<Fixture> {
    let fields = Fields::of(node, &FIXTURE, reader)?;
    let name = fields.required("name", reader).and_then(|node| reader.text(node, "name"));
    let expect = expect(&fields, reader);
    // A rule about descriptions alone is tried on a tool, not on an answer.
    if fields.get("tool").is_none() {
        fields.required("response", reader)?;
    }
    let mut json = |key: &str| fields.get(key).map(|node| reader.json(node, key));
    let (input, response, steps) = (json("input"), json("response"), json("steps"));
    let (tool, effects, canary, marker) = (json("tool"), json("effects"), json("canary"), json("marker"));
    Some(Fixture {
        name: name?,
        expect: expect?,
        input,
        response: response.unwrap_or_default(),
        tool,
        field: fields.text("field", reader),
        effects,
        steps: steps.unwrap_or_default(),
        canary,
        marker,
        latency: fields.get("latency").and_then(|node| reader.duration(node, "latency")),
        can_be_whole: reader.version >= LATEST,
    })
}

fn sequence_fixture(node: &Node, reader: &mut Reader<'_>) -> Option<SequenceFixture> {
    let fields = Fields::of(node, &SEQUENCE_FIXTURE, reader)?;
    let name = fields.required("name", reader).and_then(|node| reader.text(node, "name"));
    let items = fields.required("responses", reader).map(|node| reader.list(node, "responses"))?;
    let responses = items.iter().map(|response| reader.json(response, "responses")).collect();
    let expect = expect(&fields, reader);
    let mut json = |key: &str| fields.get(key).map(|node| reader.json(node, key));
    let (canary, marker) = (json("canary"), json("marker"));
    Some(SequenceFixture { name: name?, expect: expect?, responses, canary, marker })
}

fn expect(fields: &Fields<'_>, reader: &mut Reader<'_>) -> Option<Expect> {
    let known = [Expect::Pass, Expect::Fail, Expect::Unknown].map(|expect| (expect.name(), expect));
    let node = fields.required("expect", reader)?;
    let expect = reader.choice(node, "expect", &known)?;
    if expect == Expect::Unknown && reader.version < LATEST {
        reader.requires_latest(node.span, "`expect: unknown`");
    }
    Some(expect)
}
