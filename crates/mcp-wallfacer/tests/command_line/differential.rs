//! `differential`: what is learned of one version is held against the next.

use crate::world::{World, assert_shown, fixture};

fn differential(world: &World, more: &[&str], server: &[&str]) -> crate::world::Outcome {
    let fixture = fixture();
    world.run(&[&["differential"], more, &["--", &fixture], server].concat())
}

#[test]
fn what_is_learned_is_written_once_and_a_later_version_is_held_against_it() {
    let world = World::new();
    let learned = differential(&world, &["--learn"], &["change", "another-type", "--fixed"]);
    assert_shown("differential_learn", &learned);
    assert_shown("differential_file", world.read("wallfacer-schemas.json"));
    let same = differential(&world, &["--seed", "3"], &["change", "another-type", "--fixed"]);
    assert_eq!(same.code, Some(0), "{same}");
    let lax = differential(&world, &[], &["change", "another-type"]);
    assert_eq!(lax.code, Some(0), "what nobody promised is low: {lax}");
    let strict = ["--severity-threshold", "low", "--format", "json"];
    let found = differential(&world, &strict, &["change", "another-type"]);
    assert_eq!(found.code, Some(1), "{found}");
    let document = found.json();
    let finding = &document["findings"][0];
    assert_eq!((&finding["kind"]["type"], &finding["severity"]), (&"schema_violation".into(), &"low".into()));
    let again = world.run(&["replay", finding["id"].as_str().unwrap()]);
    assert!(again.code == Some(1) && again.stdout.contains("STILL FAILS"), "{again}");
}

#[test]
fn drift_of_a_declaration_is_a_finding_that_replays() {
    let world = World::new();
    let learned =
        differential(&world, &["--learn", "--format", "json"], &["change", "lost-declaration", "--fixed"]);
    assert_eq!((learned.code, &learned.json()["declared"]), (Some(0), &2.into()), "{learned}");
    let found = differential(&world, &["--format", "json"], &["change", "lost-declaration"]);
    assert_eq!(found.code, Some(1), "{found}");
    let finding = &found.json()["findings"][0];
    assert_eq!(finding["message"], "`water_level` declared an output schema, and declares none any more");
    let again = world.run(&["replay", finding["id"].as_str().unwrap()]);
    assert!(again.stdout.contains("STILL FAILS"), "{again}");
}

#[test]
fn other_commands_judge_by_what_was_learned_of_a_server_of_the_same_name() {
    let world = World::new();
    differential(&world, &["--learn"], &["change", "lost-declaration", "--fixed"]);
    let fuzz = |world: &World| {
        let fixture = fixture();
        let typed =
            ["fuzz", "--iterations", "5", "--format", "json", "--", &fixture, "change", "lost-declaration"];
        world.run(&typed)
    };
    let found = fuzz(&world);
    assert_eq!(found.json()["findings"][0]["kind"]["type"], "drift", "{found}");
    let other = world.read("wallfacer-schemas.json").replace("wallfacer-fixture", "another");
    let world = world.with("wallfacer-schemas.json", &other);
    let found = fuzz(&world);
    assert!(found.code == Some(0) && found.stdout.contains("with another name"), "{found}");
    let world = world.with("wallfacer-schemas.json", "{");
    let found = fuzz(&world);
    assert!(found.code == Some(0) && found.stderr.contains("is left out"), "{found}");
}

#[test]
fn without_anything_learned_the_declared_schemas_are_held_and_the_rest_is_said_to_be_open() {
    let world = World::new();
    let outcome = differential(&world, &["--format", "json"], &["change", "another-type"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let open = outcome.json()["not_tested"].clone();
    let about = |what: &str| open.as_array().unwrap().iter().any(|not| not["what"] == what);
    assert!(about("the answers of water_level") && !about("the answers of average_of"), "{open}");
}

#[test]
fn a_file_that_is_not_there_or_holds_something_else_is_said_before_anything_is_started() {
    let world = World::new().with("other.json", "{}");
    let missing = world.run(&["differential", "--file", "gone.json", "--demo"]);
    missing.assert_fails(2);
    let wrong = world.run(&["differential", "--file", "other.json", "--demo"]);
    wrong.assert_fails(2);
    assert_shown("differential_bad_files", format!("{missing}\n{wrong}"));
}

#[test]
fn two_servers_that_disagree_are_told_apart_and_the_finding_shows_again() {
    let world = World::new();
    let other = format!("'{}' change another-value --fixed", fixture());
    let found = differential(&world, &["--against", &other], &["change", "another-value"]);
    assert_eq!(found.code, Some(1), "{found}");
    assert!(
        found.stdout.contains("here and") && found.stdout.contains("$.structuredContent.centimetres"),
        "{found}"
    );
    let found =
        differential(&world, &["--against", &other, "--format", "json"], &["change", "another-value"]).json();
    let finding = &found["findings"][0];
    let again = world.run(&["replay", finding["id"].as_str().unwrap()]);
    assert!(again.stdout.contains("STILL FAILS"), "{again}");
    let ignored = ["--against", &other, "--ignore", "$..centimetres"];
    let silent = differential(&world, &ignored, &["change", "another-value"]);
    assert_eq!(silent.code, Some(0), "{silent}");
    let world = world.with("wallfacer.toml", "[differential]\nignore = [\"$..centimetres\"]\n");
    let silent = differential(&world, &["--against", &other], &["change", "another-value"]);
    assert_eq!(silent.code, Some(0), "{silent}");
}

#[test]
fn a_server_is_held_against_itself_in_the_other_era() {
    let world = World::new();
    let eras = ["--protocol", "2026-07-28", "--against-protocol", "2025-11-25", "--format", "json"];
    let outcome = differential(&world, &eras, &["change", "clock"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    let notes = outcome.json()["notes"].to_string();
    assert!(
        notes.contains("which speaks 2025-11-25") && notes.contains("$.structuredContent.ticket"),
        "{notes}"
    );
}

#[test]
fn what_cannot_be_compared_is_said_before_anything_is_started() {
    let world = World::new();
    let typed = [
        ["--against", "'node"],
        ["--against", ""],
        ["--against", "http://localhost:1/mcp node"],
        ["--against-protocol", "2020-01-01"],
        ["--ignore", "time"],
    ];
    let told: Vec<String> = typed
        .iter()
        .map(|more| {
            let outcome = world.run(&[&["differential", "--demo"], &more[..]].concat());
            outcome.assert_fails(2);
            outcome.to_string()
        })
        .collect();
    assert_shown("differential_bad_against", told.join("\n"));
}
