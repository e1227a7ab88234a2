//! Paths against an independent implementation of RFC 9535, and the corners of the RFC by hand.

use super::Path;
use crate::evaluate::{Budget, Context, Scope};
use crate::library::Library;
use jsonpath_rust::JsonPath;
use proptest::prelude::*;
use serde_json::{Value, json};

fn select(text: &str, response: &Value) -> Vec<Value> {
    let path = Path::parse(text, &mut Library::default()).unwrap_or_else(|why| panic!("{text}: {why}"));
    let (input, budget) = (json!({ "limit": 2 }), Budget::default());
    let context = Context::new(&input, response);
    path.select(&Scope::new(&context, &budget)).unwrap().into_iter().cloned().collect()
}

fn reference(text: &str, response: &Value) -> Vec<Value> {
    let document = json!({ "response": response, "input": { "limit": 2 } });
    let found = document.query(text).unwrap_or_else(|why| panic!("{text}: {why}"));
    found.into_iter().cloned().collect()
}

fn sample() -> Value {
    json!({
        "a": [{ "id": 1, "t": "one", "tags": ["x", "y"] }, { "id": 2.0, "t": "two" }, { "id": 3, "t": null }, 5, "five", [1, [2, 3]]],
        "b": { "a": { "a": "deep" }, "with space": true, "ö": 1, "'": 2 },
        "n": [5, 3, 1, 4, 2],
        "e": [],
        "o": {},
    })
}

#[test]
fn paths_select_what_the_reference_selects() {
    let queries = [
        "$.response",
        "$.response.a",
        "$['response']['b'][\"a\"]",
        "$.response.b['with space']",
        "$.response.b.ö",
        "$.response.b['\\'']",
        "$.response.b['\\u00f6']",
        "$.response.a[0].id",
        "$.response.a[-1]",
        "$.response.a[99]",
        "$.response.n[1:3]",
        "$.response.n[:2]",
        "$.response.n[-2:]",
        "$.response.n[::2]",
        "$.response.n[::-1]",
        "$.response.n[3:0:-2]",
        "$.response.n[0,2,0]",
        "$.response.n[0, 1:3, -1]",
        "$.response.*",
        "$.response.a[*].id",
        "$.response..id",
        "$.response..a",
        "$.response..[0]",
        "$.response.e[*]",
        "$.response.a[?@.id]",
        "$.response.a[?@.id == 2]",
        "$.response.a[?@.id >= 2 && @.t != null]",
        "$.response.a[?(@.id == 1 || @.t == 'two') && !(@.tags)]",
        "$.response.a[?@.t == null]",
        "$.response.a[?@.gone == @.missing]",
        "$.response.a[?@.gone != 1]",
        "$.response.a[?@ == 5]",
        "$.response.a[?@ > 4]",
        "$.response.a[?@ == 'five']",
        "$.response.a[?length(@.t) == 3]",
        "$.response.a[?length(@.tags) > 1]",
        "$.response.a[?count(@.*) == 3]",
        "$.response.a[?match(@.t, 't.o')]",
        "$.response.a[?search(@.t, 'n')]",
        "$.response.a[?value(@.tags[0]) == 'x']",
        "$.response.a[?@.tags[?@ == 'y']]",
        "$.response.a[?@.id <= $.input.limit]",
        "$.response.n[?@ < 3, 0]",
        "$.response.b[?@ == true]",
        "$.response['a', 'n'][0]",
        "$.response.a[?@.id == 1.0e0]",
        "$.response.a[?@.id < 'x']",
    ];
    for query in queries {
        assert_eq!(select(query, &sample()), reference(query, &sample()), "{query}");
    }
}

#[test]
fn a_step_of_zero_selects_nothing() {
    assert_eq!(select("$.response.n[0:3:0]", &sample()), Vec::<Value>::new());
}

#[test]
fn a_value_is_compared_with_another_by_what_it_is() {
    // RFC 9535, 2.3.5.2.2: objects and arrays are equal by their members, and have no order.
    let response = json!({ "a": [{ "x": { "k": [1.0] }, "y": { "k": [1] } }, { "x": 1, "y": "1" }, { "x": [], "y": [] }] });
    assert_eq!(select("$.response.a[?@.x == @.y]", &response).len(), 2);
    assert_eq!(select("$.response.a[?@.x <= @.y]", &response).len(), 2);
    assert_eq!(select("$.response.a[?@.x < @.y]", &response).len(), 0);
}

#[test]
fn a_dot_in_a_filter_pattern_matches_no_end_of_a_line() {
    let response = json!(["a\rb", "a\nb", "axb"]);
    assert_eq!(select("$.response[?match(@, 'a.b')]", &response), ["axb"]);
}

/// Small documents of few names, so that paths meet something.
fn documents() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        (-3..4).prop_map(Value::from),
        "[ab]{0,2}".prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map("[abc]", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn queries() -> impl Strategy<Value = String> {
    let segment = prop_oneof![
        "\\.[abc]",
        Just(".*".to_owned()),
        "\\.\\.[abc]",
        Just("..*".to_owned()),
        (-3..3).prop_map(|index| format!("[{index}]")),
        (-3..3, -3..4, prop_oneof![Just(-1), Just(1), Just(2)])
            .prop_map(|(start, end, step)| format!("[{start}:{end}:{step}]")),
        "\\[\\?@\\.[abc]\\]",
        ("[abc]", prop_oneof![Just("=="), Just("!="), Just("<"), Just(">="), Just(">")], -2..3)
            .prop_map(|(name, relation, number)| format!("[?@.{name} {relation} {number}]")),
    ];
    prop::collection::vec(segment, 0..5).prop_map(|segments| format!("$.response{}", segments.concat()))
}

proptest! {
    #[test]
    fn any_path_selects_what_the_reference_selects(document in documents(), query in queries()) {
        prop_assert_eq!(select(&query, &document), reference(&query, &document), "{} on {}", query, document);
    }

    #[test]
    fn any_text_is_a_path_or_refused(text in "\\$\\.response[\\[\\].*?@$(){}'\"a-c0-9:,<>=!&| -]{0,40}") {
        let _ = Path::parse(&text, &mut Library::default());
    }
}
