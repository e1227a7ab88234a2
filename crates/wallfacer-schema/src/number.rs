//! JSON numbers compared and divided without rounding where that can be had:
//! integers as `i128`, fractions by their shortest decimal form.

use serde_json::{Number, Value};
use std::cmp::Ordering;

/// The exact integer, also of a float without a fraction such as `2.0`.
pub(crate) fn integer(number: &Number) -> Option<i128> {
    if let Some(signed) = number.as_i64() {
        return Some(i128::from(signed));
    }
    if let Some(unsigned) = number.as_u64() {
        return Some(i128::from(unsigned));
    }
    let float = number.as_f64()?;
    // Beyond 2^126 a cast would saturate.
    (float.fract() == 0.0 && float.abs() < 8.0e37).then_some(float as i128)
}

pub(crate) fn is_integer(number: &Number) -> bool {
    number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

pub(crate) fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or(0.0)
}

pub(crate) fn compare(left: &Number, right: &Number) -> Ordering {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => float(left).partial_cmp(&float(right)).unwrap_or(Ordering::Equal),
    }
}

/// The JSON number for an integer, if JSON as we write it can hold it exactly.
pub(crate) fn from_integer(integer: i128) -> Option<Number> {
    if let Ok(signed) = i64::try_from(integer) {
        return Some(signed.into());
    }
    u64::try_from(integer).ok().map(Number::from)
}

pub(crate) fn is_multiple(number: &Number, divisor: &Number) -> bool {
    if let (Some(number), Some(divisor)) = (integer(number), integer(divisor)) {
        return divisor != 0 && number % divisor == 0;
    }
    let (Some(number), Some(divisor)) = (Decimal::of(number), Decimal::of(divisor)) else { return false };
    number.is_multiple_of(divisor)
}

/// `digits × 10^exponent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub digits: i128,
    pub exponent: i32,
}

impl Decimal {
    pub(crate) fn of(number: &Number) -> Option<Decimal> {
        let written = match integer(number) {
            Some(digits) if digits.unsigned_abs() < 1 << 100 => return Some(Decimal { digits, exponent: 0 }),
            _ => format!("{:e}", number.as_f64()?),
        };
        let (mantissa, exponent) = written.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").parse().ok()?;
        Some(Decimal { digits, exponent: exponent.parse::<i32>().ok()? - fraction.len() as i32 })
    }

    fn is_multiple_of(self, divisor: Decimal) -> bool {
        if self.digits == 0 || divisor.digits == 0 {
            return self.digits == 0 && divisor.digits != 0;
        }
        let lowest = self.exponent.min(divisor.exponent);
        let (left, right) = (self.scaled(lowest), divisor.scaled(lowest));
        match (left, right) {
            (Some(left), Some(right)) => left % right == 0,
            // Only the dividend is too large to scale: work modulo the divisor instead.
            (None, Some(right)) => self.remainder_after_scaling(lowest, right) == Some(0),
            _ => false,
        }
    }

    /// The digits at a smaller exponent, or at a larger one if nothing is lost.
    fn scaled(self, exponent: i32) -> Option<i128> {
        let power = 10_i128.checked_pow(self.exponent.abs_diff(exponent))?;
        if self.exponent >= exponent {
            return self.digits.checked_mul(power);
        }
        (self.digits % power == 0).then(|| self.digits / power)
    }

    fn remainder_after_scaling(self, exponent: i32, divisor: i128) -> Option<i128> {
        let mut rest = self.digits % divisor;
        for _ in exponent..self.exponent {
            rest = rest.checked_mul(10)? % divisor;
        }
        Some(rest)
    }

    /// The least decimal that is a multiple of both.
    pub(crate) fn common_multiple(self, other: Decimal) -> Option<Decimal> {
        let exponent = self.exponent.min(other.exponent);
        let (left, right) = (self.scaled(exponent)?, other.scaled(exponent)?);
        Some(Decimal { digits: (left / divisor(left, right)).checked_mul(right)?, exponent })
    }

    /// The least integer that is a multiple of this.
    pub(crate) fn whole_multiple(self) -> Option<i128> {
        self.common_multiple(Decimal { digits: 1, exponent: 0 })?.scaled(0)
    }

    pub(crate) fn is_whole(self) -> bool {
        self.whole_multiple().is_some_and(|whole| self.scaled(0) == Some(whole))
    }

    pub(crate) fn divides(self, number: &Number) -> bool {
        Decimal::of(number).is_some_and(|number| number.is_multiple_of(self))
    }

    /// `count` times this, as the float nearest to the decimal result.
    pub(crate) fn times(self, count: i128) -> Option<Number> {
        let digits = self.digits.checked_mul(count)?;
        if self.exponent >= 0
            && let Some(whole) = digits.checked_mul(10_i128.checked_pow(self.exponent as u32)?)
            && let Some(number) = from_integer(whole)
        {
            return Some(number);
        }
        Number::from_f64(format!("{digits}e{}", self.exponent).parse().ok()?)
    }
}

fn divisor(mut left: i128, mut right: i128) -> i128 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left.abs().max(1)
}

/// Equality as JSON Schema has it: `1` is `1.0`, the order of keys does not count.
pub(crate) fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right) == Ordering::Equal,
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => left == right,
    }
}

/// The same text for equal values, and only for them.
pub(crate) fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) => match integer(number) {
            Some(whole) => whole.to_string(),
            None => float(number).to_string(),
        },
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(members) => {
            let mut parts: Vec<String> =
                members.iter().map(|(key, value)| format!("{key:?}:{}", canonical(value))).collect();
            parts.sort_unstable();
            format!("{{{}}}", parts.join(","))
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).expect("a number")
    }

    #[test]
    fn decimal_multiples_do_not_suffer_from_binary_fractions() {
        for (value, divisor, expected) in [
            ("0.3", "0.1", true),
            ("0.0075", "0.0001", true),
            ("0.00751", "0.0001", false),
            ("4.5", "1.5", true),
            ("35", "1.5", false),
            ("12391239123", "1e-8", true),
            ("1e308", "0.5", true),
            ("0", "0.01", true),
        ] {
            assert_eq!(is_multiple(&number(value), &number(divisor)), expected, "{value} by {divisor}");
        }
    }

    #[test]
    fn large_integers_compare_exactly() {
        assert_eq!(compare(&number("9007199254740993"), &number("9007199254740992")), Ordering::Greater);
        assert_eq!(compare(&number("18446744073709551615"), &number("-1")), Ordering::Greater);
    }

    #[test]
    fn equality_ignores_how_a_number_is_written_and_the_order_of_keys() {
        assert!(equal(&json!({"a": 1, "b": [2.0]}), &json!({"b": [2], "a": 1.0})));
        assert!(!equal(&json!([0]), &json!([false])));
        assert_eq!(canonical(&json!({"a": 1, "b": [2.0]})), canonical(&json!({"b": [2], "a": 1.0})));
        assert_ne!(canonical(&json!(["1", "2"])), canonical(&json!(["1,2"])));
    }
}
