//! `check`: the demo's bugs, with lines that show them again; and that nothing passes which was not tested.

use serde_json::Value;
use wallfacer_fixtures::TEN_BUGS;

use crate::world::{Outcome, World, fixture};

/// Short, because the fixtures answer at once or never.
const TIMES: [&str; 4] = ["--timeout", "1s", "--budget", "60s"];

fn check(world: &World, args: &[&str]) -> Outcome {
    world.run(&[&["check"], &TIMES[..], args].concat())
}

#[test]
fn the_bugs_of_the_demo_are_found_and_their_replay_lines_show_them_again() {
    let world = World::new();
    let found = check(&world, &["--demo", "--format", "json"]);
    assert_eq!(found.code, Some(1), "{found}");
    let document = found.json();
    let findings = document["findings"].as_array().unwrap();
    let mut kinds: Vec<_> =
        findings.iter().map(|finding| finding["kind"]["type"].as_str().unwrap()).collect();
    kinds.sort();
    let wanted = ["crash", "hang", "property_failure", "protocol_error", "schema_violation", "state_leak"];
    assert_eq!(kinds, wanted, "{found}");
    for finding in findings {
        let line = finding["replay"].as_str().unwrap();
        let words: Vec<&str> = line.strip_prefix("wallfacer ").unwrap().split(' ').collect();
        let again = world.run(&words);
        assert_eq!(again.code, Some(1), "{line}: {again}");
        assert!(again.stdout.contains("STILL FAILS"), "{again}");
    }
}

#[test]
fn each_of_ten_bugs_is_told_once_and_nothing_of_the_twin() {
    let found = check_notes(&[]);
    assert_eq!(found.code, Some(1), "{found}");
    let document = found.json();
    let mut seen: Vec<(String, Option<String>, String)> = document["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| {
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let kind = text(&finding["kind"]["type"]).unwrap();
            (kind, text(&finding["tool"]), text(&finding["severity"]).unwrap())
        })
        .collect();
    seen.sort();
    let wanted: Vec<_> = TEN_BUGS
        .iter()
        .map(|bug| (bug.kind.to_owned(), bug.tool.map(str::to_owned), bug.severity.to_owned()))
        .collect();
    assert_eq!(seen, wanted, "{found}");
    let twin = check_notes(&["--fixed"]);
    assert_eq!(twin.json()["findings"], serde_json::json!([]), "{twin}");
}

/// Checks the small server for notes, which is given a directory and a secret.
fn check_notes(more: &[&str]) -> Outcome {
    let world = World::new().with("notes/first.txt", "a note\n");
    let notes = world.here().join("notes");
    let server = fixture();
    let notes = notes.to_str().unwrap();
    let times = ["check", "--format", "json", "--timeout", "1s", "--budget", "100s"];
    let secret = ["--env", "NOTES_API_TOKEN=tok_7d9f2c61a8b34e50", "--"];
    let args = [&times[..], &secret[..], &[server.as_str(), "ten-bugs", "--root", notes], more].concat();
    world.run(&args)
}

#[test]
fn the_rule_files_of_the_project_are_tried_and_named() {
    let rules = "version: 4\ninvariants:\n  - { name: mine.is_loud, tool: choose_volume, input: schema_valid, \
                 assert: [{ kind: exists, path: $.response.loud }] }\n  - { name: mine.is_there, tool: no_such, \
                 fixed: {}, assert: [{ kind: exists, path: $.response }] }\n";
    let server = fixture();
    let args = ["--format", "json", "--", &server, "flaw", "ignores-maximum", "--fixed"];
    for name in ["invariants.yaml", "wallfacer.rules.yaml"] {
        let outcome = check(&World::new().with(name, rules), &args);
        assert_eq!(outcome.code, Some(1), "{outcome}");
        let document = outcome.json();
        assert_eq!(document["rules"]["files"], serde_json::json!([name]), "{outcome}");
        assert_eq!(document["findings"][0]["kind"]["invariant"], "mine.is_loud", "{outcome}");
        assert!(document["not_tested"].to_string().contains("mine.is_there"), "{outcome}");
    }
}

#[test]
fn a_run_says_what_became_of_what_was_found_before() {
    let world = World::new();
    let server = fixture();
    let run = |more: &[&str]| {
        let flags = ["--env", "MODE=x", "--severity-threshold", "low", "--format", "json", "--", &server];
        check(&world, &[&flags[..], &["flaw", "ignores-maximum"], more].concat()).json()
    };
    let first = run(&[]);
    let id = first["findings"][0]["id"].clone();
    let again = run(&[]);
    assert_eq!(again["stored"][0]["id"], id, "{again}");
    assert_eq!(again["stored"][0]["became"], "still_there", "{again}");
}

#[test]
fn a_correct_server_passes_and_what_was_not_tested_is_told() {
    let server = ["--", &fixture(), "flaw", "ignores-maximum", "--fixed"];
    let outcome = check(&World::new(), &[&["--exclude", "average_of"], &server[..]].concat());
    assert_eq!(outcome.code, Some(0), "{outcome}");
    for word in ["PASSED", "Tested", "choose_volume", "Not tested"] {
        assert!(outcome.stdout.contains(word), "{word}: {outcome}");
    }
}

#[test]
fn nothing_passes_that_was_not_tested() {
    let outcome = check(&World::new(), &["--exclude", "*", "--", &fixture(), "flaw", "ignores-maximum"]);
    assert_eq!(outcome.code, Some(3), "{outcome}");
    assert!(outcome.stdout.starts_with("NOT TESTED"), "{outcome}");
    assert!(!outcome.stdout.contains("PASSED"), "{outcome}");
}

#[test]
fn a_pattern_that_fits_no_tool_is_an_error_that_names_the_nearest() {
    let server = fixture();
    for command in [
        &["check"][..],
        &["ci"],
        &["fuzz"],
        &["behave"],
        &["torture"],
        &["differential"],
        &["property", "--pack-all"],
    ] {
        let asked = ["--include", "chose_volume", "--", &server, "flaw", "ignores-maximum"];
        let outcome = World::new().run(&[command, &asked].concat());
        outcome.assert_fails(2);
        let told = "no tool matches `chose_volume`; did you mean `choose_volume`?";
        assert!(outcome.stderr.contains(told), "{outcome}");
    }
}

#[test]
fn the_configuration_weighs_findings() {
    let text = |severity: &str| {
        let server = fixture();
        format!(
            "[target]\nkind = \"stdio\"\ncommand = \"{server}\"\nargs = [\"flaw\", \"ignores-maximum\"]\n\n\
             [severity]\naccepted_invalid = \"{severity}\"\n"
        )
    };
    for (severity, code) in [("low", 0), ("high", 1)] {
        let outcome = check(&World::new().with("wallfacer.toml", &text(severity)), &[]);
        assert_eq!(outcome.code, Some(code), "{outcome}");
        assert!(outcome.stdout.contains(&format!("1  {severity}  accepted_invalid")), "{outcome}");
    }
}

#[test]
fn a_time_limit_for_no_tool_of_the_server_is_told() {
    let server = fixture();
    let times =
        ["check", "--budget", "5s", "--tool-timeout", "scal_page=3s", "--tool-timeout", "scan_page=3s"];
    let outcome = World::new()
        .run(&[&times[..], &["--format", "json", "--", &server, "flaw", "slow-in-company"]].concat());
    let note = "a time limit has no effect: no tool matches `scal_page`; did you mean `scan_page`?";
    let told = outcome.json()["notes"].to_string();
    assert!(told.contains(note) && told.matches("a time limit").count() == 1, "{outcome}");
}
