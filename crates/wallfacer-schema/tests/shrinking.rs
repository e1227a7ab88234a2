//! Shrinking stays in its class, ends, and ends at a local minimum.

use serde_json::{Value, json};
use wallfacer_schema::{Choices, Class, Judgement, Limits, Pool, Rule, Schema, Shrinker};

fn orders() -> Value {
    json!({
        "type": "object",
        "required": ["orders"],
        "additionalProperties": false,
        "properties": {
            "orders": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "type": "object",
                    "required": ["id", "count"],
                    "properties": {
                        "id": {"type": "string", "minLength": 1},
                        "count": {"type": "integer", "minimum": 0, "maximum": 1000},
                        "tags": {"type": "array", "items": {"type": "string"}}
                    }
                }
            },
            "note": {"type": "string"}
        }
    })
}

/// Runs to the end and gives the result with the number of proposals.
fn run(mut shrinker: Shrinker, fails: impl Fn(&Value) -> bool) -> (Value, usize) {
    let mut proposals = 0;
    while let Some(candidate) = shrinker.next() {
        proposals += 1;
        shrinker.keep(fails(&candidate));
    }
    (shrinker.into_best(), proposals)
}

fn has_large_count(value: &Value) -> bool {
    let orders = value["orders"].as_array();
    orders.is_some_and(|orders| {
        orders.iter().any(|order| order["count"].as_i64().is_some_and(|count| count > 17))
    })
}

fn failing(schema: &Schema) -> (Value, Vec<u64>) {
    (0..1000)
        .find_map(|case| {
            let mut choices = Choices::for_case(5, case);
            let value = schema.valid(&mut choices, &Pool::new()).expect("a value");
            has_large_count(&value).then(|| (value, choices.recorded().to_vec()))
        })
        .expect("one of a thousand values fails")
}

#[test]
fn a_valid_value_shrinks_to_the_smallest_valid_one_that_fails() {
    let schema = Schema::compile(&orders()).expect("compiles");
    let (value, draws) = failing(&schema);
    let pool = Pool::new();
    let with_draws = Shrinker::from_draws(&schema, value.clone(), &draws, &pool, Class::Valid);
    let without = Shrinker::new(&schema, value, Class::Valid);
    for shrinker in [with_draws, without] {
        let (small, _) = run(shrinker, has_large_count);
        assert_eq!(schema.judge(&small), Judgement::Valid);
        assert_eq!(small, json!({"orders": [{"id": "a", "count": 18}]}));
    }
}

#[test]
fn an_invalid_value_keeps_its_violation_and_gains_no_other() {
    let schema = Schema::compile(&orders()).expect("compiles");
    let value = json!({
        "orders": [{"id": "first", "count": 3}, {"id": "second", "count": 5000, "tags": ["x", "y"]}],
        "note": "a long note about nothing"
    });
    let violation = schema.violations(&value).into_iter().next().expect("one violation");
    assert_eq!((violation.at.as_str(), violation.rule), ("/orders/1/count", Rule::Maximum));
    let (small, _) = run(Shrinker::new(&schema, value, Class::Invalid(violation)), |_| true);
    assert_eq!(small, json!({"orders": [{"id": "a", "count": 1001}]}));
}

#[test]
fn any_value_shrinks_without_regard_to_the_schema() {
    let schema = Schema::compile(&orders()).expect("compiles");
    let value = json!({"orders": "many", "other": [1, 2, {"deep": "needle in a haystack"}]});
    let (small, _) =
        run(Shrinker::new(&schema, value, Class::Any), |value| value.to_string().contains("needle"));
    assert_eq!(small, json!("needle"));
}

#[test]
fn proposals_are_bounded_even_when_all_are_refused() {
    let limits = Limits { shrinks: 25, ..Limits::default() };
    let schema = Schema::compile_with(&orders(), limits).expect("compiles");
    let (value, draws) = failing(&schema);
    let pool = Pool::new();
    let (same, proposals) =
        run(Shrinker::from_draws(&schema, value.clone(), &draws, &pool, Class::Valid), |_| false);
    assert_eq!(same, value);
    assert!(proposals <= 25, "{proposals}");
}

#[test]
fn an_unanswered_proposal_is_not_kept() {
    let schema = Schema::compile(&orders()).expect("compiles");
    let (value, _) = failing(&schema);
    let mut shrinker = Shrinker::new(&schema, value.clone(), Class::Any);
    while shrinker.next().is_some() {}
    assert_eq!(shrinker.best(), &value);
}

#[test]
fn recorded_draws_make_the_same_value_again() {
    let schema = Schema::compile(&orders()).expect("compiles");
    let (value, draws) = failing(&schema);
    assert_eq!(schema.valid(&mut Choices::replay(&draws), &Pool::new()), Ok(value));
}
