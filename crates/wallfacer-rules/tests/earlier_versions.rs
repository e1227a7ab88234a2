//! Files of versions 1 to 3 load as they are, and mean what they meant.

mod common;

use common::{assert_fixtures, rules};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use wallfacer_rules::{Client, Input, Known, Outcome, Rules, Steps, ToolShape};

const VERSION_1: &str = include_str!("earlier/version1.yaml");
const VERSION_2: &str = include_str!("earlier/version2.yaml");
const VERSION_3: &str = include_str!("earlier/version3.yaml");

fn with_parameters(text: &str, given: &[(&str, Value)]) -> Rules {
    let given: BTreeMap<String, Value> =
        given.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let loader = |name: &str| (name == "witness").then(|| VERSION_2.to_owned());
    Rules::read("rules.yaml", text, &given, &loader).unwrap_or_else(|problems| panic!("{problems}"))
}

fn fixed(rules: &Rules, index: usize) -> Value {
    match &rules.rules[index].input {
        Input::Fixed(draft) => draft.ready().cloned().expect("nothing is left open"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_of_version_1_loads_and_its_fixtures_hold() {
    let rules = rules(VERSION_1);
    assert_eq!(rules.rules.len(), 2);
    assert_eq!(rules.rules[0].inputs(100), 25);
    assert_eq!(rules.rules[1].inputs(100), 100);
    assert_eq!(assert_fixtures(&rules), 4);
}

#[test]
fn generated_arguments_become_a_schema() {
    let rules = rules(VERSION_1);
    let Input::Generated(generate) = &rules.rules[1].input else { panic!("generated") };
    assert_eq!(
        generate.schema(),
        json!({
            "type": "object",
            "properties": {
                "limit": { "type": "integer", "minimum": 1, "maximum": 50 },
                "ratio": { "type": "number", "minimum": 0, "maximum": 1 },
                "strict": { "type": "boolean" },
                "tags": { "type": "array", "items": { "type": "string", "maxLength": 8 }, "minItems": 0, "maxItems": 4 },
            },
            "required": ["limit", "ratio", "strict", "tags"],
            "additionalProperties": false,
        })
    );
}

#[test]
fn a_parameter_without_quotes_keeps_its_type_and_one_in_quotes_is_text() {
    let rules = with_parameters(VERSION_2, &[]);
    assert_eq!(rules.rules[0].tool, "echo");
    assert_eq!(
        fixed(&rules, 0),
        json!({
            "text": "Bearer abc123",
            "text_again": "text",
            "most": 200,
            "template": "{{7*7}} and {{config}}",
        })
    );
    assert_eq!(assert_fixtures(&rules), 2);
}

#[test]
fn a_parameter_from_the_command_line_is_read_by_its_type() {
    let rules = with_parameters(VERSION_2, &[("limit", json!("12")), ("witness_field", json!("a: [b"))]);
    assert_eq!(fixed(&rules, 0)["most"], json!(12));
    assert_eq!(fixed(&rules, 0)["a: [b"], json!("Bearer abc123"), "no value can break the file");
}

#[test]
fn a_rule_about_every_tool_is_made_for_those_that_fit() {
    let rules = with_parameters(VERSION_2, &[]);
    let tool = |name: &str, description: &str, annotations: Value| {
        ToolShape::new(json!({ "name": name, "description": description, "annotations": annotations }))
    };
    let tools = [
        tool("get_user", "Returns a user.", json!({ "readOnlyHint": true })),
        tool("get_key", "Returns a key.", json!({})),
        tool("get_file", "Reads.", json!({ "readOnlyHint": true })),
        tool("set_user", "Returns nothing.", json!({ "readOnlyHint": true })),
        tool("list_users", "RETURNS all.", json!({ "readOnlyHint": false })),
    ];
    let expansion = rules.expand(&tools);
    let named = |prefix: &str| {
        expansion
            .rules
            .iter()
            .filter(|rule| rule.name.starts_with(prefix))
            .map(|rule| rule.tool.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(named("read_only.answers."), ["get_user"]);
    assert_eq!(named("any.").len(), tools.len());
    assert_eq!(expansion.skipped, []);
}

#[test]
fn extends_brings_rules_blocks_and_sequences_along() {
    let rules = with_parameters(VERSION_3, &[("witness_tool", json!("say"))]);
    assert_eq!(rules.sequences.len(), 1);
    assert_eq!(rules.rules[0].name, "say.bearer");
    assert_eq!(rules.rules[0].tool, "say", "a parameter reaches the file that declares it");
    assert_eq!(rules.block_count(), 2);

    let child = "version: 3\nmetadata: { extends: [session] }\ninvariants: []\n";
    let loader = |name: &str| match name {
        "session" => Some(VERSION_3.to_owned()),
        "witness" => Some(VERSION_2.to_owned()),
        _ => None,
    };
    let rules = Rules::read("child.yaml", child, &BTreeMap::new(), &loader).unwrap();
    assert_eq!(rules.sequences.len(), 1, "sequences are not dropped");
}

#[test]
fn a_sequence_loads_and_its_fixtures_hold() {
    let rules = with_parameters(VERSION_3, &[]);
    let sequence = &rules.sequences[0];
    assert_eq!(sequence.tools().into_iter().collect::<Vec<_>>(), ["login", "logout", "profile"]);
    assert_eq!(
        sequence.steps.iter().map(|step| step.expect).collect::<Vec<_>>(),
        [Outcome::Ok, Outcome::Ok, Outcome::Ok, Outcome::Error]
    );
    assert!(sequence.steps.iter().all(|step| step.client == Client::Main && step.repeat == 1));
    assert_eq!(assert_fixtures(&rules), 5);
}

#[test]
fn a_whole_placeholder_keeps_its_type_and_an_embedded_one_is_text() {
    let rules = with_parameters(VERSION_3, &[]);
    let mut steps = Steps::default();
    steps.bind(
        "login",
        json!({ "user": "alice" }),
        json!({ "structuredContent": { "session": 7, "token": "t1" } }),
    );
    let sent =
        rules.sequences[0].steps[1].with.resolve(&Known { steps: steps.value(), canary: None, marker: None });
    assert_eq!(
        sent.unwrap(),
        json!({ "session": 7, "header": "Bearer t1", "whole": steps.value()["login"] })
    );
}

#[test]
fn a_placeholder_that_finds_nothing_is_an_error_that_names_the_place() {
    let rules = with_parameters(VERSION_3, &[]);
    let mut steps = Steps::default();
    steps.bind("login", json!({}), json!({ "structuredContent": { "session": 7 } }));
    let known = Known { steps: steps.value(), canary: None, marker: None };
    let unresolved = rules.sequences[0].steps[1].with.resolve(&known).unwrap_err();
    assert_eq!(
        unresolved.to_string(),
        "`{{steps.login.response.structuredContent.token}}` at `$.header` cannot be filled: \
         `$.steps.login.response.structuredContent.token` finds nothing"
    );
}
