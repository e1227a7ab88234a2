//! What each kind of assertion says, above all where a rule could pass by accident.

mod common;

use common::{rules, verdict};
use serde_json::{Value, json};
use std::time::Duration;
use wallfacer_rules::{Context, Known, Verdict};

/// One letter per verdict: holds, broken, unknown.
fn letter(verdict: &Verdict) -> char {
    match verdict {
        Verdict::Holds => 'h',
        Verdict::Broken(_) => 'b',
        Verdict::Unknown(_) => 'u',
    }
}

/// Each line: an assertion, the response it is about, and what it should say.
fn check(version: u32, table: &[(&str, Value, char)]) {
    for (assertion, response, expected) in table {
        let found = verdict(version, assertion, json!({ "limit": 3, "text": "abc" }), response.clone());
        assert_eq!(letter(&found), *expected, "{assertion} on {response}: {found:?}");
    }
}

#[test]
fn an_integer_is_a_number_and_5_0_is_an_integer() {
    check(
        1,
        &[
            ("{ kind: is_type, path: $.response.a, type: number }", json!({ "a": 5 }), 'h'),
            ("{ kind: is_type, path: $.response.a, type: number }", json!({ "a": 5.5 }), 'h'),
            ("{ kind: is_type, path: $.response.a, type: number }", json!({ "a": "5" }), 'b'),
            ("{ kind: is_type, path: $.response.a, type: integer }", json!({ "a": 5 }), 'h'),
            ("{ kind: is_type, path: $.response.a, type: integer }", json!({ "a": 5.0 }), 'h'),
            ("{ kind: is_type, path: $.response.a, type: integer }", json!({ "a": 5.5 }), 'b'),
            ("{ kind: is_type, path: $.response.a, type: null }", json!({ "a": null }), 'h'),
            ("{ kind: is_type, path: $.response.a, type: boolean }", json!({ "a": false }), 'h'),
            ("{ kind: is_type, path: $.response.a, type: object }", json!({ "a": [] }), 'b'),
            ("{ kind: equals, lhs: $.response.a, rhs: 5 }", json!({ "a": 5.0 }), 'h'),
        ],
    );
}

#[test]
fn before_version_4_not_holds_for_what_is_missing() {
    let claim = "{ kind: not, assertion: { kind: equals, lhs: $.response.gone, rhs: 1 } }";
    for (version, holds) in [(1, true), (3, true), (4, false)] {
        let found = verdict(version, claim, json!({}), json!({ "content": [] }));
        assert_eq!(matches!(found, Verdict::Holds), holds, "{version}: {found:?}");
    }
}

#[test]
fn a_missing_path_is_never_a_pass() {
    let claims = [
        "{ kind: equals, lhs: $.response.gone, rhs: null }",
        "{ kind: not_equals, lhs: $.response.gone, rhs: 1 }",
        "{ kind: at_most, path: $.response.gone, value: 1 }",
        "{ kind: length_at_most, path: $.response.gone, value: 1 }",
        "{ kind: is_type, path: $.response.gone, type: null }",
        "{ kind: matches_regex, path: $.response.gone, pattern: '' }",
        "{ kind: matches_schema, path: $.response.gone, schema: true }",
    ];
    for claim in claims {
        let inside = [
            claim.to_owned(),
            format!("{{ kind: not, assertion: {claim} }}"),
            format!("{{ kind: not, assertion: {{ kind: not, assertion: {claim} }} }}"),
            format!("{{ kind: not, assertion: {{ kind: all_of, assert: [{claim}] }} }}"),
            format!("{{ kind: not, assertion: {{ kind: any_of, assert: [{claim}] }} }}"),
            format!("{{ kind: any_of, assert: [{claim}] }}"),
        ];
        for assertion in inside {
            let found = verdict(4, &assertion, json!({}), json!({ "content": [] }));
            assert!(
                matches!(&found, Verdict::Broken(why) if why.contains("finds nothing")),
                "{assertion}: {found:?}"
            );
        }
    }
}

/// Before version 4 there is no `absent`, so "this, or nothing at all" is written with `not` as an alternative.
#[test]
fn in_an_old_file_an_alternative_can_say_that_something_is_absent() {
    let claim = "{ kind: any_of, assert: [{ kind: is_type, path: $.response.a, type: object }, { kind: not, assertion: { kind: is_type, path: $.response.a, type: object } }] }";
    check(3, &[(claim, json!({}), 'h'), (claim, json!({ "a": {} }), 'h')]);
    check(4, &[(claim, json!({}), 'b')]);
}

#[test]
fn a_value_of_the_wrong_kind_does_not_satisfy_a_comparison_or_its_negation() {
    let wrong = json!({ "a": "many" });
    check(
        4,
        &[
            ("{ kind: at_most, path: $.response.a, value: 1 }", wrong.clone(), 'b'),
            ("{ kind: not, assertion: { kind: at_most, path: $.response.a, value: 1 } }", wrong, 'b'),
            (
                "{ kind: not, assertion: { kind: length_eq, path: $.response.a, value: 1 } }",
                json!({ "a": 5 }),
                'b',
            ),
            // But a number does not match any pattern, so it is free of secrets.
            (
                "{ kind: not, assertion: { kind: matches_regex, path: $.response.a, pattern: x } }",
                json!({ "a": 5 }),
                'h',
            ),
        ],
    );
}

#[test]
fn an_error_flag_that_is_left_out_means_false() {
    check(
        1,
        &[
            ("{ kind: equals, lhs: $.response.isError, rhs: false }", json!({ "content": [] }), 'h'),
            (
                "{ kind: not, assertion: { kind: equals, lhs: $.response.isError, rhs: true } }",
                json!({}),
                'h',
            ),
            ("{ kind: equals, lhs: $.response.isError, rhs: true }", json!({ "isError": true }), 'h'),
            ("{ kind: is_type, path: $.response.isError, type: boolean }", json!({ "isError": "yes" }), 'b'),
        ],
    );
    check(
        4,
        &[
            ("{ kind: absent, path: $.response.isError }", json!({}), 'h'),
            ("{ kind: expr, expr: '!response.isError' }", json!({}), 'h'),
            ("{ kind: expr, expr: 'has(response.isError)' }", json!({}), 'b'),
        ],
    );
}

#[test]
fn the_kinds_of_the_first_versions_hold_and_break() {
    check(
        1,
        &[
            ("{ kind: equals, lhs: $.response.a, rhs: { path: $.input.text } }", json!({ "a": "abc" }), 'h'),
            (
                "{ kind: equals, lhs: $.response.a, rhs: { value: { x: [1, 2] } } }",
                json!({ "a": { "x": [1, 2] } }),
                'h',
            ),
            (
                "{ kind: equals, lhs: $.response.a, rhs: { value: { x: [1, 2] } } }",
                json!({ "a": { "x": [2, 1] } }),
                'b',
            ),
            (
                "{ kind: equals, lhs: { value: $.not.a.path }, rhs: $.response.a }",
                json!({ "a": "$.not.a.path" }),
                'h',
            ),
            ("{ kind: not_equals, lhs: $.response.a, rhs: 1 }", json!({ "a": 1 }), 'b'),
            ("{ kind: at_most, path: $.response.a, value: { path: $.input.limit } }", json!({ "a": 3 }), 'h'),
            ("{ kind: at_most, path: $.response.a, value: $.input.limit }", json!({ "a": 3.5 }), 'b'),
            (
                "{ kind: at_least, path: $.response.a, value: 9007199254740993 }",
                json!({ "a": 9_007_199_254_740_992_i64 }),
                'b',
            ),
            ("{ kind: length_eq, path: $.response.a, value: 2 }", json!({ "a": "äö" }), 'h'),
            ("{ kind: length_at_least, path: $.response.a, value: 1 }", json!({ "a": [] }), 'b'),
            ("{ kind: matches_regex, path: $.response.a, pattern: '^a+$' }", json!({ "a": "aaa" }), 'h'),
            ("{ kind: any_of, assert: [] }", json!({}), 'b'),
            (
                "{ kind: any_of, assert: [{ kind: equals, lhs: $.response.gone, rhs: 1 }, { kind: equals, lhs: 1, rhs: 1 }] }",
                json!({}),
                'h',
            ),
            ("{ kind: all_of, assert: [] }", json!({}), 'h'),
            (
                "{ kind: for_each, path: '$.response.a[*]', assert: [{ kind: at_least, path: $.item, value: 1 }] }",
                json!({ "a": [1, 0] }),
                'b',
            ),
            (
                "{ kind: for_each, path: $.response.a, assert: [{ kind: at_least, path: $.item, value: 1 }] }",
                json!({ "a": [1, 2] }),
                'h',
            ),
            (
                "{ kind: for_each, path: '$.response.a[*]', assert: [{ kind: at_least, path: $.item, value: 1 }] }",
                json!({}),
                'h',
            ),
            (
                "{ kind: for_each, path: '$.response.a[*]', assert: [{ kind: equals, lhs: $.item.b, rhs: 1 }] }",
                json!({ "a": [{}] }),
                'b',
            ),
            ("{ kind: matches_schema, path: $.response, schema: { required: [a] } }", json!({}), 'b'),
            (
                "{ kind: matches_schema, path: $.response.a, schema: { format: email } }",
                json!({ "a": "no" }),
                'b',
            ),
        ],
    );
}

#[test]
fn the_kinds_of_version_4_hold_and_break() {
    check(
        4,
        &[
            ("{ kind: exists, path: $.response.a }", json!({ "a": null }), 'h'),
            ("{ kind: exists, path: $.response.a }", json!({}), 'b'),
            ("{ kind: not, assertion: { kind: exists, path: $.response.a } }", json!({}), 'h'),
            ("{ kind: absent, path: '$.response..password' }", json!({ "a": [{ "password": 1 }] }), 'b'),
            ("{ kind: contains, path: $.response.a, value: b }", json!({ "a": "abc" }), 'h'),
            ("{ kind: contains, path: $.response.a, value: 2.0 }", json!({ "a": [1, 2] }), 'h'),
            ("{ kind: contains, path: $.response.a, value: x }", json!({ "a": { "x": 1 } }), 'h'),
            (
                "{ kind: contains, path: '$.response.a[*].t', value: { path: $.input.text } }",
                json!({ "a": [{ "t": "x" }, { "t": "xabcx" }] }),
                'h',
            ),
            ("{ kind: not, assertion: { kind: contains, path: $.response.gone, value: x } }", json!({}), 'b'),
            (
                "{ kind: one_of, path: $.response.a, values: [1, { path: $.input.text }] }",
                json!({ "a": "abc" }),
                'h',
            ),
            ("{ kind: one_of, path: $.response.a, values: [1, 2] }", json!({ "a": 3 }), 'b'),
            ("{ kind: unique, path: $.response.a }", json!({ "a": [1, "1", true, null] }), 'h'),
            (
                "{ kind: unique, path: $.response.a }",
                json!({ "a": [{ "x": 1, "y": 2 }, { "y": 2.0, "x": 1 }] }),
                'b',
            ),
            (
                "{ kind: unique, path: $.response.a, by: $.item.id }",
                json!({ "a": [{ "id": 1 }, { "id": 1 }] }),
                'b',
            ),
            ("{ kind: unique, path: $.response.a, by: $.item.id }", json!({ "a": [{ "id": 1 }, {}] }), 'b'),
            ("{ kind: sorted, path: $.response.a }", json!({ "a": [1, 1, 2] }), 'h'),
            (
                "{ kind: sorted, path: '$.response.a[*].n', order: descending }",
                json!({ "a": [{ "n": "b" }, { "n": "a" }] }),
                'h',
            ),
            ("{ kind: sorted, path: $.response.a }", json!({ "a": [2, 1] }), 'b'),
            ("{ kind: not, assertion: { kind: sorted, path: $.response.a } }", json!({ "a": [2, "1"] }), 'b'),
            (
                "{ kind: matches_regex, path: $.response.a, pattern: key, except: 'key \\d' }",
                json!({ "a": "key 1" }),
                'b',
            ),
            (
                "{ kind: matches_regex, path: $.response.a, pattern: key, except: 'key \\d' }",
                json!({ "a": "key 1, key x" }),
                'h',
            ),
            ("{ kind: less_than, path: $.response.a, value: 3 }", json!({ "a": 3 }), 'b'),
            ("{ kind: greater_than, path: $.response.a, value: 2 }", json!({ "a": 3 }), 'h'),
            ("{ kind: parses_as_json, path: $.response.a }", json!({ "a": "{\"b\": 1}" }), 'h'),
            ("{ kind: parses_as_json, path: $.response.a }", json!({ "a": "{'b': 1}" }), 'b'),
            (
                "{ kind: parses_as_json, path: $.response.a, assert: [{ kind: equals, lhs: $.item.b, rhs: 1 }] }",
                json!({ "a": "{\"b\": 2}" }),
                'b',
            ),
            (
                "{ kind: same_as, path: $.response.a, other: $.response.b, ignore: [$.item.t, '$.item.l[*].t'] }",
                json!({ "a": { "t": 1, "x": 2, "l": [{ "t": 1 }] }, "b": { "x": 2, "l": [{ "t": 9 }] } }),
                'h',
            ),
            (
                "{ kind: same_as, path: $.response.a, other: $.response.b, ignore: [$.item.t] }",
                json!({ "a": { "t": 1, "x": 2 }, "b": { "t": 1, "x": 3 } }),
                'b',
            ),
            ("{ kind: expr, expr: 'response.a == input.limit + 1' }", json!({ "a": 4 }), 'h'),
            ("{ kind: expr, expr: 'response.a.all(x, x.id in [1, 2])' }", json!({ "a": [{ "id": 3 }] }), 'b'),
            ("{ kind: not, assertion: { kind: expr, expr: 'response.gone == 1' } }", json!({}), 'b'),
            ("{ kind: latency_below, value: 1s }", json!({}), 'u'),
            ("{ kind: equals, lhs: $.effects.files, rhs: [] }", json!({}), 'u'),
            ("{ kind: not, assertion: { kind: exists, path: $.effects.files } }", json!({}), 'u'),
            (
                "{ kind: any_of, assert: [{ kind: exists, path: $.effects.files }, { kind: equals, lhs: 1, rhs: 1 }] }",
                json!({}),
                'h',
            ),
            (
                "{ kind: all_of, assert: [{ kind: exists, path: $.effects.files }, { kind: equals, lhs: 1, rhs: 2 }] }",
                json!({}),
                'b',
            ),
            ("{ kind: expr, expr: 'size(effects.files) == 0' }", json!({}), 'u'),
            ("{ kind: contains, path: $.response.a, value: '{{marker}}' }", json!({ "a": "x" }), 'u'),
        ],
    );
}

#[test]
fn what_was_observed_can_be_judged() {
    let text = r#"
version: 4
invariants:
  - name: r
    tool: t
    fixed: {}
    assert:
      - { kind: latency_below, value: 500ms }
      - { kind: not, assertion: { kind: contains, path: "$.effects.programs[*]", value: "touch {{marker}}" } }
      - { kind: not_equals, lhs: "$.response.text", rhs: "{{canary.secret}}" }
      - { kind: equals, lhs: "$.tool.name", rhs: t }
"#;
    let rules = rules(text);
    let (input, response, tool) = (json!({}), json!({ "text": "s3cret" }), json!({ "name": "t" }));
    let (steps, marker, canary) = (json!({}), json!("m4rk"), json!({ "secret": "other" }));
    let judge = |latency: u64, effects: &Value, canary: &Value| {
        rules.rules[0].judge(&Context {
            input: &input,
            response: &response,
            tool: Some(&tool),
            effects: Some(effects),
            latency: Some(Duration::from_millis(latency)),
            known: Known { steps: &steps, canary: Some(canary), marker: Some(&marker) },
        })
    };
    let quiet = json!({ "programs": ["sh -c ls"] });
    assert_eq!(judge(10, &quiet, &canary), Verdict::Holds);
    assert!(matches!(judge(500, &quiet, &canary), Verdict::Broken(why) if why.contains("500 ms")));
    assert!(matches!(judge(10, &json!({ "programs": ["touch m4rk"] }), &canary), Verdict::Broken(_)));
    assert!(
        matches!(judge(10, &quiet, &json!({})), Verdict::Unknown(why) if why.contains("they need a directory"))
    );
    assert!(matches!(judge(10, &quiet, &json!({ "secret": "s3cret" })), Verdict::Broken(_)));
}

#[test]
fn every_explanation_is_one_sentence_with_path_expectation_and_finding() {
    let long = "x".repeat(10_000);
    let cases = [
        ("{ kind: equals, lhs: $.response.a, rhs: 5 }", json!({ "a": 4 })),
        ("{ kind: equals, lhs: $.response.a, rhs: $.input.text }", json!({ "a": long })),
        ("{ kind: not_equals, lhs: $.response.a, rhs: 4 }", json!({ "a": 4 })),
        ("{ kind: at_most, path: $.response.a, value: 3 }", json!({ "a": 4 })),
        ("{ kind: length_eq, path: $.response.a, value: 3 }", json!({ "a": [] })),
        ("{ kind: is_type, path: $.response.a, type: string }", json!({ "a": 4 })),
        ("{ kind: matches_regex, path: $.response.a, pattern: '^x$' }", json!({ "a": "y" })),
        (
            "{ kind: not, assertion: { kind: matches_regex, path: $.response.a, pattern: y } }",
            json!({ "a": "y" }),
        ),
        (
            "{ kind: matches_schema, path: $.response, schema: { properties: { a: { type: string } } } }",
            json!({ "a": 4 }),
        ),
        (
            "{ kind: any_of, assert: [{ kind: exists, path: $.response.b }, { kind: exists, path: $.response.c }] }",
            json!({}),
        ),
        (
            "{ kind: for_each, path: '$.response.a[*]', assert: [{ kind: at_least, path: $.item, value: 1 }] }",
            json!({ "a": [1, 0] }),
        ),
        ("{ kind: absent, path: $.response.a }", json!({ "a": 4 })),
        ("{ kind: contains, path: $.response.a, value: z }", json!({ "a": "y" })),
        ("{ kind: one_of, path: $.response.a, values: [1, 2] }", json!({ "a": 4 })),
        ("{ kind: unique, path: $.response.a }", json!({ "a": [1, 2, 1] })),
        ("{ kind: sorted, path: $.response.a }", json!({ "a": [1, 3, 2] })),
        ("{ kind: parses_as_json, path: $.response.a }", json!({ "a": "{" })),
        ("{ kind: same_as, path: $.response.a, other: $.response.b }", json!({ "a": 1, "b": 2 })),
        ("{ kind: expr, expr: 'has(response.a) && response.a == input.limit + 2' }", json!({ "a": 4 })),
        ("{ kind: expr, expr: 'response.b == 1' }", json!({ "a": 4 })),
        ("{ kind: equals, lhs: $.response.gone, rhs: 5 }", json!({})),
    ];
    let explanations: Vec<String> = cases
        .into_iter()
        .map(|(assertion, response)| {
            match verdict(4, assertion, json!({ "limit": 3, "text": "abc" }), response) {
                Verdict::Broken(why) => why,
                other => panic!("{assertion}: {other:?}"),
            }
        })
        .collect();
    assert!(explanations.iter().all(|why| why.len() < 400));
    insta::assert_snapshot!(explanations.join("\n"));
}

#[test]
fn nested_loops_over_a_large_response_are_cut_off_and_unknown() {
    let large = json!({ "a": vec![1; 20_000] });
    let claims = [
        "{ kind: for_each, path: $.response.a, assert: [{ kind: for_each, path: $.response.a, assert: [{ kind: at_least, path: $.item, value: 0 }] }] }",
        "{ kind: expr, expr: 'response.a.all(x, response.a.all(y, y == 1))' }",
        "{ kind: expr, expr: 'size(response.a.map(x, response.a + response.a)) == 1' }",
        "{ kind: for_each, path: $.response.a, assert: [{ kind: matches_schema, path: $.response, schema: { type: object } }] }",
        "{ kind: exists, path: '$.response.a[?count($.response.a[?@ == 2]) == 1]' }",
    ];
    for claim in claims {
        let found = verdict(4, claim, json!({}), large.clone());
        assert!(matches!(&found, Verdict::Unknown(why) if why.contains("cut off")), "{claim}: {found:?}");
    }
}
