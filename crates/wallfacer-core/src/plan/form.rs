//! Reads from a refusal what form a text is to have: a pattern, a length, a JSON document, a day to come.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};
use wallfacer_schema::{Choices, Pool, Schema, samples};
use wallfacer_text::lexicon::FieldKind;

/// The longest text that is made because a refusal asks for so many characters.
const MAX_LENGTH: usize = 2_000;
/// Days that stay to come, and that stay past, each also with a time.
const TO_COME: [&str; 2] = ["2099-01-31", "2099-01-31T12:00:00Z"];
const PAST: [&str; 2] = ["2001-01-31", "2001-01-31T12:00:00Z"];

/// Texts of the form that a line asks for.
pub fn forms(line: &str) -> Vec<String> {
    matching(line).into_iter().chain(long_enough(line)).chain(documents(line)).chain(days(line)).collect()
}

/// "should be a valid string", of an argument that its schema allows to be null: texts that are usual for its name.
pub fn as_text(line: &str, field: &str) -> Vec<Value> {
    static TEXT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:expected|must be|should be|is not) (?:an? )?(?:valid )?(?:non-empty )?(?:string|text|str)\b|none is not an allowed|(?:must not|can ?not|may not) be (?:null|none)")
            .expect("a fixed pattern")
    });
    if !TEXT.is_match(line) {
        return Vec::new();
    }
    let usual = FieldKind::of(field, "").map(samples::strings).unwrap_or(&["example"]);
    usual.iter().map(|text| Value::from(*text)).collect()
}

/// JSON documents as texts, where a line misses one.
fn documents(line: &str) -> Vec<String> {
    static WANTED: LazyLock<Regex> = LazyLock::new(|| {
        let missed = r"invalid json|(?:not|must be|should be|expected|requires?)(?: an?)?(?: valid| proper)? json|json (?:string|text) (?:required|expected)|(?:parse|parsing|decod(?:e|ing)) json|json (?:parse|decode) error|could not parse \w+ as json";
        Regex::new(&format!("(?i){missed}")).expect("a fixed pattern")
    });
    if !WANTED.is_match(line) {
        return Vec::new();
    }
    let said = line.to_lowercase();
    let list = json!([{ "name": "example" }]).to_string();
    let object = json!({ "name": "example" }).to_string();
    match (said.contains("array") || said.contains("list"), said.contains("object")) {
        (true, false) => vec![list, "[]".to_owned()],
        (false, true) => vec![object, "{}".to_owned()],
        _ => vec!["{}".to_owned(), list, "[]".to_owned(), object],
    }
}

/// Days on the side of today that a line asks for.
fn days(line: &str) -> Vec<String> {
    static SIDE: LazyLock<Regex> = LazyLock::new(|| {
        let before = r"(?:(?P<must>must|should|has to|needs to)|(?P<not>can ?not|can't|must not|may not|should not|is|are|lies?))";
        Regex::new(&format!(r"(?i)\b{before} (?:be )?in the (?P<side>past|future)\b"))
            .expect("a fixed pattern")
    });
    let Some(found) = SIDE.captures(line) else { return Vec::new() };
    let is_future = found["side"].eq_ignore_ascii_case("future") == found.name("must").is_some();
    let days = if is_future { TO_COME } else { PAST };
    days.map(str::to_owned).into()
}

/// A text with as many characters as a line asks for.
fn long_enough(line: &str) -> Option<String> {
    static LENGTH: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:at least|minimum(?: of)?|exactly|length of)\s+(\d{1,4})\s+(?:or more )?(?:character|char|letter)").expect("a fixed pattern")
    });
    let length: usize = LENGTH.captures(line)?[1].parse().ok()?;
    let text = "A text that is long enough to be taken. ";
    (length <= MAX_LENGTH).then(|| text.chars().cycle().take(length.max(1)).collect())
}

/// A text that matches the pattern which a line names.
fn matching(line: &str) -> Option<String> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)\b(?:pattern|regex|regular expression|match(?:es|ing)?|format)\b:?\s*[`'"]?/?(\^[^\n]{1,200}?\$)"#).expect("a fixed pattern")
    });
    let pattern = PATTERN.captures(line)?[1].to_owned();
    let schema = Schema::compile(&json!({ "type": "string", "pattern": pattern })).ok()?;
    let made = schema.valid(&mut Choices::simplest(), &Pool::new()).ok()?;
    made.as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_argument_that_may_be_null_and_must_not_is_given_a_text() {
        let told = "Input should be a valid string [type=string_type]";
        assert!(as_text(told, "language").contains(&json!("python")));
        assert_eq!(as_text("lid must not be null", "lid"), ["example"]);
        assert!(as_text("Input should be a valid integer", "language").is_empty());
    }

    #[test]
    fn a_text_that_must_hold_a_document_gets_one() {
        assert_eq!(
            forms("Invalid JSON in parcels"),
            ["{}", r#"[{"name":"example"}]"#, "[]", r#"{"name":"example"}"#]
        );
        assert_eq!(forms("parcels must be a JSON array"), [r#"[{"name":"example"}]"#, "[]"]);
        assert_eq!(forms("extra is not a valid JSON object: line 1"), [r#"{"name":"example"}"#, "{}"]);
        assert!(forms("the JSON was stored").is_empty());
    }

    #[test]
    fn a_day_that_must_be_to_come_is() {
        for told in [
            "Start date cannot be in the past.",
            "the day must be in the future",
            "2024-05-01 is in the past",
        ] {
            assert_eq!(forms(told), TO_COME, "{told}");
        }
        for told in ["birth_date must be in the past", "the day can't be in the future"] {
            assert_eq!(forms(told), PAST, "{told}");
        }
        assert!(forms("this was so in the past").is_empty());
    }
}
