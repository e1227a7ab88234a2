//! What version 4 adds: rules about fields, repeated calls, second clients, cleanup, generated objects; and
//! what a hostile server could try with the names it chooses.

mod common;

use common::{assert_fixtures, rules};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use wallfacer_rules::{
    Client, Compiled, Context, FixtureResult, Input, Known, Root, RuleFile, Rules, Steps, ToolShape, Verdict,
    test_offline,
};

const ABOUT_FIELDS: &str = r#"
version: 4
for_each_tool:
  - name: "path.{{tool}}"
    where:
      field: { type: string, name_matches: "(?i)path|file", required: true }
    apply:
      input: schema_valid
      fixed: { "{{field}}": "../{{field}}/{{marker}}" }
      assert:
        - { kind: exists, path: "$.input.{{field}}" }
        - { kind: exists, path: "$.input['{{field}}']" }
        - { kind: expr, expr: "has(input.other) || input['{{field}}'] != '{{tool}}'" }
        - { kind: not, assertion: { kind: matches_regex, path: "$.response.content[0].text", pattern: "^{{tool}}$" } }
"#;

fn tool(name: &str, properties: Value, required: Value) -> ToolShape {
    ToolShape::new(
        json!({ "name": name, "inputSchema": { "type": "object", "properties": properties, "required": required } }),
    )
}

#[test]
fn a_rule_about_fields_is_made_for_each_field_that_fits() {
    let properties = json!({
        "path": { "type": "string" },
        "filename": { "type": ["string", "null"] },
        "file": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
        "file_count": { "type": "integer" },
        "optional_path": { "type": "string" },
        "text": { "type": "string" },
    });
    let required = json!(["path", "filename", "file", "file_count", "text"]);
    let expansion = rules(ABOUT_FIELDS).expand(&[tool("read", properties, required)]);
    let names: Vec<_> = expansion.rules.iter().map(|rule| rule.name.as_str()).collect();
    assert_eq!(names, ["path.read.path", "path.read.filename", "path.read.file"]);
}

/// Names that are YAML, JSONPath, CEL, regular expressions or placeholders in disguise.
const HOSTILE: [&str; 10] = [
    "a']..*|['path",
    "path\"\n- name: injected\n  tool: x",
    "{{steps.file.response}}",
    "{{{{file}}}}",
    "file' || true || '",
    ".*(path",
    "path: [&a *a",
    "\\u0027file\\",
    "файл path \u{202e}",
    "$.response..file",
];

#[test]
fn a_hostile_name_stays_a_name() {
    let rules = rules(ABOUT_FIELDS);
    for name in HOSTILE {
        let field = format!("{name} path");
        let expansion =
            rules.expand(&[tool(name, json!({ field.clone(): { "type": "string" } }), json!([field]))]);
        assert_eq!(expansion.skipped, [], "{name}");
        let [rule] = expansion.rules.as_slice() else { panic!("{name}: {} rules", expansion.rules.len()) };
        assert_eq!(rule.tool, name);
        assert_eq!(rule.name, format!("path.{name}.{field}"));

        let Input::SchemaValid { over, .. } = &rule.input else { panic!("{name}") };
        let marker = json!("m4rk");
        let known = Known { marker: Some(&marker), ..Known::default() };
        let sent = over.resolve(&known).unwrap();
        assert_eq!(sent, json!({ field.clone(): format!("../{field}/m4rk") }));

        // The claims read that very field, and compare with that very name.
        let judge = |input: &Value, text: &str| {
            rule.judge(&Context::new(input, &json!({ "content": [{ "type": "text", "text": text }] })))
        };
        assert_eq!(judge(&sent, "fine"), Verdict::Holds, "{name}");
        assert!(matches!(judge(&json!({}), "fine"), Verdict::Broken(_)), "{name}");
        assert!(matches!(judge(&json!({ field.clone(): name }), "fine"), Verdict::Broken(_)), "{name}");
        assert!(matches!(judge(&sent, name), Verdict::Broken(_)), "{name}");
    }
}

#[test]
fn tools_without_end_do_not_make_rules_without_end() {
    let many: serde_json::Map<String, Value> =
        (0..1000).map(|number| (format!("path{number}"), json!({ "type": "string" }))).collect();
    let required: Vec<_> = many.keys().take(200).cloned().collect();
    let tools = vec![tool("t", Value::Object(many), json!(required)); 200];
    let expansion = rules(ABOUT_FIELDS).expand(&tools);
    assert_eq!(expansion.rules.len(), 20_000);
}

#[test]
fn expanding_compiles_only_what_names_the_tool() {
    let rules = rules(ABOUT_FIELDS);
    let before = rules.compiled();
    rules.expand(&[tool("a", json!({ "path": { "type": "string" } }), json!(["path"]))]);
    assert_eq!(rules.compiled(), before);
}

#[test]
fn what_stands_in_many_rules_is_compiled_once_and_not_again_to_judge() {
    let rule = |number: usize| {
        format!(
            "  - name: r{number}\n    tool: t\n    fixed: {{}}\n    assert:\n      \
             - {{ kind: matches_regex, path: $.response.a, pattern: x, except: y }}\n      \
             - {{ kind: matches_schema, path: $.response, schema: {{ type: object }} }}\n      \
             - {{ kind: expr, expr: size(response) == 1 }}\n"
        )
    };
    let rules = rules(&format!("version: 4\ninvariants:\n{}", (0..50).map(rule).collect::<String>()));
    let once = Compiled { regexes: 2, paths: 2, schemas: 1, expressions: 1 };
    assert_eq!(rules.compiled(), once);
    let (input, response) = (json!({}), json!({ "a": "x" }));
    assert!(rules.rules.iter().all(|rule| rule.judge(&Context::new(&input, &response)) == Verdict::Holds));
    assert_eq!(rules.compiled(), once);
}

#[test]
fn a_fixed_input_is_sent_once_and_a_static_rule_sends_nothing() {
    let rules = rules(
        r#"
version: 4
invariants:
  - { name: fixed, tool: t, fixed: {}, cases: 50, assert: [{ kind: exists, path: $.response }] }
  - { name: generated, tool: t, generate: { a: { type: boolean } }, cases: 7, assert: [{ kind: exists, path: $.response }] }
  - { name: static, tool: t, input: schema_valid, assert: [{ kind: matches_regex, path: $.tool.description, pattern: x }] }
  - { name: static_expr, tool: t, fixed: {}, assert: [{ kind: expr, expr: 'size(tool.description) > 0' }] }
  - { name: filtered, tool: t, fixed: {}, assert: [{ kind: exists, path: '$.tool.a[?@ == $.input.b]' }] }
  - { name: timed, tool: t, fixed: {}, assert: [{ kind: latency_below, value: 1s }, { kind: exists, path: $.tool.name }] }
"#,
    );
    let counts: Vec<_> = rules.rules.iter().map(|rule| (rule.name.as_str(), rule.inputs(100))).collect();
    assert_eq!(
        counts,
        [("fixed", 1), ("generated", 7), ("static", 0), ("static_expr", 0), ("filtered", 1), ("timed", 1)]
    );
    assert_eq!(rules.rules[4].reads().into_iter().collect::<Vec<_>>(), [Root::Input, Root::Tool]);
}

#[test]
fn a_repeated_call_is_compared_with_the_first() {
    let rules = rules(
        r#"
version: 4
invariants:
  - name: same
    tool: t
    fixed: {}
    repeat: 2
    assert:
      - { kind: same_as, path: $.response.structuredContent, step: first, ignore: [$.item.time] }
    test_fixtures:
      - name: only the time differs
        response: { structuredContent: { a: 1, time: 2 } }
        steps: { first: { input: {}, response: { structuredContent: { a: 1, time: 1 } } } }
        expect: pass
      - name: another answer
        response: { structuredContent: { a: 2, time: 2 } }
        steps: { first: { input: {}, response: { structuredContent: { a: 1, time: 1 } } } }
        expect: fail
"#,
    );
    assert_eq!(rules.rules[0].repeat, 2);
    assert_eq!(assert_fixtures(&rules), 2);
}

#[test]
fn a_sequence_can_use_a_second_client_repeat_and_clean_up() {
    let rules = rules(
        r#"
version: 4
sequences:
  - name: isolated
    steps:
      - { call: put, with: { key: "{{marker}}", value: 1 }, bind: put, timeout: 5s }
      - call: get
        with: { key: "{{steps.put.input.key}}" }
        client: other
        repeat: 3
        bind: seen
        expect: error
      - call: get
        with: { again: "{{steps.seen.response.content[0].text}}" }
    cleanup:
      - { call: remove, with: { key: "{{steps.put.input.key}}" }, timeout: 1s }
    test_fixtures:
      - name: nothing is seen
        responses: [{}, { isError: true }, { isError: true }, { isError: true, content: [{ text: no }] }, {}]
        marker: m4rk
        expect: pass
      - name: it is seen at last
        responses: [{}, { isError: true }, { isError: true }, {}, {}]
        marker: m4rk
        expect: fail
      - name: without a marker
        responses: [{}, {}, {}, {}, {}]
        expect: unknown
"#,
    );
    assert_eq!(assert_fixtures(&rules), 3);
    let sequence = &rules.sequences[0];
    assert_eq!(sequence.steps[0].timeout, Some(Duration::from_secs(5)));
    assert_eq!((sequence.steps[1].client, sequence.steps[1].repeat), (Client::Other, 3));
    assert_eq!(sequence.cleanup.len(), 1);
    assert!(sequence.tools().contains("remove"));
}

#[test]
fn a_fixture_of_a_sequence_has_one_response_per_call() {
    let rules = rules(
        r#"
version: 4
sequences:
  - name: s
    steps:
      - { call: a, bind: a }
      - { call: b, repeat: 2, with: { id: "{{steps.a.response.id}}" } }
    test_fixtures:
      - { name: right, responses: [{ id: 1 }, {}, {}], expect: pass }
      - { name: too few, responses: [{ id: 1 }, {}], expect: pass }
      - { name: nothing to refer to, responses: [{}, {}, {}], expect: pass }
      - { name: the last of them fails, responses: [{ id: 1 }, {}, { isError: true }], expect: fail }
"#,
    );
    let results: Vec<_> = test_offline(&rules).into_iter().map(|outcome| outcome.result).collect();
    assert_eq!(results[0], FixtureResult::Met);
    assert!(
        matches!(&results[1], FixtureResult::Impossible(why) if why.contains("2 responses")),
        "{:?}",
        results[1]
    );
    assert!(
        matches!(&results[2], FixtureResult::Impossible(why) if why.contains("steps.a.response.id")),
        "{:?}",
        results[2]
    );
    assert_eq!(results[3], FixtureResult::Met);
}

#[test]
fn a_fixture_without_input_has_the_input_of_its_rule() {
    let rules = rules(
        r#"
version: 4
invariants:
  - name: r
    tool: t
    fixed: { a: 5, marker: "{{marker}}" }
    assert:
      - { kind: equals, lhs: $.response.a, rhs: $.input.a }
      - { kind: equals, lhs: $.input.marker, rhs: "{{marker}}" }
    test_fixtures:
      - { name: the same, response: { a: 5 }, marker: m, expect: pass }
      - { name: another, response: { a: 6 }, marker: m, expect: fail }
      - { name: given, input: { a: 6, marker: m }, response: { a: 6 }, marker: m, expect: pass }
"#,
    );
    assert_eq!(assert_fixtures(&rules), 3);
}

#[test]
fn a_fixture_that_a_rule_contradicts_is_reported() {
    let rules = rules(
        r#"
version: 4
invariants:
  - name: r
    tool: t
    fixed: {}
    assert: [{ kind: exists, path: $.response.a }]
    test_fixtures:
      - { name: wrong, response: {}, expect: pass }
for_each_tool:
  - name: "described.{{tool}}"
    apply:
      input: schema_valid
      assert: [{ kind: matches_regex, path: $.tool.description, pattern: "{{tool}}" }]
      test_fixtures:
        - { name: says its name, tool: { name: a+b, description: the a+b tool }, expect: pass }
        - { name: says another, tool: { name: a+b, description: aab }, expect: fail }
        - { name: nothing known, response: {}, expect: unknown }
"#,
    );
    let results: Vec<_> = test_offline(&rules).into_iter().map(|outcome| outcome.result).collect();
    assert!(matches!(&results[0], FixtureResult::Missed { observed: Verdict::Broken(_), .. }));
    assert_eq!(results[1..], [FixtureResult::Met, FixtureResult::Met, FixtureResult::Met]);
}

#[test]
fn a_crash_is_no_response_and_an_answer_is_judged_by_its_error_flag() {
    let rules = rules(
        "version: 3\ninvariants: []\nsequences: [{ name: s, steps: [{ call: a, expect: error }, { call: a }] }]\n",
    );
    let [refused, accepted] = rules.sequences[0].steps.as_slice() else { panic!("two steps") };
    let input = json!({});
    let (error, success) =
        (json!({ "isError": true, "error": { "code": -32602 } }), json!({ "content": [] }));
    assert_eq!(refused.judge(&Context::new(&input, &error)), Verdict::Holds);
    assert!(matches!(refused.judge(&Context::new(&input, &success)), Verdict::Broken(_)));
    assert_eq!(accepted.judge(&Context::new(&input, &success)), Verdict::Holds);
    assert!(matches!(accepted.judge(&Context::new(&input, &error)), Verdict::Broken(_)));
}

#[test]
fn generated_objects_enums_patterns_and_formats_become_a_schema() {
    let rules = rules(
        r#"
version: 4
invariants:
  - name: r
    tool: t
    generate:
      user: { type: object, properties: { name: { type: string, pattern: "^[a-z]+$" }, age: { type: integer } }, required: [name] }
      mode: { enum: [fast, 2, null] }
      fixed: { const: 5 }
      mail: { type: string, format: email }
      either: { one_of: [{ type: "null" }, { type: boolean }] }
      list: { type: array, items: { type: number, min: 0.5 } }
      raw: { schema: { type: string, contentEncoding: base64 } }
    assert: [{ kind: exists, path: $.response }]
"#,
    );
    let Input::Generated(generate) = &rules.rules[0].input else { panic!("generated") };
    assert_eq!(
        generate.schema()["properties"],
        json!({
            "user": {
                "type": "object",
                "properties": {
                    "name": { "type": "string", "pattern": "^[a-z]+$" },
                    "age": { "type": "integer", "minimum": -100, "maximum": 100 },
                },
                "required": ["name"],
                "additionalProperties": false,
            },
            "mode": { "enum": ["fast", 2, null] },
            "fixed": { "enum": [5] },
            "mail": { "type": "string", "format": "email" },
            "either": { "anyOf": [{ "type": "null" }, { "type": "boolean" }] },
            "list": { "type": "array", "items": { "type": "number", "minimum": 0.5 }, "maxItems": 8 },
            "raw": { "type": "string", "contentEncoding": "base64" },
        })
    );
}

const PARAMETERISED: &str = r#"
version: 4
metadata:
  parameters:
    limit: { type: integer, default: 5 }
    word: { type: string, default: "7" }
invariants:
  - name: "r.{{word}}"
    tool: t
    fixed: { limit: "{{limit}}", text: "at most {{limit}}", word: {{word}}, literal: "{{{{limit}}" }
    assert: [{ kind: not_equals, lhs: $.response.a, rhs: "{{word}}" }]
"#;

#[test]
fn a_parameter_of_version_4_has_the_type_it_declares() {
    let given = BTreeMap::from([("word".to_owned(), json!("x\ninjected: true {{limit}}"))]);
    let rules = Rules::read("p.yaml", PARAMETERISED, &given, &|_| None).unwrap();
    let Input::Fixed(draft) = &rules.rules[0].input else { panic!("fixed") };
    assert_eq!(
        draft.ready().unwrap(),
        &json!({
            "limit": 5,
            "text": "at most 5",
            "word": "x\ninjected: true {{limit}}",
            "literal": "{{limit}}",
        })
    );
}

#[test]
fn a_file_can_be_shown_with_its_parameters_filled_in() {
    let file = RuleFile::parse("p.yaml", PARAMETERISED).unwrap();
    let filled = file.with_parameters(&BTreeMap::from([("word".to_owned(), json!("{{limit}}"))])).unwrap();
    let text = filled.to_string();
    assert!(text.contains("limit: 5"), "{text}");
    assert!(text.contains(r#"name: "r.{{{{limit}}""#), "what a parameter holds is not read again: {text}");
    let problems = file.with_parameters(&BTreeMap::from([("limit".to_owned(), json!("many"))])).unwrap_err();
    assert!(problems.to_string().contains("of type integer"), "{problems}");
}

#[test]
fn an_extending_file_wins_over_the_one_it_extends_and_hands_its_parameters_on() {
    let child = "version: 4\nmetadata: { parameters: { limit: { type: integer, default: 9 } }, extends: [base, again] }\ninvariants: [{ name: r.7, tool: mine, fixed: {}, assert: [{ kind: exists, path: $.response }] }, { name: own, tool: t, fixed: {}, assert: [{ kind: exists, path: $.response }] }]\n";
    let again = "version: 4\nmetadata: { extends: [base] }\n";
    let loader = |name: &str| match name {
        "base" => Some(PARAMETERISED.to_owned()),
        "again" => Some(again.to_owned()),
        _ => None,
    };
    let rules = Rules::read("c.yaml", child, &BTreeMap::new(), &loader).unwrap();
    let names: Vec<_> = rules.rules.iter().map(|rule| (rule.name.as_str(), rule.tool.as_str())).collect();
    assert_eq!(names, [("r.7", "mine"), ("own", "t")]);

    let given = BTreeMap::from([("word".to_owned(), json!("other"))]);
    let rules = Rules::read("c.yaml", child, &given, &loader).unwrap();
    let Input::Fixed(draft) = &rules.rules[2].input else { panic!("fixed") };
    assert_eq!(draft.ready().unwrap()["limit"], json!(9));
}

#[test]
fn a_stray_key_in_an_old_file_is_a_warning_and_a_misspelt_one_an_error() {
    let file = |key: &str| {
        format!(
            "version: 2\nowner: me\ninvariants: [{{ name: a, tool: t, fixed: {{}}, {key}: 1, assert: [] }}]\n"
        )
    };
    let rules = rules(&file("severity_of_this"));
    let warnings: Vec<_> = rules.warnings.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(
        warnings,
        [
            "unknown key `owner` in the file; it is ignored",
            "unknown key `severity_of_this` in a rule; it is ignored",
            "the rule claims nothing, so it can never fail"
        ]
    );
    let problems = Rules::read("a.yaml", &file("case"), &BTreeMap::new(), &|_| None).unwrap_err();
    assert!(problems.to_string().contains("did you mean `cases`?"));
}

#[test]
fn steps_that_were_bound_can_be_asked_for_by_name() {
    let mut steps = Steps::default();
    steps.bind("a", json!({ "x": 1 }), json!({ "y": 2 }));
    steps.bind("a", json!({ "x": 3 }), json!({ "y": 4 }));
    assert_eq!(steps.value(), &json!({ "a": { "input": { "x": 3 }, "response": { "y": 4 } } }));
}

fn first_step(keys: &str) -> wallfacer_rules::Step {
    let text = format!("version: 4\nsequences: [{{ name: s, steps: [{{ call: a, {keys} }}] }}]\n");
    rules(&text).sequences[0].steps[0].clone()
}

#[test]
fn a_precondition_that_does_not_hold_is_unknown_and_not_broken() {
    let (input, failed, well) = (json!({}), json!({ "isError": true }), json!({ "content": [] }));
    let step = first_step("precondition: true");
    assert!(matches!(step.judge(&Context::new(&input, &failed)), Verdict::Unknown(_)));
    assert_eq!(step.judge(&Context::new(&input, &well)), Verdict::Holds);
    let step = first_step("precondition: false");
    assert!(matches!(step.judge(&Context::new(&input, &failed)), Verdict::Broken(_)));
}

#[test]
fn with_any_outcome_the_assertions_alone_decide() {
    let step = first_step("expect: any, assert: [{ kind: exists, path: $.response.content }]");
    let input = json!({});
    let judged = |response| step.judge(&Context::new(&input, &response));
    assert_eq!(judged(json!({ "isError": true, "content": [] })), Verdict::Holds);
    assert_eq!(judged(json!({ "content": [] })), Verdict::Holds);
    assert!(matches!(judged(json!({ "isError": true })), Verdict::Broken(_)));
}

#[test]
fn a_rule_may_be_about_a_tool_that_is_not_there() {
    let text = |key: &str| {
        format!(
            "version: 4\ninvariants: [{{ name: r, tool: t, {key}fixed: {{}}, assert: [{{ kind: exists, path: $.response }}] }}]"
        )
    };
    assert!(rules(&text("unlisted: true, ")).rules[0].unlisted);
    assert!(!rules(&text("")).rules[0].unlisted);
}

#[test]
fn what_is_generated_stands_beside_what_the_schema_allows_since_version_4() {
    for (version, is_made) in [(3, false), (4, true)] {
        let rules = rules(&format!(
            "version: {version}\ninvariants:\n  - {{ name: r, tool: t, input: schema_valid, generate: {{ a: {{ type: string }} }}, \
             assert: [{{ kind: is_type, path: $.response.content, type: array }}] }}\n"
        ));
        let Input::SchemaValid { made, .. } = &rules.rules[0].input else {
            panic!("it is valid by the schema")
        };
        assert_eq!(made.is_some(), is_made, "version {version}");
    }
}
