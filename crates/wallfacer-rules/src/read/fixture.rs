//! Reads `test_fixtures:`, what a rule or a sequence is tried on without a server.

use super::desk::{Desk, LATEST};
use super::fields::{Fields, Keys};
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

pub(super) fn fixtures(node: Option<&Node>, desk: &mut Desk<'_>) -> Vec<Fixture> {
    let items = node.map(|node| desk.list(node, "test_fixtures")).unwrap_or_default();
    items.iter().filter_map(|item| fixture(item, desk)).collect()
}

pub(super) fn sequence_fixtures(node: Option<&Node>, desk: &mut Desk<'_>) -> Vec<SequenceFixture> {
    let items = node.map(|node| desk.list(node, "test_fixtures")).unwrap_or_default();
    items.iter().filter_map(|item| sequence_fixture(item, desk)).collect()
}

fn fixture(node: &Node, desk: &mut Desk<'_>) -> Option<Fixture> {
    let fields = Fields::of(node, &FIXTURE, desk)?;
    let name = fields.required("name", desk).and_then(|node| desk.text(node, "name"));
    let expect = expect(&fields, desk);
    // A rule about descriptions alone is tried on a tool, not on an answer.
    if fields.get("tool").is_none() {
        fields.required("response", desk)?;
    }
    let mut json = |key: &str| fields.get(key).map(|node| desk.json(node, key));
    let (input, response, steps) = (json("input"), json("response"), json("steps"));
    let (tool, effects, canary, marker) = (json("tool"), json("effects"), json("canary"), json("marker"));
    Some(Fixture {
        name: name?,
        expect: expect?,
        input,
        response: response.unwrap_or_default(),
        tool,
        field: fields.text("field", desk),
        effects,
        steps: steps.unwrap_or_default(),
        canary,
        marker,
        latency: fields.get("latency").and_then(|node| desk.duration(node, "latency")),
        can_be_whole: desk.version >= LATEST,
    })
}

fn sequence_fixture(node: &Node, desk: &mut Desk<'_>) -> Option<SequenceFixture> {
    let fields = Fields::of(node, &SEQUENCE_FIXTURE, desk)?;
    let name = fields.required("name", desk).and_then(|node| desk.text(node, "name"));
    let items = fields.required("responses", desk).map(|node| desk.list(node, "responses"))?;
    let responses = items.iter().map(|response| desk.json(response, "responses")).collect();
    let expect = expect(&fields, desk);
    let mut json = |key: &str| fields.get(key).map(|node| desk.json(node, key));
    let (canary, marker) = (json("canary"), json("marker"));
    Some(SequenceFixture { name: name?, expect: expect?, responses, canary, marker })
}

fn expect(fields: &Fields<'_>, desk: &mut Desk<'_>) -> Option<Expect> {
    let known = [Expect::Pass, Expect::Fail, Expect::Unknown].map(|expect| (expect.name(), expect));
    let node = fields.required("expect", desk)?;
    let expect = desk.choice(node, "expect", &known)?;
    if expect == Expect::Unknown && desk.version < LATEST {
        desk.requires_latest(node.span, "`expect: unknown`");
    }
    Some(expect)
}
