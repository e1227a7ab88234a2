//! `check`: the demo's bugs, with lines that show them again; and that nothing passes which was not tested.

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
fn a_correct_server_passes_and_what_was_not_tested_is_told() {
    let outcome = check(&World::new(), &["--", &fixture(), "flaw", "ignores-maximum", "--fixed"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    for word in ["PASSED", "Exercised", "choose_volume", "Not tested"] {
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
