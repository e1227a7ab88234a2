//! Decides whether an unquoted word of YAML is a null, a boolean, a number or text (YAML 1.2, core schema).

use super::tree::Data;
use crate::text::Text;
use serde_json::Number;

pub(crate) fn resolve(word: &str) -> Data {
    match word {
        "" | "~" | "null" | "Null" | "NULL" => Data::Null,
        "true" | "True" | "TRUE" => Data::Bool(true),
        "false" | "False" | "FALSE" => Data::Bool(false),
        _ => number(word).map_or_else(|| Data::Text(Text::literal(word)), Data::Number),
    }
}

fn number(word: &str) -> Option<Number> {
    if let Some(octal) = word.strip_prefix("0o") {
        return u64::from_str_radix(octal, 8).ok().map(Number::from);
    }
    if let Some(hexadecimal) = word.strip_prefix("0x") {
        return u64::from_str_radix(hexadecimal, 16).ok().map(Number::from);
    }
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    // `.inf`, `.nan` and words such as `infinity`, which the float parser would take, are no JSON numbers.
    let is_decimal = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && digits.contains(|letter: char| letter.is_ascii_digit())
        && digits.chars().all(|letter| matches!(letter, '0'..='9' | '.' | 'e' | 'E' | '+' | '-'));
    if !is_decimal {
        return None;
    }
    let unsigned = word.strip_prefix('+').unwrap_or(word);
    if let Ok(integer) = unsigned.parse::<i64>() {
        return Some(integer.into());
    }
    if let Ok(integer) = unsigned.parse::<u64>() {
        return Some(integer.into());
    }
    unsigned.parse::<f64>().ok().and_then(Number::from_f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn value(word: &str) -> serde_json::Value {
        super::super::Node { span: Default::default(), data: resolve(word) }.json()
    }

    #[test]
    fn words_have_the_types_of_yaml_1_2() {
        for (word, expected) in [
            ("", json!(null)),
            ("~", json!(null)),
            ("True", json!(true)),
            ("yes", json!("yes")),
            ("0x1F", json!(31)),
            ("-12", json!(-12)),
            ("+7", json!(7)),
            ("1.5e3", json!(1500.0)),
            ("18446744073709551615", json!(u64::MAX)),
            ("1.2.3", json!("1.2.3")),
            (".inf", json!(".inf")),
            ("infinity", json!("infinity")),
            ("2024-01-01", json!("2024-01-01")),
            ("-", json!("-")),
            ("1e999", json!("1e999")),
        ] {
            assert_eq!(value(word), expected, "{word}");
        }
    }
}
