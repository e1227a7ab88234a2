//! `lock`: what is written once is compared later, item by item.

use crate::world::{World, fixture};

#[test]
fn a_server_that_does_more_than_it_did_is_told_item_by_item() {
    let server = fixture();
    let (honest, leaky) = (notes(&server, true), notes(&server, false));
    let Some(world) = locked(&honest) else { return };
    let first = world.read("wallfacer.lock");
    world.run(&[&["lock", "--seed", "7"], &honest[..]].concat());
    let second = world.read("wallfacer.lock");
    assert_eq!(first, second, "a lock does not depend on the seed");
    let same = world.run(&[&["lock", "--check"], &honest[..]].concat());
    assert_eq!(same.code, Some(0), "{same}");
    let widened = world.run(&[&["lock", "--check"], &leaky[..]].concat());
    assert_eq!(widened.code, Some(1), "{widened}");
    assert!(
        widened.stdout.contains("widened  format_note: it does now: connect collect.example:80"),
        "{widened}"
    );
    let declared = world.run(&[&["lock", "--check", "--fail-on", "changed"], &leaky[..]].concat());
    assert_eq!(declared.code, Some(0), "{declared}");
}

#[test]
fn what_is_not_there_cannot_be_compared_with() {
    let outcome = World::new().run(&["lock", "--check", "--demo"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("wallfacer.lock"), "{outcome}");
}

#[test]
fn every_run_beside_a_lock_tells_what_is_other_than_it_says() {
    let server = fixture();
    let (honest, leaky) = (notes(&server, true), notes(&server, false));
    let Some(world) = locked(&honest) else { return };
    let same = world.run(&[&["behave"], &honest[..]].concat());
    assert_eq!(same.code, Some(0), "{same}");
    for command in [&["behave"][..], &["ci", "--iterations", "4"]] {
        let widened = world.run(&[command, &["--format", "json"], &leaky[..]].concat());
        assert_eq!(widened.code, Some(1), "{widened}");
        assert_eq!(
            drift(&widened.json()),
            [
                "format_note: widened since it was locked: it does now: connect collect.example:80",
                "format_note: widened since it was locked: it does now: read canary"
            ],
            "{command:?}"
        );
    }
    let let_through =
        world.run(&[&["behave", "--fail-on", "changed", "--format", "json"], &leaky[..]].concat());
    assert_eq!(drift(&let_through.json()), Vec::<String>::new());
    assert!(let_through.stdout.contains("widened since it was locked"), "{let_through}");
}

#[test]
fn a_tool_that_says_something_else_is_drift_where_nobody_watches_too() {
    let world = World::new();
    let server = fixture();
    let target = [&["--sandbox", "off"], &notes(&server, true)[..]].concat();
    world.run(&[&["lock"], &target[..]].concat());
    let mut before: serde_json::Value = serde_json::from_str(&world.read("wallfacer.lock")).unwrap();
    before["tools"]["format_note"]["description"] = "Something else.".into();
    let world = world.with("other.lock", &before.to_string());
    let same = world.run(&[&["check", "--budget", "4s", "--format", "json"], &target[..]].concat());
    assert_eq!(drift(&same.json()), Vec::<String>::new());
    let changed = world.run(
        &[&["check", "--budget", "4s", "--lock", "other.lock", "--format", "json"], &target[..]].concat(),
    );
    assert_eq!(changed.code, Some(1), "{changed}");
    assert_eq!(
        drift(&changed.json()),
        ["format_note: changed since it was locked: its description is another"]
    );
    let replay = &changed.json()["findings"][0]["replay"];
    assert!(replay.as_str().unwrap().starts_with("wallfacer lock --check --file other.lock -- "), "{replay}");
}

#[test]
fn a_lock_that_is_asked_for_must_be_there() {
    let outcome = World::new().run(&["behave", "--lock", "none.lock", "--demo"]);
    assert_eq!(outcome.code, Some(2), "{outcome}");
    assert!(outcome.stderr.contains("cannot read the lock file `none.lock`: No such file"), "{outcome}");
}

/// A server that takes notes, and sends them away unless it is the honest one.
fn notes(server: &str, honest: bool) -> Vec<&str> {
    ["--", server, "behaviour", "leaky-notes"].into_iter().chain(honest.then_some("--fixed")).collect()
}

/// Where the lock of a server lies; none where the machine does not let what it does be seen.
fn locked(server: &[&str]) -> Option<World> {
    let world = World::new();
    let written = world.run(&[&["lock"], server].concat());
    assert_eq!(written.code, Some(0), "{written}");
    let is_seen = world.read("wallfacer.lock").contains("\"startup\": [");
    wallfacer_fixtures::require("observation", is_seen.then_some(()))?;
    Some(world)
}

/// Each drift, by what it is about.
fn drift(document: &serde_json::Value) -> Vec<String> {
    let findings = document["findings"].as_array().unwrap().iter();
    let mut told: Vec<String> = findings
        .filter(|finding| finding["kind"]["type"] == "drift")
        .map(|finding| {
            format!("{}: {}", finding["tool"].as_str().unwrap(), finding["message"].as_str().unwrap())
        })
        .collect();
    told.sort();
    told
}
