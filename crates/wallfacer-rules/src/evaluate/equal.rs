//! Compares two JSON values. `1` and `1.0` are one number.

use super::budget::{Budget, Unknown};
use super::number;
use serde_json::Value;
use std::cmp::Ordering;
use std::ptr;

/// A reply is read with at most 128 levels; a value below that many is one nobody sent.
const MAX_DEPTH: usize = 256;

pub(crate) fn equal(left: &Value, right: &Value, budget: &Budget) -> Result<bool, Unknown> {
    same(left, right, &[], budget, 0)
}

/// As [`equal`], but the values that `ignored` points to are not compared, nor missed when they are absent.
pub(crate) fn equal_except(
    left: &Value,
    right: &Value,
    ignored: &[&Value],
    budget: &Budget,
) -> Result<bool, Unknown> {
    same(left, right, ignored, budget, 0)
}

/// Numbers by value, text by code points; anything else has no order.
pub(crate) fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => number::order(left, right),
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

fn same(
    left: &Value,
    right: &Value,
    ignored: &[&Value],
    budget: &Budget,
    depth: usize,
) -> Result<bool, Unknown> {
    budget.spend(1)?;
    if depth > MAX_DEPTH {
        return Err(Unknown(format!("a value is nested more than {MAX_DEPTH} levels deep")));
    }
    if is_ignored(left, ignored, budget)? || is_ignored(right, ignored, budget)? {
        return Ok(true);
    }
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => {
            Ok(number::order(left, right) == Some(Ordering::Equal))
        }
        (Value::Array(left), Value::Array(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right) {
                if !same(left, right, ignored, budget, depth + 1)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Value::Object(left), Value::Object(right)) => {
            for (name, value) in left {
                let kept = match right.get(name) {
                    Some(other) => same(value, other, ignored, budget, depth + 1)?,
                    None => is_ignored(value, ignored, budget)?,
                };
                if !kept {
                    return Ok(false);
                }
            }
            for (name, value) in right {
                if !left.contains_key(name) && !is_ignored(value, ignored, budget)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (left, right) => Ok(left == right),
    }
}

fn is_ignored(value: &Value, ignored: &[&Value], budget: &Budget) -> Result<bool, Unknown> {
    budget.spend(ignored.len())?;
    Ok(ignored.iter().any(|other| ptr::eq(*other, value)))
}
