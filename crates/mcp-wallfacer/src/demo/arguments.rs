//! Checks the arguments of a call to a demo tool, and says in words for the caller what is wrong with them.

use serde_json::{Map, Value};
use std::ops::RangeInclusive;

pub type Arguments = Map<String, Value>;

pub fn only(arguments: &Arguments, names: &[&str]) -> Result<(), String> {
    match arguments.keys().find(|name| !names.contains(&name.as_str())) {
        Some(unknown) => Err(format!("`{unknown}` is not known")),
        None => Ok(()),
    }
}

pub fn integer(arguments: &Arguments, name: &str, range: RangeInclusive<i64>) -> Result<i64, String> {
    let number = arguments.get(name).and_then(whole).filter(|number| range.contains(number));
    number.ok_or_else(|| format!("`{name}` must be an integer from {} to {}", range.start(), range.end()))
}

/// JSON Schema counts 2.0 among the integers.
fn whole(value: &Value) -> Option<i64> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    Some(value.as_i64().unwrap_or(number as i64))
}

pub fn text<'a>(arguments: &'a Arguments, name: &str, longest: usize) -> Result<&'a str, String> {
    let text = arguments.get(name).and_then(Value::as_str);
    text.filter(|text| (1..=longest).contains(&text.chars().count()))
        .ok_or_else(|| format!("`{name}` must be a string of 1 to {longest} characters"))
}
