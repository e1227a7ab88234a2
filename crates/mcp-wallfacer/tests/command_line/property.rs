//! `property`, `suggest` and `coverage`: rules on a running server, and which of them fit it.

use crate::world::World;

const RULES: &str = include_str!("../../src/demo/invariants.yaml");

#[test]
fn the_rules_of_the_demo_find_its_two_bugs_small_and_again() {
    let world = World::new().with("rules.yaml", RULES);
    let found = world.run(&["property", "rules.yaml", "--demo", "--format", "json"]);
    assert_eq!(found.code, Some(1), "{found}");
    let document = found.json();
    let findings = document["findings"].as_array().unwrap();
    let kinds: Vec<_> = findings.iter().map(|finding| finding["kind"]["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["state_leak", "property_failure"]);
    let smallest = &findings[1]["repro"]["replayable"]["case"]["steps"][0]["call"]["params"]["arguments"];
    assert_eq!(*smallest, serde_json::json!({ "price": 1, "percent": 51 }));
    for finding in findings {
        let again = world.run(&["replay", finding["id"].as_str().unwrap()]);
        assert!(again.stdout.contains("STILL FAILS"), "{again}");
    }
}

#[test]
fn a_crash_does_not_satisfy_a_rule_that_wants_an_error() {
    let rules = "version: 4\ninvariants:\n  - { name: divide.refuses_zero, tool: divide, fixed: { a: 1, b: 0 }, \
                 assert: [{ kind: equals, lhs: $.response.isError, rhs: true }] }\n";
    let world = World::new().with("rules.yaml", rules);
    let found = world.run(&["property", "rules.yaml", "--demo", "--format", "json"]).json();
    let findings = found["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{found}");
    assert_eq!(findings[0]["kind"]["type"], "crash");
    assert_eq!(found["not_tested"][0]["what"], "divide.refuses_zero");
}

#[test]
fn a_rule_about_descriptions_makes_no_call() {
    let rules = "version: 4\nfor_each_tool:\n  - name: \"long.{{tool}}\"\n    apply: { fixed: {}, assert: \
                 [{ kind: length_at_least, path: $.tool.description, value: 1 }] }\n";
    let world = World::new().with("rules.yaml", rules);
    let outcome = world.run(&["property", "rules.yaml", "--demo", "--format", "json"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert_eq!(outcome.json()["summary"]["calls"], 0);
}

#[test]
fn without_rules_there_is_nothing_to_try() {
    let outcome = World::new().run(&["property", "--demo"]);
    outcome.assert_fails(2);
    assert!(outcome.stderr.contains("name a rule file"), "{outcome}");
}

#[test]
fn suggestions_are_told_with_reasons_and_written_where_they_load() {
    let world = World::new();
    let told = world.run(&["suggest", "--demo", "--format", "json"]);
    told.assert_succeeds();
    let suggested = told.json()["suggestions"].as_array().cloned().unwrap();
    assert!(!suggested.is_empty(), "{told}");
    for each in &suggested {
        for (key, is_right) in [
            ("pack", each["pack"].is_string()),
            ("witness_tool", each["witness_tool"].is_string() || each["witness_tool"].is_null()),
            ("param_overrides", each["param_overrides"].is_object()),
            ("reason", each["reason"].is_string()),
        ] {
            assert!(is_right, "{key}: {each}");
        }
    }
    let written = world.run(&["suggest", "--demo", "--write"]);
    assert!(written.code == Some(0) && written.stderr.contains("added to"), "{written}");
    world.run(&["pack", "list"]).assert_succeeds();
    let again = world.run(&["suggest", "--demo", "--write", "--format", "toml"]);
    assert_eq!((again.code, again.stdout.as_str()), (Some(0), ""), "{again}");
}

#[test]
fn suggestions_go_into_the_configuration_of_the_project_and_their_packs_hold_the_server_to_them() {
    let world = World::new().with("wallfacer.toml", "[output]\ncorpus_dir = \"found\"\n").with("sub/a", "");
    let mut command = world.command(&["suggest", "--demo", "--write"]);
    command.current_dir(world.here().join("sub"));
    let written = world.finish(command);
    assert_eq!(written.code, Some(0), "{written}");
    assert!(!world.files().contains("sub/wallfacer.toml"), "{written}");
    assert!(world.read("wallfacer.toml").contains("[packs."), "{written}");
    let (_, typed) = written.stdout.rsplit_once("wallfacer property ").expect("it tells how to go on");
    let packs: Vec<&str> = typed.split_whitespace().collect();
    let tried =
        world.run(&[&["property", "--demo", "--budget", "10s", "--format", "json"], &packs[..]].concat());
    assert!(tried.json()["summary"]["calls"].as_u64() > Some(0), "{tried}");
}

#[test]
fn coverage_tells_which_tools_are_reached() {
    let world = World::new();
    let all = world.run(&["coverage", "--demo", "--strict"]);
    all.assert_succeeds();
    assert!(all.stdout.contains("tool-quality"), "{all}");
    let few = world.run(&["coverage", "--demo", "--strict", "--pack", "rate-limit"]);
    assert_eq!(few.code, Some(3), "{few}");
    assert!(few.stdout.contains("No pack reaches: divide"), "{few}");
}

#[test]
fn coverage_holds_back_what_looks_destructive_only_where_its_effects_would_be_real() {
    let world = World::new();
    let fixture = crate::world::fixture();
    let server = ["--", fixture.as_str(), "flaw", "destructive-names"];
    let asked = ["coverage", "--pack", "error-quality", "--format", "json"];
    let states = |sandbox: &str| {
        let told = world.run(&[&asked[..], &["--sandbox", sandbox], &server].concat());
        told.assert_succeeds();
        let cells = told.json()["packs"][0]["tools"].clone();
        cells
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell["state"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(states("off").iter().filter(|state| *state == "blocked").count(), 3);
    let required = world.run(&[&asked[..], &["--sandbox", "require"], &server].concat());
    if wallfacer_fixtures::require("sandbox", (required.code == Some(0)).then_some(())).is_some() {
        assert!(states("require").iter().all(|state| state == "covered"));
    }
    let all = world.run(&["coverage", "--pack-all", "--demo"]);
    assert!(all.stdout.contains("tool-quality"), "{all}");
}

/// Rules about the adding tool of a correct server, whose arguments are fixed, generated and left to its schema.
const ADDING: &str = "version: 4
invariants:
  - { name: fixed, tool: add, fixed: { a: 1, b: 2 }, assert: [{ kind: equals, lhs: $.response.isError, rhs: false }] }
  - name: generated
    tool: add
    generate: { a: { type: integer }, b: { type: integer } }
    assert: [{ kind: equals, lhs: $.response.isError, rhs: false }]
";

#[test]
fn what_is_fixed_is_sent_once_and_what_is_generated_as_often_as_is_typed() {
    let world = World::new().with("rules.yaml", ADDING);
    let fixture = crate::world::fixture();
    let calls = |more: &[&str]| {
        let typed = [&["property", "rules.yaml", "--format", "json"], more, &["--", &fixture, "correct"]];
        let outcome = world.run(&typed.concat());
        assert_eq!(outcome.code, Some(0), "{outcome}");
        outcome.json()["summary"]["calls"].clone()
    };
    assert_eq!(calls(&[]), 1 + 5);
    assert_eq!(calls(&["--cases", "9"]), 1 + 9);
    let told = world.run(&["property", "rules.yaml", "--", &fixture, "correct"]).stdout;
    let row = told.lines().find(|line| line.starts_with("  add ")).unwrap_or_else(|| panic!("{told}"));
    assert_eq!(row.split_whitespace().nth(1), Some("6"), "{told}");
}

#[test]
fn rules_about_tools_that_are_left_out_are_told_and_not_tried() {
    let world = World::new().with("rules.yaml", ADDING);
    let fixture = crate::world::fixture();
    for choice in [["--exclude", "ad*"], ["--include", "echo"]] {
        let typed =
            [&["property", "rules.yaml", "--format", "json"], &choice[..], &["--", &fixture, "correct"]];
        let outcome = world.run(&typed.concat());
        assert_eq!(outcome.code, Some(3), "nothing was tried: {outcome}");
        let told = outcome.json()["not_tested"].take();
        let told = told.as_array().unwrap().iter().find(|not| not["what"] == "fixed, generated");
        assert_eq!(told.map(|not| &not["why"]), Some(&"`add` is left out".into()), "{outcome}");
    }
}

#[test]
fn silence_and_noise_satisfy_no_rule_and_are_findings_of_their_own() {
    let rules = |tool: &str, argument: &str, value: &str| {
        format!(
            "version: 4\ninvariants:\n  - {{ name: refused, tool: {tool}, fixed: {{ {argument}: {value} }}, assert: \
             [{{ kind: equals, lhs: $.response.isError, rhs: true }}] }}\n"
        )
    };
    for (flaw, tool, argument, value, kind, why) in [
        (
            "hang-on-one-value",
            "pick_colour",
            "colour",
            "blue",
            "hang",
            "`pick_colour` gave no answer to judge within its time limit; --tool-timeout gives it more",
        ),
        (
            "result-and-error-on-one-value",
            "choose_mode",
            "mode",
            "turbo",
            "protocol_error",
            "`choose_mode` gave no answer to judge: what came is no valid message",
        ),
    ] {
        let world = World::new().with("rules.yaml", &rules(tool, argument, value));
        let fixture = crate::world::fixture();
        let typed =
            ["property", "rules.yaml", "--timeout", "1s", "--format", "json", "--", &fixture, "flaw", flaw];
        let found = world.run(&typed).json();
        let kinds: Vec<_> =
            found["findings"].as_array().unwrap().iter().map(|finding| &finding["kind"]["type"]).collect();
        assert_eq!(kinds, [kind]);
        assert_eq!(
            (&found["not_tested"][0]["what"], &found["not_tested"][0]["why"]),
            (&"refused".into(), &why.into())
        );
    }
}

#[test]
fn what_cannot_be_tried_is_said_before_anything_is_started() {
    let world = World::new().with("packs/own.yml", "version: 4\nmetadata: { extends: [unicorn] }\n");
    let typed: [&[&str]; 6] = [
        &["gone.yaml"],
        &["unicode"],
        &["--pack", "unicod"],
        &["--pack", "zzz"],
        &["--pack", "own"],
        &["--pack", "unicode", "--param", "witnes_tool=echo"],
    ];
    let told = typed.map(|more| {
        let outcome = world.run(&[&["property", "--demo"], more].concat());
        outcome.assert_fails(2);
        outcome.to_string()
    });
    crate::world::assert_shown("property_bad_rules", told.join("\n"));
}
