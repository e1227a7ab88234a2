//! Rule packs: listed, shown, begun, and tried on their fixtures.

use crate::world::{World, assert_shown};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

#[test]
fn every_pack_is_listed() {
    let outcome = World::new().run(&["pack", "list"]);
    outcome.assert_succeeds();
    assert_shown("pack_list", &outcome);
}

#[test]
fn packs_are_listed_for_programs_with_those_of_the_workspace() {
    let world = World::new().with("packs/own.yaml", "version: 4\nmetadata: { extends: [unicode] }\n");
    let world = world.with("packs/broken.yml", "version: [");
    let outcome = world.run(&["pack", "list", "--format", "json"]);
    outcome.assert_succeeds();
    let packs = json(&outcome.stdout)["packs"].as_array().unwrap().clone();
    let named = |name: &str| packs.iter().find(|pack| pack["name"] == name).unwrap().clone();
    assert_eq!(named("own")["from"], "workspace");
    assert_eq!(named("own")["parameters"], serde_json::json!(["witness_tool", "witness_field"]));
    assert_eq!(named("own")["rules"], named("unicode")["rules"]);
    assert_eq!(named("broken")["rules"], Value::Null);
    assert_eq!(packs.len(), 26);
}

#[test]
fn a_pack_is_shown_as_it_is_written_or_filled_in() {
    let world = World::new();
    let written = world.run(&["pack", "show", "rate-limit"]);
    written.assert_succeeds();
    assert!(written.stdout.starts_with("# rate-limit: "), "{written}");
    let filled = world.run(&["pack", "show", "rate-limit", "--param", "quota_tool=limits"]);
    filled.assert_succeeds();
    assert!(filled.stdout.contains("tool: limits") || filled.stdout.contains("tool: \"limits\""), "{filled}");
}

#[test]
fn parameters_come_from_the_flag_over_the_configuration_over_the_pack() {
    let world = World::new()
        .with("wallfacer.toml", "[packs.unicode]\nwitness_tool = \"say\"\nwitness_field = \"what\"\n");
    let outcome = world.run(&["pack", "params", "unicode", "--param", "witness_tool=tell"]);
    outcome.assert_succeeds();
    assert_shown("pack_params", &outcome);
}

#[test]
fn an_undeclared_parameter_is_refused() {
    let outcome = World::new().run(&["pack", "test", "unicode", "--param", "witnes_tool=echo"]);
    outcome.assert_fails(2);
    assert_shown("pack_undeclared_parameter", &outcome);
}

#[test]
fn a_pack_that_nobody_knows() {
    let outcome = World::new().run(&["pack", "show", "unicorn"]);
    outcome.assert_fails(2);
    assert_shown("pack_unknown", &outcome);
}

#[test]
fn all_built_in_packs_hold_on_their_fixtures() {
    let outcome = World::new().run(&["pack", "test", "--all"]);
    outcome.assert_succeeds();
    assert_eq!(outcome.stdout.lines().count(), 24, "{outcome}");
}

#[test]
fn a_fixture_that_does_not_hold_is_told() {
    let pack = "version: 4\ninvariants:\n  - name: r\n    tool: t\n    fixed: {}\n    assert: [{ kind: exists, path: $.response.a }]\n    test_fixtures:\n      - { name: there, response: { a: 1 }, expect: pass }\n      - { name: not there, response: {}, expect: pass }\n";
    let outcome = World::new().with("packs/own.yaml", pack).run(&["pack", "test"]);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    assert_shown("pack_test_missed", &outcome);
    let outcome = World::new().with("packs/own.yaml", pack).run(&["pack", "test", "own", "--format", "json"]);
    assert_eq!(outcome.code, Some(1), "{outcome}");
    let fixtures = &json(&outcome.stdout)["packs"][0]["fixtures"];
    assert_eq!((&fixtures[0]["holds"], &fixtures[1]["holds"]), (&Value::from(true), &Value::from(false)));
}

#[test]
fn a_fixture_that_cannot_say_what_its_rule_looks_at_says_nothing_and_fails_nothing() {
    let pack = "version: 2\nfor_each_tool:\n  - name: \"r.{{tool_name}}\"\n    where: {}\n    apply:\n      \
                input: schema_valid\n      assert: [{ kind: not, assertion: { kind: matches_regex, path: \
                $.tool.description, pattern: x } }]\n      test_fixtures: [{ name: an answer, response: {}, expect: \
                pass }]\ninvariants: []\n";
    let world = World::new().with("packs/own.yaml", pack);
    let outcome = world.run(&["pack", "test"]);
    assert_eq!(outcome.code, Some(0), "{outcome}");
    assert_shown("pack_test_mute", &outcome);
    let told = json(&world.run(&["pack", "test", "--format", "json"]).stdout);
    assert_eq!(told["packs"][0]["fixtures"][0]["holds"], Value::Null);
}

#[test]
fn a_new_pack_holds_on_its_fixtures_and_is_not_written_over() {
    let world = World::new();
    world.run(&["pack", "init", "mine"]).assert_succeeds();
    let outcome = world.run(&["pack", "test"]);
    outcome.assert_succeeds();
    assert!(outcome.stdout.starts_with("mine: "), "{outcome}");
    world.run(&["pack", "init", "mine"]).assert_fails(2);
    world.run(&["pack", "init", "mine", "--force"]).assert_succeeds();
}

#[test]
fn a_copy_of_a_built_in_pack_takes_its_place() {
    let world = World::new();
    world.run(&["pack", "init", "unicode"]).assert_succeeds();
    assert_eq!(world.read("packs/unicode.yaml"), world.run(&["pack", "show", "unicode"]).stdout);
    world.run(&["pack", "init", "../unicode"]).assert_fails(2);
}

#[test]
fn what_is_suggested_loads_as_pasted_whatever_the_server_calls_its_tools() {
    let name = "read \"it\" \\ ${HOME} $$\u{7}\n[target]";
    let tool = serde_json::json!({
        "name": name,
        "inputSchema": { "properties": { "path": { "type": "string" } } },
    });
    let suggestions = wallfacer_rules::suggest(&[wallfacer_rules::ToolShape::new(tool)]);
    let pasted = wallfacer_rules::suggestions_as_toml(&suggestions);
    let world = World::new().with("wallfacer.toml", &pasted);
    let outcome = world.run(&["pack", "params", "path-traversal", "--format", "json"]);
    outcome.assert_succeeds();
    let parameters = json(&outcome.stdout)["parameters"].as_array().unwrap().clone();
    let read = parameters.iter().find(|parameter| parameter["name"] == "read_file_tool").unwrap();
    assert_eq!(read["value"], name);
}
