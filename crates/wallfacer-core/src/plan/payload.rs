//! Writes a value in few bytes, and reads it back: long repetitions and deep nesting become recipes.
//!
//! `{"$repeat": "x", "times": 1000}` is a text, `{"$repeat_item": v, "times": 1000}` an array of equal items,
//! `{"$nest": "[", "times": 1000, "inner": v}` arrays in arrays (or `{"$nest": "key", …}` objects under one key), and
//! `{"$literal": {…}}` an object that happens to look like one of these.

use serde_json::{Map, Value, json};

/// Shorter than this a text or list stays as it is: a recipe would not be easier to read.
const WORTH_IT: usize = 256;
/// The longest unit that is looked for in a repetition.
const MAX_UNIT: usize = 16;
/// Nesting is unrolled from this depth on; below it reads better as it is.
const DEEP: usize = 32;
/// The largest text or list that a recipe may make: a stored file must not be able to fill our memory.
const MAX_EXPANDED: usize = 256 << 20;
/// The deepest nesting that a recipe may make: values are dropped and compared by recursion. Deeper ones are raw frames.
const MAX_DEPTH: usize = 4_096;

const RECIPES: [&str; 4] = ["$repeat", "$repeat_item", "$nest", "$literal"];

/// A recipe that cannot be followed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a stored payload cannot be expanded: {0}")]
pub struct BadRecipe(String);

/// The short form of a value.
pub fn compact(value: &Value) -> Value {
    match value {
        Value::String(text) => compact_text(text),
        Value::Array(items) => unroll(value).unwrap_or_else(|| compact_items(items)),
        Value::Object(members) => unroll(value).unwrap_or_else(|| compact_object(members)),
        other => other.clone(),
    }
}

/// The value that a short form stands for.
pub fn expand(value: &Value) -> Result<Value, BadRecipe> {
    let mut room = MAX_EXPANDED;
    expand_within(value, &mut room)
}

/// For serde: parameters that are stored in their short form.
pub mod compacted {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use serde_json::{Map, Value};

    pub fn serialize<S: Serializer>(params: &Map<String, Value>, serializer: S) -> Result<S::Ok, S::Error> {
        let short: Map<String, Value> =
            params.iter().map(|(key, value)| (key.clone(), super::compact(value))).collect();
        short.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
        let short = Map::deserialize(deserializer)?;
        let expand = |(key, value): (String, Value)| Ok((key, super::expand(&value)?));
        short
            .into_iter()
            .map(expand)
            .collect::<Result<_, super::BadRecipe>>()
            .map_err(serde::de::Error::custom)
    }
}

fn compact_text(text: &str) -> Value {
    if text.len() < WORTH_IT {
        return Value::from(text);
    }
    let ends = text.char_indices().map(|(index, _)| index).take_while(|index| *index <= MAX_UNIT);
    for end in ends.filter(|end| *end > 0 && text.len().is_multiple_of(*end)) {
        let (unit, times) = (&text[..end], text.len() / end);
        if text.as_bytes().chunks_exact(end).all(|chunk| chunk == unit.as_bytes()) {
            return json!({ "$repeat": unit, "times": times });
        }
    }
    Value::from(text)
}

fn compact_items(items: &[Value]) -> Value {
    match items.first() {
        Some(first) if items.len() >= WORTH_IT && items.iter().all(|item| item == first) => {
            json!({ "$repeat_item": compact(first), "times": items.len() })
        }
        _ => Value::Array(items.iter().map(compact).collect()),
    }
}

fn compact_object(members: &Map<String, Value>) -> Value {
    let short: Map<String, Value> =
        members.iter().map(|(key, value)| (key.clone(), compact(value))).collect();
    match RECIPES.iter().any(|recipe| members.contains_key(*recipe)) {
        true => json!({ "$literal": short }),
        false => Value::Object(short),
    }
}

/// Deep nesting of one kind, walked without recursion.
fn unroll(value: &Value) -> Option<Value> {
    let (mark, first) = only_child(value)?;
    let (mut inner, mut times) = (first, 1_usize);
    while let Some((next, child)) = only_child(inner)
        && next == mark
    {
        inner = child;
        times += 1;
    }
    (times >= DEEP).then(|| json!({ "$nest": mark, "times": times, "inner": compact(inner) }))
}

/// `[` and the item of an array of one, or the key and the value of an object of one.
fn only_child(value: &Value) -> Option<(&str, &Value)> {
    match value {
        Value::Array(items) if items.len() == 1 => Some(("[", &items[0])),
        Value::Object(members) if members.len() == 1 => {
            members.iter().next().filter(|(key, _)| *key != "[").map(|(key, value)| (key.as_str(), value))
        }
        _ => None,
    }
}

fn expand_within(value: &Value, room: &mut usize) -> Result<Value, BadRecipe> {
    let Value::Object(members) = value else {
        return match value {
            Value::Array(items) => {
                items.iter().map(|item| expand_within(item, room)).collect::<Result<_, _>>().map(Value::Array)
            }
            other => Ok(other.clone()),
        };
    };
    if let Some(Value::Object(literal)) = members.get("$literal") {
        return expand_members(literal, room);
    }
    if let Some(unit) = members.get("$repeat").and_then(Value::as_str) {
        let times = times(members, unit.len(), room)?;
        return Ok(Value::from(unit.repeat(times)));
    }
    if let Some(item) = members.get("$repeat_item") {
        let item = expand_within(item, room)?;
        let times = times(members, weight(&item), room)?;
        return Ok(Value::Array(vec![item; times]));
    }
    if let Some(mark) = members.get("$nest").and_then(Value::as_str) {
        let inner = expand_within(members.get("inner").unwrap_or(&Value::Null), room)?;
        let times = times(members, std::mem::size_of::<Value>(), room)?;
        if times > MAX_DEPTH {
            return Err(BadRecipe(format!("nesting of {times} is beyond {MAX_DEPTH}")));
        }
        return Ok((0..times).fold(inner, |inner, _| match mark {
            "[" => Value::Array(vec![inner]),
            key => Value::Object(Map::from_iter([(key.to_owned(), inner)])),
        }));
    }
    expand_members(members, room)
}

fn expand_members(members: &Map<String, Value>, room: &mut usize) -> Result<Value, BadRecipe> {
    let expand = |(key, value): (&String, &Value)| Ok((key.clone(), expand_within(value, room)?));
    members.iter().map(expand).collect::<Result<Map<_, _>, _>>().map(Value::Object)
}

/// Roughly the memory that a value takes.
fn weight(value: &Value) -> usize {
    let within = match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.iter().map(|(key, value)| key.len() + weight(value)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    };
    within + std::mem::size_of::<Value>()
}

fn times(members: &Map<String, Value>, unit: usize, room: &mut usize) -> Result<usize, BadRecipe> {
    let times = members.get("times").and_then(Value::as_u64);
    let times = times.ok_or_else(|| BadRecipe("`times` is not a number".to_owned()))? as usize;
    let size = times.checked_mul(unit).filter(|size| *size <= *room);
    *room -= size.ok_or_else(|| BadRecipe(format!("it would be larger than {} MiB", MAX_EXPANDED >> 20)))?;
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> Value {
        (0..depth).fold(json!("core"), |inner, _| json!([inner]))
    }

    #[test]
    fn what_is_made_short_is_made_whole_again() {
        let values = [
            json!("x".repeat(10_485_760)),
            json!("ab".repeat(1000)),
            json!("é".repeat(1000)),
            json!(["a".repeat(5000), { "k": [1, 2, 3] }]),
            json!(vec![json!({ "a": 1 }); 1000]),
            json!({ "$repeat": "x", "times": 3 }),
            json!({ "$literal": { "a": 1 } }),
            json!({ "a": { "$nest": 1 } }),
            json!("plain"),
            json!(null),
            nested(100),
        ];
        for value in values {
            let short = compact(&value);
            assert!(short.to_string().len() < 500, "{}", short.to_string().len());
            assert_eq!(expand(&short).unwrap(), value);
        }
    }

    #[test]
    fn a_recipe_cannot_fill_our_memory() {
        for bomb in [
            json!({ "$repeat": "x", "times": 1u64 << 40 }),
            json!({ "$repeat_item": { "$repeat": "x", "times": 1 << 20 }, "times": 1 << 12 }),
            json!({ "$nest": "[", "times": 1u64 << 40, "inner": 1 }),
            json!({ "$repeat": "x" }),
        ] {
            assert!(expand(&bomb).is_err(), "{bomb}");
        }
    }
}
