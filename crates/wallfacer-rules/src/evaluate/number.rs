//! Orders two JSON numbers without losing the last digits of large integers.

use serde_json::Number;
use std::cmp::Ordering;

pub(super) fn order(left: &Number, right: &Number) -> Option<Ordering> {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// `5` and `5.0` are both integers, as they are in JSON Schema.
pub(crate) fn is_integer(number: &Number) -> bool {
    integer(number).is_some() || number.as_f64().is_some_and(|float| float.fract() == 0.0)
}

pub(super) fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(left: &str, right: &str) -> Option<Ordering> {
        order(&serde_json::from_str(left).unwrap(), &serde_json::from_str(right).unwrap())
    }

    #[test]
    fn large_integers_differ_in_their_last_digit() {
        assert_eq!(compared("9007199254740993", "9007199254740992"), Some(Ordering::Greater));
        assert_eq!(compared("18446744073709551615", "-1"), Some(Ordering::Greater));
    }

    #[test]
    fn an_integer_equals_the_same_float() {
        assert_eq!(compared("5", "5.0"), Some(Ordering::Equal));
        assert!(is_integer(&serde_json::from_str("5.0").unwrap()));
        assert!(!is_integer(&serde_json::from_str("5.5").unwrap()));
    }
}
