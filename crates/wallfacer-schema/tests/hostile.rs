//! Schemas written to exhaust whoever reads them, and the mistakes that generators are known to make.

mod support;

use serde_json::{Value, json};
use std::time::{Duration, Instant};
use wallfacer_schema::{Choices, CompileError, Judgement, Pool, Schema, Unable, weight};

/// Generous for a loaded machine and an unoptimised build; an exponential run would take years.
const SOON: Duration = Duration::from_secs(60);

/// Everything that the crate offers, within the time; what came of the first valid value is handed back.
fn soon(schema: &Value) -> Result<Value, String> {
    let start = Instant::now();
    let outcome = Schema::compile(schema).map_err(|error| error.to_string()).and_then(|schema| {
        let pool = Pool::new();
        let first = schema.valid(&mut Choices::seeded(1), &pool).map_err(|error| error.to_string());
        for case in 0..5 {
            if let Ok(value) = schema.valid(&mut Choices::for_case(1, case), &pool) {
                assert_eq!(schema.judge(&value), Judgement::Valid);
            }
        }
        for made in schema.boundary(&pool).unwrap_or_default() {
            assert_eq!(schema.judge(&made.value), Judgement::Valid, "{}", made.limit);
        }
        for made in schema.invalid(&pool).unwrap_or_default() {
            assert_eq!(schema.judge(&made.value), Judgement::Invalid, "{}", made.violation);
        }
        let _ = schema.adversarial(&pool);
        first
    });
    assert!(start.elapsed() < SOON, "took {:?}", start.elapsed());
    outcome
}

fn values(schema: &Value, count: u64) -> Vec<Value> {
    let compiled = Schema::compile(schema).expect("compiles");
    let judge = support::judge(schema).expect("a judge");
    let make = |case| {
        let value = compiled.valid(&mut Choices::for_case(9, case), &Pool::new()).expect("a value");
        assert!(judge.is_valid(&value), "{value}");
        value
    };
    (0..count).map(make).collect()
}

#[test]
fn a_list_of_a_million_items_is_refused_with_the_place() {
    let schema = json!({"type": "object", "properties": {"rows": {"type": "array", "minItems": 1_000_000}}, "required": ["rows"]});
    let compiled = Schema::compile(&schema).expect("compiles");
    let error = compiled.valid(&mut Choices::seeded(1), &Pool::new()).expect_err("too large");
    assert_eq!(
        error.to_string(),
        "too large at #/properties/rows: 1000000 items are demanded, 10000 is the limit"
    );
    assert!(soon(&json!({"type": "array", "minItems": 1_000_000})).is_err());
}

#[test]
fn a_string_of_ten_million_characters_is_refused_with_the_place() {
    let error = soon(&json!({"type": "string", "minLength": 10_000_000})).expect_err("too large");
    assert_eq!(error, "too large at #: 10000000 characters are demanded, 1048576 is the limit");
}

#[test]
fn many_long_texts_in_one_value_are_refused_with_the_place() {
    let schema =
        json!({"type": "array", "minItems": 2000, "items": {"type": "string", "minLength": 900_000}});
    let compiled = Schema::compile(&schema).expect("compiles");
    let error = compiled.valid(&mut Choices::seeded(1), &Pool::new()).expect_err("too large");
    assert_eq!(error.to_string(), "too large at #/items: a value has more than 4194304 bytes of text");
}

#[test]
fn no_list_of_large_values_takes_much_memory() {
    /// A list may hold 8 MiB, and the values that are too much.
    const MOST: usize = 32 << 20;
    let names: Vec<String> = (0..4000).map(|number| format!("key number {number}")).collect();
    let text = json!({"type": "string", "minLength": 900_000});
    for schema in [
        json!({"type": "object", "properties": {"text": text, "other": {"type": "string"}}, "required": ["text"]}),
        json!({"type": "object", "required": names}),
        json!({"type": "object", "required": names, "properties": {"a": {}}, "dependentRequired": {"a": names}}),
        json!({"type": "array", "items": text}),
        json!({"type": "array", "contains": text, "minContains": 2, "maxContains": 4000}),
    ] {
        let compiled = Schema::compile(&schema).expect("compiles");
        let pool = Pool::new();
        let lists = [
            compiled
                .boundary(&pool)
                .unwrap_or_default()
                .iter()
                .map(|made| weight(&made.value))
                .sum::<usize>(),
            compiled.invalid(&pool).unwrap_or_default().iter().map(|made| weight(&made.value)).sum(),
            compiled.adversarial(&pool).unwrap_or_default().iter().map(|made| weight(&made.value)).sum(),
        ];
        assert!(lists.iter().all(|list| *list < MOST), "{lists:?}");
        assert!(lists[1] > 0 && lists[2] > 0, "nothing is made of it: {lists:?}");
    }
}

#[test]
fn more_than_eight_items_and_more_than_256_characters_are_no_problem() {
    let schema = json!({
        "type": "object",
        "required": ["list", "text"],
        "properties": {
            "list": {"type": "array", "items": {"type": "integer"}, "minItems": 50},
            "text": {"type": "string", "minLength": 5000}
        }
    });
    values(&schema, 20);
    assert!(soon(&schema).is_ok());
}

#[test]
fn contradictions_are_proven_and_located() {
    for (schema, at) in [
        (json!({"allOf": [{"type": "string"}, {"type": "integer"}]}), "#/allOf/1"),
        (json!({"type": "integer", "minimum": 5, "maximum": 4}), "#"),
        (json!({"type": "string", "minLength": 5, "maxLength": 4}), "#"),
        (json!({"type": "object", "required": ["a"], "properties": {"a": false}}), "#"),
        (json!({"enum": [1, 2], "type": "string"}), "#"),
        (json!({"type": "integer", "multipleOf": 10, "minimum": 1, "maximum": 9}), "#"),
        (json!(false), "#"),
        (json!({"anyOf": [false, {"type": "array", "minItems": 2, "maxItems": 1}]}), "#/anyOf/0"),
    ] {
        let compiled = Schema::compile(&schema).expect("compiles");
        match compiled.valid(&mut Choices::seeded(1), &Pool::new()) {
            Err(Unable::Unsatisfiable { at: found, .. }) => assert_eq!(found, at, "{schema}"),
            other => panic!("{schema}: {other:?}"),
        }
    }
}

#[test]
fn recursion_ends() {
    let tree = json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {
            "type": "object",
            "required": ["name", "children"],
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "left": {"$ref": "#/$defs/node"},
                "right": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]}
            }
        }}
    });
    values(&tree, 50);
    assert!(soon(&tree).is_ok());
    let endless = json!({"type": "object", "required": ["next"], "properties": {"next": {"$ref": "#"}}});
    assert!(soon(&endless).expect_err("no finite value").contains("unsatisfiable"));
}

#[test]
fn a_reference_to_itself_is_refused() {
    for schema in
        [json!({"$ref": "#"}), json!({"allOf": [{"anyOf": [{"$ref": "#"}]}]}), json!({"not": {"$ref": "#"}})]
    {
        assert!(matches!(Schema::compile(&schema), Err(CompileError::Circular { .. })), "{schema}");
    }
}

#[test]
fn remote_and_file_references_are_refused_by_name() {
    for reference in [
        "http://example.com/a.json",
        "file:///etc/passwd",
        "other.json#/a",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        let error = Schema::compile(&json!({"properties": {"a": {"$ref": reference}}})).expect_err("remote");
        let expected =
            format!("#/properties/a: `{reference}` lies outside this document and is never fetched");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn doubling_references_do_not_double_the_work() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({"allOf": [next, next], "anyOf": [next, next]}));
    }
    definitions.insert("d40".to_owned(), json!({"type": "integer"}));
    let _ = soon(&json!({"$ref": "#/$defs/d0", "$defs": definitions}));
}

#[test]
fn doubling_members_end_at_the_limit() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(
            format!("d{level}"),
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": next, "b": next}}),
        );
    }
    definitions.insert("d40".to_owned(), json!({"type": "integer"}));
    let error = soon(&json!({"$ref": "#/$defs/d0", "$defs": definitions})).expect_err("2^40 members");
    assert!(error.contains("too large"), "{error}");
}

#[test]
fn many_branches_and_many_choices_end_soon() {
    let branches: Vec<Value> =
        (0..1000).map(|n| json!({"properties": {"kind": {"const": n}}, "required": ["kind"]})).collect();
    assert!(soon(&json!({"oneOf": branches})).is_ok());
    let choices: Vec<Value> = (0..30)
        .map(|n| json!({"anyOf": [{"required": [format!("a{n}")]}, {"required": [format!("b{n}")]}, {"maxProperties": 3}]}))
        .collect();
    let _ = soon(&json!({"type": "object", "allOf": choices}));
    let contradictory: Vec<Value> =
        (0..16).map(|n| json!({"anyOf": [{"multipleOf": n + 2}, {"multipleOf": n + 3}]})).collect();
    let _ = soon(&json!({"type": "integer", "minimum": 1, "maximum": 1000, "allOf": contradictory}));
}

#[test]
fn catastrophic_patterns_end_soon() {
    for pattern in [
        "^(a+)+$",
        "^(a|aa)+$",
        "(x+x+)+y",
        "^(?=(a+)+b)a{40}$",
        "((a{1000}){1000}){1000}",
        "^(.*.*.*.*)*!$",
        "(((((a*)*)*)*)*)*b",
    ] {
        let _ = soon(&json!({"type": "string", "pattern": pattern, "minLength": 30}));
        let _ =
            soon(&json!({"not": {"type": "string", "pattern": pattern}, "type": "string", "minLength": 50}));
    }
}

#[test]
fn a_deeply_nested_schema_is_read_without_exhausting_the_stack() {
    let mut schema = json!({"type": "string"});
    for _ in 0..120 {
        schema = json!({"type": "array", "items": {"not": {"not": schema}}});
    }
    let _ = soon(&schema);
}

#[test]
fn exclusive_bounds_are_exclusive() {
    for value in values(&json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 3}), 50) {
        assert!(matches!(value.as_i64(), Some(1 | 2)), "{value}");
    }
}

#[test]
fn combinations_do_not_replace_the_keywords_beside_them() {
    let schema = json!({
        "type": "object",
        "properties": {"id": {"type": "integer"}, "name": {"type": "string", "minLength": 1}},
        "anyOf": [{"required": ["id"]}, {"required": ["name"]}]
    });
    for value in values(&schema, 50) {
        assert!(value.get("id").is_some() || value.get("name").is_some(), "{value}");
    }
}

#[test]
fn optional_keys_are_sometimes_there_and_sometimes_not_and_null_is_tried() {
    let schema = json!({
        "type": "object",
        "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "integer"}},
        "required": ["undeclared"]
    });
    let made = values(&schema, 200);
    assert!(
        made.iter().any(|value| value.get("b").is_some())
            && made.iter().any(|value| value.get("b").is_none())
    );
    assert!(made.iter().any(|value| value.get("a") == Some(&Value::Null)));
    assert!(made.iter().all(|value| value.get("undeclared").is_some()));
}

#[test]
fn one_of_and_not_are_met_every_time() {
    let schema = json!({
        "oneOf": [
            {"type": "number", "multipleOf": 5},
            {"type": "number", "multipleOf": 3},
            {"type": "object", "properties": {"a": {"not": {"type": "integer"}}}, "required": ["a"]}
        ],
        "not": {"const": 10}
    });
    values(&schema, 300);
}

#[test]
fn inside_one_of_invalid_values_are_made_too() {
    let schema = json!({"oneOf": [{"type": "string", "maxLength": 3}, {"type": "integer", "maximum": 5}]});
    let compiled = Schema::compile(&schema).expect("compiles");
    let invalid = compiled.invalid(&Pool::new()).expect("a list");
    let says = |text: &str| invalid.iter().any(|made| made.violation.to_string() == text);
    assert!(says("(root): longer than 3"), "{invalid:?}");
    assert!(says("(root): above maximum 5"), "{invalid:?}");
}

#[test]
fn an_item_that_is_wanted_may_stand_at_a_fixed_position() {
    let schema = json!({
        "type": "array",
        "prefixItems": [{"type": "string"}],
        "items": {"type": "integer"},
        "contains": {"type": "string"}
    });
    values(&schema, 50);
}

#[test]
fn long_chains_of_dependencies_end_soon() {
    let properties: serde_json::Map<String, Value> =
        (0..4000).map(|n| (format!("k{n}"), json!({"type": "integer"}))).collect();
    let dependent: serde_json::Map<String, Value> =
        (0..3999).map(|n| (format!("k{n}"), json!([format!("k{}", n + 1)]))).collect();
    let schema = json!({"type": "object", "properties": properties, "dependentRequired": dependent, "required": ["k3990"]});
    let compiled = Schema::compile(&schema).expect("compiles");
    let start = Instant::now();
    let value = compiled.valid(&mut Choices::simplest(), &Pool::new()).expect("a value");
    assert_eq!(value.as_object().map(serde_json::Map::len), Some(10));
    assert!(compiled.valid(&mut Choices::seeded(1), &Pool::new()).is_ok());
    assert!(start.elapsed() < SOON, "took {:?}", start.elapsed());
}

#[test]
fn many_patterns_end_soon() {
    let patterns: serde_json::Map<String, Value> =
        (0..400).map(|n| (format!("^[a-f]{{1,9}}{n}$"), json!({"type": "integer"}))).collect();
    let _ = soon(&json!({"type": "object", "patternProperties": patterns, "minProperties": 3}));
}

#[test]
fn many_dependent_schemas_end_soon() {
    let dependent: serde_json::Map<String, Value> =
        (0..400).map(|n| (format!("k{n}"), json!({"required": [format!("k{}", n + 1)]}))).collect();
    let _ = soon(&json!({"type": "object", "dependentSchemas": dependent}));
}

#[test]
fn a_pattern_of_many_letters_of_all_scripts_is_supported() {
    values(&json!({"type": "string", "pattern": "^[\\p{L}\\p{N} ]{1,100}$"}), 20);
}

#[test]
fn every_key_is_judged_by_itself_however_many_there_are() {
    let schema = Schema::compile(&json!({"propertyNames": {"maxLength": 5}})).expect("compiles");
    let mut members: serde_json::Map<String, Value> =
        (0..5000).map(|n| (format!("k{n}"), json!(n))).collect();
    assert_eq!(schema.judge(&members.clone().into()), Judgement::Valid);
    members.insert("much too long".to_owned(), json!(0));
    assert_eq!(schema.judge(&members.into()), Judgement::Invalid);
}

#[test]
fn choices_on_every_level_do_not_exhaust_the_stack() {
    let choices: Vec<Value> = (0..60)
        .map(|n| json!({"anyOf": [{"required": ["next"]}, {"required": ["next", format!("a{n}")]}]}))
        .collect();
    let _ = soon(&json!({
        "type": "object",
        "allOf": choices,
        "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "array", "minItems": 1, "items": {"$ref": "#"}}]}}
    }));
}

#[test]
fn integers_of_more_than_64_bits_are_not_called_impossible() {
    for schema in [
        json!({"type": "integer", "minimum": 1e30}),
        json!({"type": "integer", "minimum": 1, "multipleOf": 1e25}),
    ] {
        let compiled = Schema::compile(&schema).expect("compiles");
        let outcome = compiled.valid(&mut Choices::seeded(1), &Pool::new());
        assert!(matches!(outcome, Err(Unable::TooLarge { .. })), "{schema}: {outcome:?}");
    }
    for value in values(&json!({"type": "integer", "multipleOf": 1e37}), 5) {
        assert_eq!(value, json!(0));
    }
}
