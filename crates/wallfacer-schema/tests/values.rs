//! What values look like: realistic, varied, repeatable, drawn from the caller's pool.

mod support;

use serde_json::{Value, json};
use std::collections::BTreeSet;
use wallfacer_schema::{Attack, Choices, Having, Judgement, Pool, Schema};

fn compile(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap_or_else(|error| panic!("{error}"))
}

fn values(schema: &Value, pool: &Pool, count: u64) -> Vec<Value> {
    let compiled = compile(schema);
    (0..count).map(|case| compiled.valid(&mut Choices::for_case(3, case), pool).expect("a value")).collect()
}

#[test]
fn the_same_seed_gives_the_same_values_whatever_was_asked_before() {
    let schema = json!({
        "type": "object",
        "required": ["path", "limit", "mode"],
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 100},
            "mode": {"oneOf": [{"const": "fast"}, {"type": "string", "pattern": "^x-[a-z]{2}$"}]},
            "ratio": {"type": "number", "exclusiveMinimum": 0, "maximum": 1}
        }
    });
    let first = compile(&schema);
    let second = compile(&schema);
    let _ = second.boundary(&Pool::new());
    let pool = Pool::new();
    let made: Vec<String> = (0..3)
        .map(|case| first.valid(&mut Choices::for_case(42, case), &pool).expect("a value").to_string())
        .collect();
    for case in (0..3).rev() {
        let again = second.valid(&mut Choices::for_case(42, case), &pool).expect("a value").to_string();
        assert_eq!(again, made[case as usize]);
    }
    // Written down, so that a platform or a release that draws otherwise is noticed.
    assert_eq!(made, REMEMBERED);
}

const REMEMBERED: [&str; 3] = [
    r#"{"path":"barhd","limit":100,"mode":"x-ye","ratio":0.17}"#,
    r#"{"path":"src/main.py","limit":8,"mode":"fast","ratio":1}"#,
    r#"{"path":"src/main.py","limit":5,"mode":"fast"}"#,
];

#[test]
fn names_formats_defaults_and_examples_show_in_values() {
    let schema = json!({
        "type": "object",
        "required": ["timezone", "repoPath", "contact", "site", "level", "owner"],
        "properties": {
            "timezone": {"type": "string"},
            "repoPath": {"type": "string"},
            "contact": {"type": "string", "format": "email"},
            "site": {"type": "string", "description": "The URL to open"},
            "level": {"type": "string", "default": "info", "examples": ["debug"]},
            "owner": {"type": "string"}
        }
    });
    let made = values(&schema, &Pool::new(), 100);
    let seen = |key: &str| {
        made.iter().map(|value| value[key].as_str().unwrap_or("").to_owned()).collect::<BTreeSet<_>>()
    };
    assert!(seen("timezone").contains("Europe/Berlin"));
    assert!(seen("repoPath").contains("."));
    assert!(seen("contact").iter().all(|address| address.contains('@')));
    assert!(seen("site").contains("https://example.com/"));
    assert!(seen("level").contains("info") && seen("level").contains("debug"));
    assert!(seen("owner").contains("octocat"));
}

#[test]
fn the_pool_is_drawn_from_where_it_fits_and_only_there() {
    let schema = json!({
        "type": "object",
        "required": ["id", "files", "when", "count"],
        "properties": {
            "id": {"type": "string", "maxLength": 8},
            "files": {"type": "array", "minItems": 1, "items": {"type": "object", "required": ["path"], "properties": {"path": {"type": "string"}}}},
            "when": {"type": "string", "format": "date"},
            "count": {"type": "integer", "maximum": 10}
        }
    });
    let mut pool = Pool::new();
    pool.add_for_name("id", json!("known-1"));
    pool.add_for_name("id", json!("much too long to fit"));
    pool.add_for_name("count", json!(5000));
    pool.add_for_path("/files/*/path", json!("/srv/data/report.txt"));
    pool.add_for_format("date", json!("2031-07-08"));
    let judge = support::judge(&schema).expect("a judge");
    let made = values(&schema, &pool, 100);
    assert!(made.iter().all(|value| judge.is_valid(value)));
    let count = |test: &dyn Fn(&Value) -> bool| made.iter().filter(|value| test(value)).count();
    assert!(count(&|value| value["id"] == "known-1") > 20);
    assert!(count(&|value| value["files"][0]["path"] == "/srv/data/report.txt") > 50);
    assert!(count(&|value| value["when"] == "2031-07-08") > 50);
    assert_eq!(count(&|value| value["count"] == 5000), 0);
}

#[test]
fn boundaries_lie_on_both_sides_of_each_limit() {
    let schema = json!({
        "type": "object",
        "required": ["limit", "name"],
        "additionalProperties": false,
        "properties": {
            "limit": {"type": "integer", "minimum": 1, "exclusiveMaximum": 101},
            "name": {"type": "string", "minLength": 2, "maxLength": 5},
            "mode": {"enum": ["a", "b"]},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3}
        }
    });
    let compiled = compile(&schema);
    let boundary = compiled.boundary(&Pool::new()).expect("a list");
    let invalid = compiled.invalid(&Pool::new()).expect("a list");
    let inside = |at: &str| boundary.iter().map(|made| made.value.pointer(at).cloned()).collect::<Vec<_>>();
    let outside = |at: &str| {
        invalid
            .iter()
            .filter(|made| made.violation.at == at)
            .map(|made| made.value.pointer(at).cloned())
            .collect::<Vec<_>>()
    };
    for limit in [1, 2, 99, 100] {
        assert!(inside("/limit").contains(&Some(json!(limit))), "{limit}");
    }
    for limit in [0, 101] {
        assert!(outside("/limit").contains(&Some(json!(limit))), "{limit}");
    }
    let lengths = |values: Vec<Option<Value>>| {
        values
            .into_iter()
            .flatten()
            .filter_map(|value| Some(value.as_str()?.len()))
            .collect::<BTreeSet<usize>>()
    };
    assert!(lengths(inside("/name")).is_superset(&BTreeSet::from([2, 3, 4, 5])));
    assert!(lengths(outside("/name")).is_superset(&BTreeSet::from([1, 6])));
    assert!(inside("/mode").contains(&Some(json!("a"))) && inside("/mode").contains(&Some(json!("b"))));
    assert!(boundary.iter().any(|made| made.value.get("tags").is_none()));
    assert!(inside("/tags").contains(&Some(json!([]))));
}

#[test]
fn an_invalid_value_names_its_violation_and_its_place() {
    let schema = json!({
        "type": "object",
        "required": ["filters"],
        "additionalProperties": false,
        "properties": {"filters": {"type": "array", "minItems": 1, "uniqueItems": true, "items": {
            "type": "object",
            "required": ["limit"],
            "properties": {
                "limit": {"type": "integer", "maximum": 100, "multipleOf": 5},
                "when": {"type": "string", "format": "date"},
                "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
                "kind": {"const": "x"},
                "from": {"type": "string"}, "to": {"type": "string"}
            },
            "dependentRequired": {"from": ["to"]}
        }}}
    });
    let invalid = compile(&schema).invalid(&Pool::new()).expect("a list");
    let named: BTreeSet<String> = invalid.iter().map(|made| made.violation.to_string()).collect();
    for expected in [
        "/filters/0/limit: above maximum 100",
        "/filters/0/limit: not a multiple of 5",
        "/filters/0/limit: is null, not integer",
        "/filters/0: missing required `limit`",
        "/filters/0/when: is no date",
        "/filters/0/code: does not match `^[A-Z]{3}$`",
        "/filters/0/kind: is not the one constant allowed",
        "/filters/0: has `from` without `to`",
        "/filters: has fewer than 1 items",
        "/filters: has an item twice",
        "/wallfacer_unknown_key: is an unknown key",
        "(root): missing required `filters`",
    ] {
        assert!(named.contains(expected), "{expected} is not in {named:#?}");
    }
}

#[test]
fn attacks_suit_the_field_and_stay_valid_where_they_can() {
    let schema = json!({
        "type": "object",
        "required": ["file_path", "code"],
        "properties": {
            "file_path": {"type": "string"},
            "code": {"type": "string", "pattern": "^[a-z]+$"},
            "sql": {"type": "string"},
            "size": {"type": "integer"},
            "rows": {"type": "array", "items": {"type": "integer"}}
        }
    });
    let compiled = compile(&schema);
    let attacks = compiled.adversarial(&Pool::new()).expect("a list");
    let at = |place: &str, attack: Attack| {
        attacks.iter().filter(|made| made.at == place && made.attack == attack).collect::<Vec<_>>()
    };
    assert!(at("/file_path", Attack::PathTraversal).len() > 10);
    assert!(at("/sql", Attack::SqlInjection).len() > 5);
    assert!(at("/size", Attack::ExtremeNumber).iter().any(|made| made.value["size"] == json!(i64::MAX)));
    assert!(
        at("/rows", Attack::Many)
            .iter()
            .any(|made| made.value["rows"].as_array().is_some_and(|rows| rows.len() >= 1000))
    );
    assert!(at("", Attack::PrototypeKey).iter().all(|made| made.conforms));
    assert!(at("/code", Attack::PathTraversal).iter().all(|made| !made.conforms));
    for made in &attacks {
        assert_eq!(made.conforms, compiled.judge(&made.value) == Judgement::Valid);
    }
}

/// As the usual generators of schemas write them: pydantic, zod, schemars, Go and Java libraries.
#[test]
fn the_dialects_of_schema_generators_are_understood() {
    let pydantic = json!({
        "$defs": {"Unit": {"enum": ["c", "f"], "type": "string"}, "Cat": {"type": "object", "properties": {"kind": {"const": "cat", "type": "string"}, "lives": {"type": "integer", "exclusiveMinimum": 0}}, "required": ["kind", "lives"]}, "Dog": {"type": "object", "properties": {"kind": {"const": "dog", "type": "string"}}, "required": ["kind"]}},
        "type": "object",
        "properties": {
            "city": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": null},
            "unit": {"$ref": "#/$defs/Unit", "default": "c"},
            "pet": {"discriminator": {"propertyName": "kind", "mapping": {"cat": "#/$defs/Cat"}}, "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}]},
            "point": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 2, "maxItems": 2}
        },
        "required": ["pet", "point"]
    });
    let zod = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {
            "kind": {"anyOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]},
            "pair": {"type": "array", "minItems": 2, "maxItems": 2, "items": [{"type": "string"}, {"type": "number"}]},
            "map": {"type": "object", "additionalProperties": {"type": "number"}, "propertyNames": {"pattern": "^[a-z]+$"}},
            "email": {"type": "string", "format": "email"},
            "either": {"allOf": [{"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}, {"type": "object", "properties": {"y": {"type": "number"}}, "required": ["y"]}]}
        },
        "required": ["kind", "pair", "map", "either"],
        "additionalProperties": false
    });
    let schemars = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "count": {"type": "integer", "format": "uint32", "minimum": 0},
            "level": {"oneOf": [{"type": "string", "enum": ["Low"]}, {"type": "object", "properties": {"Custom": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}}, "required": ["Custom"], "additionalProperties": false}]},
            "name": {"type": ["string", "null"]},
            "seen": {"type": "array", "items": {"type": "string"}, "uniqueItems": true}
        },
        "required": ["count", "level"],
        "unevaluatedProperties": false
    });
    let openapi = json!({
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://example.com/root",
        "type": "object",
        "properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 5}, "next": {"$ref": "#/definitions/Node"}},
        "required": ["n"],
        "definitions": {"Node": {"type": "object", "properties": {"next": {"$ref": "#/definitions/Node"}}, "dependencies": {"a": ["b"], "c": {"required": ["d"]}}}}
    });
    let conditional = json!({
        "type": "object",
        "properties": {"type": {"enum": ["card", "cash"]}, "number": {"type": "string", "pattern": "^[0-9]{4}$"}},
        "required": ["type"],
        "allOf": [{"if": {"properties": {"type": {"const": "card"}}}, "then": {"required": ["number"]}, "else": {"not": {"required": ["number"]}}}],
        "additionalProperties": false
    });
    for (name, schema) in [
        ("pydantic", pydantic),
        ("zod", zod),
        ("schemars", schemars),
        ("openapi", openapi),
        ("conditional", conditional),
    ] {
        let judge = support::judge(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        for value in values(&schema, &Pool::new(), 200) {
            assert!(judge.is_valid(&value), "{name}: {value}");
        }
        let compiled = compile(&schema);
        assert!(
            compiled.boundary(&Pool::new()).expect("a list").iter().all(|made| judge.is_valid(&made.value)),
            "{name}"
        );
        assert!(
            compiled.invalid(&Pool::new()).expect("a list").iter().all(|made| !judge.is_valid(&made.value)),
            "{name}"
        );
    }
}

#[test]
fn keywords_without_meaning_are_noted_and_ignored() {
    let schema = compile(&json!({"type": "date", "minLength": -1, "required": true, "properties": {"a": 5}}));
    let noted: BTreeSet<String> =
        schema.ignored().iter().map(|ignored| format!("{} {}", ignored.at, ignored.keyword)).collect();
    let expected = [" minLength", " required", " type", "/properties/a "].map(str::to_owned);
    assert_eq!(noted, BTreeSet::from(expected));
    assert!(schema.valid(&mut Choices::seeded(1), &Pool::new()).is_ok());
}

#[test]
fn a_schema_can_be_shared_between_threads() {
    let schema = compile(
        &json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]}}}),
    );
    let make = || {
        (0..50).map(|case| schema.valid(&mut Choices::for_case(1, case), &Pool::new())).collect::<Vec<_>>()
    };
    let (first, second) = std::thread::scope(|scope| {
        let (first, second) = (scope.spawn(make), scope.spawn(make));
        (first.join().expect("no panic"), second.join().expect("no panic"))
    });
    assert_eq!(first, second);
}

#[test]
fn members_by_pattern_and_conditional_branches_are_broken_too() {
    let schema = json!({
        "type": "object",
        "properties": {"kind": {"enum": ["card", "cash"]}},
        "required": ["kind"],
        "patternProperties": {"^x-": {"type": "integer", "maximum": 9}},
        "additionalProperties": {"type": "string", "minLength": 2},
        "if": {"properties": {"kind": {"const": "card"}}},
        "then": {"required": ["number"]}
    });
    let invalid = compile(&schema).invalid(&Pool::new()).expect("a list");
    let named: BTreeSet<String> = invalid.iter().map(|made| made.violation.to_string()).collect();
    for expected in ["/x-: above maximum 9", "/extra: shorter than 2", "(root): missing required `number`"] {
        assert!(named.contains(expected), "{expected} is not in {named:#?}");
    }
}

#[test]
fn long_lists_of_different_items_are_made_and_judged() {
    let schema = json!({"type": "array", "items": {"type": "string"}, "minItems": 500, "uniqueItems": true});
    let judge = support::judge(&schema).expect("a judge");
    assert!(values(&schema, &Pool::new(), 3).iter().all(|value| judge.is_valid(value)));
}

#[test]
fn a_value_has_the_optional_parts_that_are_asked_for_and_no_others() {
    let schema = json!({
        "type": "object",
        "properties": {
            "title": { "type": "string" },
            "mode": { "type": "string", "enum": ["near", "far"] },
            "stops": {
                "type": "array",
                "items": { "type": "object", "properties": { "at": { "type": "string" } } },
            },
        },
        "required": ["title", "stops"],
    });
    let made = |having: &Having| compile(&schema).simplest_having(having, &Pool::new()).expect("a value");
    assert_eq!(made(&Having::default()), json!({ "title": "example", "stops": [] }));
    let all = Having {
        keys: BTreeSet::from(["mode".to_owned()]),
        items: true,
        inner_keys: true,
        ..Having::default()
    };
    assert_eq!(made(&all), json!({ "title": "example", "mode": "near", "stops": [{ "at": "example" }] }));
}
