//! The functions that an expression can call.

use super::run::{Found, truth, undefined};
use super::syntax::Function;
use crate::evaluate::{BYTES_PER_STEP, Scope, show};
use serde_json::{Number, Value};
use std::borrow::Cow;

pub(super) fn call<'a>(function: Function, arguments: &[Cow<'a, Value>], scope: &Scope<'a>) -> Found<'a> {
    let texts = arguments.iter().filter_map(|argument| argument.as_str());
    scope.budget.spend(texts.map(str::len).sum::<usize>() / BYTES_PER_STEP)?;
    match (function, arguments) {
        (Function::Size, [of]) => size(of),
        (Function::Contains, [of, part]) => text(of, part, |of, part| of.contains(part)),
        (Function::StartsWith, [of, part]) => text(of, part, |of, part| of.starts_with(part)),
        (Function::EndsWith, [of, part]) => text(of, part, |of, part| of.ends_with(part)),
        (Function::Int, [of]) => integer(of),
        (Function::Double, [of]) => double(of),
        (Function::String, [of]) => string(of),
        _ => undefined("the number of arguments does not fit"),
    }
}

fn size<'a>(of: &Value) -> Found<'a> {
    let size = match of {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        other => return undefined(format!("{} has no size", show(other))),
    };
    Ok(Cow::Owned(Value::from(size)))
}

fn text<'a>(of: &Value, part: &Value, test: impl Fn(&str, &str) -> bool) -> Found<'a> {
    match (of, part) {
        (Value::String(of), Value::String(part)) => Ok(truth(test(of, part))),
        _ => undefined(format!("{} and {} are not both text", show(of), show(part))),
    }
}

fn integer<'a>(of: &Value) -> Found<'a> {
    let number = match of {
        Value::Number(number) => number.as_i64().or_else(|| number.as_f64().and_then(whole)),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    number.map_or_else(
        || undefined(format!("{} is no integer", show(of))),
        |number| Ok(Cow::Owned(number.into())),
    )
}

/// Towards zero, as CEL does; a float beyond the range of integers is none.
#[allow(clippy::cast_possible_truncation)]
fn whole(float: f64) -> Option<i64> {
    (float.abs() < 9.2e18).then_some(float as i64)
}

fn double<'a>(of: &Value) -> Found<'a> {
    let number = match of {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    match number.and_then(Number::from_f64) {
        Some(number) => Ok(Cow::Owned(Value::Number(number))),
        None => undefined(format!("{} is no number", show(of))),
    }
}

fn string<'a>(of: &Value) -> Found<'a> {
    match of {
        Value::String(text) => Ok(Cow::Owned(Value::String(text.clone()))),
        Value::Number(_) | Value::Bool(_) => Ok(Cow::Owned(Value::String(of.to_string()))),
        other => undefined(format!("{} can not be written as text", show(other))),
    }
}
