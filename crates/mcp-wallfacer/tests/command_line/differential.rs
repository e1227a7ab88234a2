//! `differential`: what is learned of one version is held against the next.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::world::{Outcome, World, assert_shown, fixture};

fn differential(world: &World, more: &[&str], server: &[&str]) -> Outcome {
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

#[test]
fn a_disagreement_is_made_smaller_with_both_servers() {
    let world = World::new();
    let other = format!("'{}' change another-value --fixed", fixture());
    let found =
        differential(&world, &["--against", &other, "--format", "json"], &["change", "another-value"]).json();
    let id = found["findings"][0]["id"].as_str().unwrap();
    let sent = |world: &World| {
        let stored = world.run(&["corpus", "show", id, "--format", "json"]).json();
        stored["repro"]["replayable"]["case"]["steps"][0]["call"]["params"]["arguments"].clone()
    };
    assert_eq!(sent(&world), json!({ "day": 1 }));
    let file = format!(".wallfacer/corpus/water_level/{id}.json");
    let mut stored: Value = serde_json::from_str(&world.read(&file)).unwrap();
    stored["repro"]["replayable"]["case"]["steps"][0]["call"]["params"]["arguments"]["day"] = json!(30);
    let world = world.with(&file, &stored.to_string());
    assert_eq!(sent(&world), json!({ "day": 30 }));
    let smaller = world.run(&["corpus", "minimize", id, "--trust", "--format", "json"]);
    assert_eq!((smaller.code, &smaller.json()["verdict"]), (Some(0), &"smaller".into()), "{smaller}");
    assert_eq!(sent(&world), json!({ "day": 1 }));
    let same = world.run(&[
        "corpus",
        "minimize",
        id,
        "--trust",
        "--",
        &fixture(),
        "change",
        "another-value",
        "--fixed",
    ]);
    assert!(same.code == Some(0) && same.stdout.contains("FIXED"), "{same}");
}

#[test]
fn a_wrong_place_of_the_configuration_is_shown_where_it_stands() {
    let world = World::new().with("wallfacer.toml", "[differential]\nignore = [\"$..id\", \"updated_at\"]\n");
    let outcome = world.run(&["differential", "--against", "node server.js", "--demo"]);
    outcome.assert_fails(2);
    assert_shown("differential_bad_ignore", outcome);
}

/// A server with these tools that gives the same answer to each call.
fn scripted(world: World, tools: &Value, answer: &Value) -> World {
    world.with("script.json", &json!({ "tools": tools, "answers": [answer] }).to_string())
}

fn held(world: &World, more: &[&str]) -> Outcome {
    let script = world.here().join("script.json");
    let server = ["rule", "as-written", "--script", script.to_str().unwrap()];
    differential(world, &[&["--iterations", "3"], more].concat(), &server)
}

fn promising(name: &str) -> Value {
    let promised = json!({ "type": "object", "required": ["total"] });
    json!({ "name": name, "description": "Counts.", "inputSchema": { "type": "object" }, "outputSchema": promised })
}

#[test]
fn every_tool_that_breaks_its_promise_is_one_finding_whose_details_hold_the_answer() {
    let answer = json!({ "content": [], "structuredContent": { "sum": 1 } });
    let world = scripted(World::new(), &json!([promising("count"), promising("tally")]), &answer);
    let outcome = held(&world, &["--format", "json"]);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let document = outcome.json();
    let findings = document["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["kind"]["type"] == "schema_violation"), "{outcome}");
    let told: BTreeSet<&str> = findings.iter().map(|finding| finding["message"].as_str().unwrap()).collect();
    let broken = "breaks its schema: \"total\" is a required property";
    let wanted = ["count", "tally"].map(|tool| format!("the output of `{tool}` {broken}"));
    assert_eq!(told, wanted.iter().map(String::as_str).collect());
    assert_eq!(findings[0]["evidence"][0]["text"], "{\"sum\":1}");
}

#[test]
fn severities_of_the_configuration_hold_for_broken_promises_and_decide_the_exit() {
    let answer = json!({ "content": [], "structuredContent": { "sum": 1 } });
    let world = scripted(World::new(), &json!([promising("count")]), &answer);
    let world = world.with("wallfacer.toml", "[severity]\nschema_violation = \"low\"\n");
    let outcome = held(&world, &["--format", "json"]);
    assert_eq!(
        (outcome.code, &outcome.json()["findings"][0]["severity"]),
        (Some(0), &"low".into()),
        "{outcome}"
    );
    let world = world.with("wallfacer.toml", "[severity]\nschema_violation = \"critical\"\n");
    let outcome = held(&world, &["--severity-threshold", "critical"]);
    assert_eq!(outcome.code, Some(1), "{outcome}");
}

#[test]
fn an_answer_that_is_an_error_promises_nothing() {
    let answer =
        json!({ "isError": true, "content": [{ "type": "text", "text": "There is nothing to count." }] });
    let outcome = held(&scripted(World::new(), &json!([promising("count")]), &answer), &["--format", "json"]);
    assert_eq!(outcome.json()["findings"], json!([]), "{outcome}");
}

#[test]
fn a_schema_that_cannot_be_used_is_told_and_is_no_finding() {
    let mut tool = promising("count");
    tool["outputSchema"]["type"] = json!("objekt");
    let answer = json!({ "content": [], "structuredContent": { "sum": 1 } });
    let outcome = held(&scripted(World::new(), &json!([tool]), &answer), &["--format", "json"]);
    let document = outcome.json();
    assert_eq!(document["findings"], json!([]), "{outcome}");
    let told = document["not_tested"].as_array().unwrap().iter();
    let why = told.clone().find(|not| not["what"] == "the answers of count").map(|not| &not["why"]);
    assert!(why.is_some_and(|why| why.as_str().unwrap().starts_with("its output schema cannot be used")));
}

#[test]
fn what_looks_destructive_is_left_out_and_named_unless_it_is_allowed() {
    let answer = json!({ "content": [], "structuredContent": { "sum": 1 } });
    let tools = json!([promising("count"), promising("delete_count")]);
    let world = scripted(World::new(), &tools, &answer);
    let found = |world: &World| {
        let outcome = held(world, &["--sandbox", "off", "--format", "json"]);
        let document = outcome.json();
        let tools: BTreeSet<String> = document["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| finding["tool"].as_str().unwrap().to_owned())
            .collect();
        (tools, document["not_tested"].to_string())
    };
    let (tools, untested) = found(&world);
    assert_eq!(tools, BTreeSet::from(["count".to_owned()]));
    assert!(untested.contains("delete_count"), "{untested}");
    let world = world.with("wallfacer.toml", "[allow_destructive]\ntools = [\"^delete_count$\"]\n");
    assert_eq!(found(&world).0.len(), 2);
}

#[test]
fn a_server_that_ends_on_a_call_is_a_finding_and_the_other_tools_are_still_held() {
    let world = World::new();
    let outcome = differential(&world, &["--format", "json"], &["flaw", "crash-on-every-call"]);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let document = outcome.json();
    let kinds: Vec<&Value> =
        document["findings"].as_array().unwrap().iter().map(|finding| &finding["kind"]["type"]).collect();
    assert_eq!(kinds, ["crash"]);
    let tools = document["tools"].as_object().unwrap();
    let worked = tools.values().filter(|tool| tool["valid_completed"].as_u64() > Some(0)).count();
    assert!(tools.len() > 1 && worked == tools.len() - 1, "{}", document["tools"]);
}
