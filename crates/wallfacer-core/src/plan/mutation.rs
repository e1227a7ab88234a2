//! Changes an input that brought news a little: takes some members from a fresh input, leaves one out, or moves one
//! value.

use serde_json::{Map, Number, Value};

/// A text that is doubled again and again stays below this.
const MAX_TEXT: usize = 64 << 10;

/// Numbers that are the same for the same seed.
pub struct Draw(blake3::OutputReader);

impl Draw {
    pub fn new(seed: u64) -> Draw {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"mutation").update(&seed.to_le_bytes());
        Draw(hasher.finalize_xof())
    }

    /// Zero or more, and less than this; zero where that is all there is.
    pub fn below(&mut self, end: usize) -> usize {
        (self.number() % end.max(1) as u64) as usize
    }

    /// Whether something happens that happens so often.
    pub fn happens(&mut self, ratio: f64) -> bool {
        (self.number() as f64 / u64::MAX as f64) < ratio
    }

    fn number(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }
}

/// One of them, the latest as often as all others: it stands at the edge of what is known.
pub fn pick<'a, T>(inputs: &'a [T], draw: &mut Draw) -> Option<&'a T> {
    match draw.happens(0.5) {
        true => inputs.last(),
        false => inputs.get(draw.below(inputs.len())),
    }
}

/// The input, changed in one way.
pub fn mutate(input: &Map<String, Value>, fresh: &Map<String, Value>, draw: &mut Draw) -> Map<String, Value> {
    let mut changed = input.clone();
    match draw.below(8) {
        0..4 => exchange(&mut changed, fresh, draw),
        4 => exchange_several(&mut changed, fresh, draw),
        5 => leave_out(&mut changed, draw),
        _ => nudge(&mut changed, draw),
    }
    changed
}

fn exchange(input: &mut Map<String, Value>, fresh: &Map<String, Value>, draw: &mut Draw) {
    if let Some((key, value)) = fresh.iter().nth(draw.below(fresh.len())) {
        input.insert(key.clone(), value.clone());
    }
}

fn exchange_several(input: &mut Map<String, Value>, fresh: &Map<String, Value>, draw: &mut Draw) {
    for (key, value) in fresh {
        if draw.happens(0.5) {
            input.insert(key.clone(), value.clone());
        }
    }
}

fn leave_out(input: &mut Map<String, Value>, draw: &mut Draw) {
    if let Some(key) = input.keys().nth(draw.below(input.len())).cloned() {
        input.shift_remove(&key);
    }
}

/// Moves one value by a little, however deep it stands.
fn nudge(input: &mut Map<String, Value>, draw: &mut Draw) {
    let place = draw.below(input.len());
    let Some(mut here) = input.values_mut().nth(place) else { return };
    while let 1.. = parts(here) {
        let place = draw.below(parts(here));
        here = part(here, place);
    }
    *here = match &*here {
        Value::Number(number) => moved(number, draw),
        Value::String(text) => Value::from(edited(text, draw)),
        Value::Bool(flag) => Value::from(!flag),
        other => other.clone(),
    };
}

fn parts(value: &Value) -> usize {
    match value {
        Value::Object(members) => members.len(),
        Value::Array(items) => items.len(),
        _ => 0,
    }
}

/// One of the parts of a value that has so many.
fn part(value: &mut Value, place: usize) -> &mut Value {
    let part = match value {
        Value::Object(members) => members.values_mut().nth(place),
        Value::Array(items) => items.get_mut(place),
        _ => None,
    };
    part.expect("the place was chosen among the parts")
}

fn moved(number: &Number, draw: &mut Draw) -> Value {
    let way = draw.below(4);
    match number.as_i64() {
        Some(number) => Value::from(match way {
            0 => number.saturating_add(1),
            1 => number.saturating_sub(1),
            2 => number.saturating_mul(2),
            _ => number.saturating_neg(),
        }),
        None => {
            let number = number.as_f64().unwrap_or_default();
            Value::from([number + 1.0, number - 1.0, number * 2.0, -number][way])
        }
    }
}

fn edited(text: &str, draw: &mut Draw) -> String {
    match draw.below(4) {
        0 if text.len() < MAX_TEXT => text.repeat(2),
        1 => text.chars().take(text.chars().count().saturating_sub(1)).collect(),
        2 => text.chars().rev().collect(),
        _ => format!("{text}x"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn mutations(input: Value, fresh: Value) -> Vec<Value> {
        let (input, fresh) = (input.as_object().unwrap(), fresh.as_object().unwrap());
        (0..200).map(|seed| Value::Object(mutate(input, fresh, &mut Draw::new(seed)))).collect()
    }

    #[test]
    fn a_change_takes_from_the_fresh_input_leaves_out_and_nudges() {
        let made = mutations(json!({ "a": 1, "b": "x" }), json!({ "a": 50, "b": "y", "c": 3 }));
        for wanted in [
            json!({ "a": 50, "b": "x" }),
            json!({ "a": 1, "b": "x", "c": 3 }),
            json!({ "b": "x" }),
            json!({ "a": 2, "b": "x" }),
            json!({ "a": 1, "b": "xx" }),
        ] {
            assert!(made.contains(&wanted), "{wanted}");
        }
    }

    #[test]
    fn a_value_is_nudged_however_deep_it_stands() {
        let made = mutations(json!({ "a": [{ "b": [7] }] }), json!({}));
        assert!(made.contains(&json!({ "a": [{ "b": [8] }] })));
    }

    #[test]
    fn nothing_can_be_changed_about_nothing() {
        assert!(mutations(json!({}), json!({})).iter().all(|made| *made == json!({})));
    }

    #[test]
    fn the_same_seed_changes_alike() {
        let input = json!({ "a": 1, "b": [1, 2, 3] });
        assert_eq!(mutations(input.clone(), json!({ "a": 2 })), mutations(input, json!({ "a": 2 })));
    }

    #[test]
    fn the_latest_is_picked_as_often_as_all_others() {
        let inputs = [1, 2, 3, 4, 5];
        let latest = (0..1_000).filter(|seed| pick(&inputs, &mut Draw::new(*seed)) == Some(&5)).count();
        assert!((500..700).contains(&latest), "{latest}");
        assert_eq!(pick::<u8>(&[], &mut Draw::new(1)), None);
    }
}
