//! Lists the places where two values differ.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::place::Place;

/// Differences that are told of two values; more say no more.
const MAX_DIFFERENCES: usize = 64;

/// One place where two values differ; what is missing on one side is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference<'a> {
    pub place: Place,
    pub one: Option<&'a Value>,
    pub other: Option<&'a Value>,
}

/// Where two values differ, as deep down as it goes. Lists of different lengths differ as a whole.
/// Values are read from messages whose depth is bounded.
pub fn differences<'a>(one: &'a Value, other: &'a Value) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    compare(Place::default(), Some(one), Some(other), &mut found);
    found
}

fn compare<'a>(
    place: Place,
    one: Option<&'a Value>,
    other: Option<&'a Value>,
    found: &mut Vec<Difference<'a>>,
) {
    if is_same(one, other) || found.len() >= MAX_DIFFERENCES {
        return;
    }
    match (one, other) {
        (Some(Value::Object(ones)), Some(Value::Object(others))) => {
            let keys: BTreeSet<&String> = ones.keys().chain(others.keys()).collect();
            keys.into_iter().for_each(|key| compare(place.key(key), ones.get(key), others.get(key), found));
        }
        (Some(Value::Array(ones)), Some(Value::Array(others))) if ones.len() == others.len() => {
            let pairs = ones.iter().zip(others).enumerate();
            pairs
                .for_each(|(index, (one, other))| compare(place.index(index), Some(one), Some(other), found));
        }
        _ => found.push(Difference { place, one, other }),
    }
}

/// A number is the same however it is written.
fn is_same(one: Option<&Value>, other: Option<&Value>) -> bool {
    match (one, other) {
        (Some(Value::Number(one)), Some(Value::Number(other))) => {
            one == other || one.as_f64() == other.as_f64()
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn places(one: Value, other: Value) -> Vec<String> {
        differences(&one, &other).into_iter().map(|difference| difference.place.to_string()).collect()
    }

    #[test]
    fn differences_are_told_where_they_are() {
        let one = json!({ "a": [1, { "b": 2 }], "c": 3, "same": {} });
        let other = json!({ "same": {}, "a": [1, { "b": "2" }], "d": 3 });
        assert_eq!(places(one.clone(), other), ["$.a[1].b", "$.c", "$.d"]);
        assert_eq!(places(one.clone(), one), Vec::<String>::new());
        assert_eq!(places(json!([1]), json!([1.0])), Vec::<String>::new());
    }

    #[test]
    fn lists_of_different_lengths_differ_as_a_whole() {
        assert_eq!(places(json!({ "a": [1, 2] }), json!({ "a": [1] })), ["$.a"]);
        assert_eq!(places(json!([1]), json!({})), ["$"]);
    }

    #[test]
    fn the_number_of_differences_is_bounded() {
        let many: Vec<u64> = (0..1_000).collect();
        let others: Vec<u64> = (1..1_001).collect();
        assert_eq!(places(json!(many), json!(others)).len(), MAX_DIFFERENCES);
    }
}
