//! The operators of an expression.

use super::run::{Fault, Found, truth, undefined};
use super::syntax::Operator;
use crate::evaluate::{Scope, compare, equal, show};
use serde_json::{Number, Value};
use std::borrow::Cow;
use std::cmp::Ordering;

pub(super) fn apply<'a>(operator: Operator, left: &Value, right: &Value, scope: &Scope<'a>) -> Found<'a> {
    match operator {
        Operator::Equal => Ok(truth(equal(left, right, scope.budget)?)),
        Operator::NotEqual => Ok(truth(!equal(left, right, scope.budget)?)),
        Operator::Less => order(left, right).map(|order| truth(order.is_lt())),
        Operator::AtMost => order(left, right).map(|order| truth(order.is_le())),
        Operator::Greater => order(left, right).map(|order| truth(order.is_gt())),
        Operator::AtLeast => order(left, right).map(|order| truth(order.is_ge())),
        Operator::In => is_in(left, right, scope).map(truth),
        Operator::Add => add(left, right, scope),
        Operator::Subtract => arithmetic("-", left, right, i64::checked_sub, |left, right| left - right),
        Operator::Multiply => arithmetic("*", left, right, i64::checked_mul, |left, right| left * right),
        Operator::Divide => arithmetic("/", left, right, i64::checked_div, |left, right| left / right),
        Operator::Remainder => arithmetic("%", left, right, i64::checked_rem, |left, right| left % right),
    }
}

pub(super) fn negative<'a>(value: &Value) -> Found<'a> {
    arithmetic("-", &Value::from(0), value, i64::checked_sub, |_, right| -right)
}

fn order(left: &Value, right: &Value) -> Result<Ordering, Fault> {
    compare(left, right)
        .map_or_else(|| undefined(format!("{} and {} have no order", show(left), show(right))), Ok)
}

fn is_in(item: &Value, holder: &Value, scope: &Scope<'_>) -> Result<bool, Fault> {
    match (holder, item) {
        (Value::Array(items), _) => {
            for other in items {
                if equal(other, item, scope.budget)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (Value::Object(members), Value::String(name)) => Ok(members.contains_key(name)),
        _ => undefined(format!("{} can not be `in` {}", show(item), show(holder))),
    }
}

fn add<'a>(left: &Value, right: &Value, scope: &Scope<'a>) -> Found<'a> {
    match (left, right) {
        (Value::String(first), Value::String(second)) => {
            scope.budget.spend_for(left)?;
            scope.budget.spend_for(right)?;
            Ok(Cow::Owned(Value::String(format!("{first}{second}"))))
        }
        (Value::Array(first), Value::Array(second)) => {
            scope.budget.spend_for(left)?;
            scope.budget.spend_for(right)?;
            Ok(Cow::Owned(Value::Array(first.iter().chain(second).cloned().collect())))
        }
        _ => arithmetic("+", left, right, i64::checked_add, |left, right| left + right),
    }
}

/// Integers stay integers; an integer and a float make a float.
fn arithmetic<'a>(
    sign: &str,
    left: &Value,
    right: &Value,
    integers: impl Fn(i64, i64) -> Option<i64>,
    floats: impl Fn(f64, f64) -> f64,
) -> Found<'a> {
    let number = match (left.as_i64().zip(right.as_i64()), left.as_f64().zip(right.as_f64())) {
        (Some((left, right)), _) => integers(left, right).map(Number::from),
        (None, Some((left, right))) => Number::from_f64(floats(left, right)),
        (None, None) => None,
    };
    match number {
        Some(number) => Ok(Cow::Owned(Value::Number(number))),
        None => undefined(format!("{} {sign} {} has no result", show(left), show(right))),
    }
}
