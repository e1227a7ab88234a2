//! `lock`: what is written once is compared later, item by item.

use crate::world::{World, fixture};

#[test]
fn a_server_that_does_more_than_it_did_is_told_item_by_item() {
    let world = World::new();
    let server = fixture();
    let honest = ["--", &server, "behaviour", "leaky-notes", "--fixed"];
    let leaky = ["--", &server, "behaviour", "leaky-notes"];
    let written = world.run(&[&["lock"], &honest[..]].concat());
    assert_eq!(written.code, Some(0), "{written}");
    let first = std::fs::read_to_string(world.here().join("wallfacer.lock")).unwrap();
    if wallfacer_fixtures::require("observation", first.contains("\"startup\": [").then_some(())).is_none() {
        return;
    }
    world.run(&[&["lock", "--seed", "7"], &honest[..]].concat());
    let second = std::fs::read_to_string(world.here().join("wallfacer.lock")).unwrap();
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
