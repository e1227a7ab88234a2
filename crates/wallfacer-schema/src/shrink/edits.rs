//! Lists the simpler values next to a value, by number. Each place in the value has the same number of edits, so that a
//! number finds its place without listing them all.

use serde_json::{Number, Value, json};

/// How finely containers and strings are cut: into one piece, two, four … so many; the last cut is into single
/// members where there are no more of them than that.
const CUTS: [usize; 6] = [1, 2, 4, 8, 16, 64];
const PIECES: usize = 1 + 2 + 4 + 8 + 16 + 64;
/// Members that a container is replaced by, in turn.
const HOISTS: usize = 8;
/// The plain values come first.
const PLAIN: usize = 6;
/// Edits of one place; some of them do nothing at some places.
const EDITS: usize = PLAIN + PIECES + HOISTS;

/// The way to one place: which member at each level.
pub(super) type Path = Vec<usize>;

/// All places of a value, from the outside in.
pub(super) fn places(value: &Value) -> Vec<Path> {
    let mut found = Vec::new();
    collect(value, &mut Vec::new(), &mut found);
    found
}

/// The numbered edit of the whole value: the outer nothing means that there are no more, the inner one
/// that this place has no such edit.
pub(super) fn edit(value: &Value, places: &[Path], number: usize) -> Option<Option<Value>> {
    let path = places.get(number / EDITS)?;
    let target = path.iter().try_fold(value, |value, &index| member(value, index));
    let edited = target.and_then(|target| simpler(target, number % EDITS));
    Some(edited.map(|edited| with_member(value, path, edited)))
}

fn member(value: &Value, index: usize) -> Option<&Value> {
    match value {
        Value::Array(items) => items.get(index),
        Value::Object(members) => members.values().nth(index),
        _ => None,
    }
}

fn with_member(value: &Value, path: &[usize], edited: Value) -> Value {
    let Some((&index, rest)) = path.split_first() else { return edited };
    let mut copy = value.clone();
    let place = match &mut copy {
        Value::Array(items) => items.get_mut(index),
        Value::Object(members) => members.values_mut().nth(index),
        _ => None,
    };
    if let Some(place) = place {
        *place = with_member(place, rest, edited);
    }
    copy
}

fn collect(value: &Value, path: &mut Path, found: &mut Vec<Path>) {
    found.push(path.clone());
    let mut descend = |index: usize, member: &Value| {
        path.push(index);
        collect(member, path, found);
        path.pop();
    };
    match value {
        Value::Array(items) => items.iter().enumerate().for_each(|(index, item)| descend(index, item)),
        Value::Object(members) => {
            members.values().enumerate().for_each(|(index, member)| descend(index, member))
        }
        _ => {}
    }
}

fn simpler(value: &Value, edit: usize) -> Option<Value> {
    let plain: [Value; PLAIN] = [json!(null), json!(false), json!(0), json!(""), json!([]), json!({})];
    if let Some(plain) = plain.get(edit) {
        return Some(plain.clone());
    }
    let edit = edit - PLAIN;
    if let Some(hoisted) = edit.checked_sub(PIECES).and_then(|index| member(value, index)) {
        return Some(hoisted.clone());
    }
    match value {
        Value::Null | Value::Bool(_) => None,
        Value::Number(number) => simpler_number(number, edit).map(Value::Number),
        Value::String(text) => simpler_text(text, edit).map(Value::String),
        Value::Array(items) => {
            let (from, to) = piece(items.len(), edit)?;
            Some(items[..from].iter().chain(&items[to..]).cloned().collect())
        }
        Value::Object(members) => {
            let (from, to) = piece(members.len(), edit)?;
            let kept = members.iter().enumerate().filter(|(index, _)| !(from..to).contains(index));
            Some(Value::Object(kept.map(|(_, (key, member))| (key.clone(), member.clone())).collect()))
        }
    }
}

/// The numbered piece of something so long: the whole, then its halves, quarters …, then single members.
fn piece(length: usize, mut number: usize) -> Option<(usize, usize)> {
    for cuts in CUTS {
        if number < cuts {
            let size = length.div_ceil(cuts).max(1);
            let from = number * size;
            return (from < length).then(|| (from, (from + size).min(length)));
        }
        number -= cuts;
    }
    None
}

fn simpler_number(number: &Number, edit: usize) -> Option<Number> {
    if let Some(whole) = number.as_i64() {
        let smaller = match edit {
            0 => whole.checked_abs()?,
            1 => whole / 1000,
            2 => whole / 2,
            3 => whole - whole.signum(),
            _ => return None,
        };
        return Some(smaller.into());
    }
    let float = number.as_f64()?;
    match edit {
        0 if float.abs() < 9e18 => Some((float.trunc() as i64).into()),
        1 => Number::from_f64(float / 1000.0),
        2 => Number::from_f64(float / 2.0),
        3 => Number::from_f64(float.abs()),
        4 => Some(1.into()),
        _ => None,
    }
}

/// Without a piece, or with a piece made of plain letters.
fn simpler_text(text: &str, edit: usize) -> Option<String> {
    let characters: Vec<char> = text.chars().collect();
    if let Some((from, to)) = piece(characters.len(), edit) {
        return Some(characters[..from].iter().chain(&characters[to..]).collect());
    }
    (edit == PIECES).then(|| "a".repeat(characters.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_of_a_value_is_taken_away_by_some_edit() {
        let value = json!({"a": [1, 2], "b": "xy"});
        let places = places(&value);
        let edits: Vec<Value> = (0..).map_while(|number| edit(&value, &places, number)).flatten().collect();
        for expected in [
            json!({}),
            json!({"b": "xy"}),
            json!({"a": [2], "b": "xy"}),
            json!({"a": [1, 2], "b": "x"}),
            json!({"a": [0, 2], "b": "xy"}),
            json!({"a": [1, 1], "b": "xy"}),
        ] {
            assert!(edits.contains(&expected), "{expected}");
        }
    }
}
