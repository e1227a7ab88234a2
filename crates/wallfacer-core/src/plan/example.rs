//! Finds the values that a text gives as examples, choices or defaults: "such as T-12", "(default: 10)", "'near' or 'far'".

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};
use wallfacer_schema::samples;
use wallfacer_text::lexicon::FieldKind;

/// Values that are taken from one text.
const MAX_VALUES: usize = 24;
/// Longer values are sentences.
const MAX_LENGTH: usize = 80;
/// The part of a text that is read.
const MAX_TEXT: usize = 6_000;
/// Places in a text at which a JSON document may begin.
const MAX_STARTS: usize = 32;
/// Texts of one kind that are offered where a text only names the kind.
const MAX_OF_A_KIND: usize = 3;

/// Values that a description gives: what stands behind words such as "e.g." first, then what is quoted, then what it says is
/// the default.
pub fn examples(text: &str) -> Vec<Value> {
    static LED: LazyLock<Regex> = LazyLock::new(|| {
        let before_one = r"\be\.?g\b\.?|\bsuch as|\bfor example|\bfor instance|\bone of|\beither";
        let before_many = r"\bexamples?|\ballowed(?: \w+)?|\bvalid \w+|\boptions|\bchoices|\bsupported(?: \w+)?|\bpossible \w+|\bvalues|\bavailable(?: \w+)?";
        Regex::new(&format!(r"(?i)(?:(?:{before_one})\s*[:=,]?|(?:{before_many})\s*(?:are|is|include)?\s*:)\s*([^\n]{{1,200}})"))
            .expect("a fixed pattern")
    });
    static QUOTED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"[`'"‘“]([^`'"‘’“”\n]{1,80})[`'"’”]"#).expect("a fixed pattern"));
    static DEFAULT: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)\bdefaults?(?: to| is| value)?\s*[:=]?\s*[`'"]?([\w][\w./:+-]{0,59})"#)
            .expect("a fixed pattern")
    });
    let text = beginning(text);
    let mut found: Vec<Value> = Vec::new();
    let mut keep = |value: &str| {
        let value = value.trim();
        if is_value(value) && found.len() < MAX_VALUES {
            let value = scalar(value);
            if !found.contains(&value) {
                found.push(value);
            }
        }
    };
    for led in LED.captures_iter(text) {
        list(&led[1]).iter().for_each(|value| keep(value));
    }
    QUOTED.captures_iter(text).for_each(|quoted| keep(&quoted[1]));
    DEFAULT.captures_iter(text).for_each(|default| keep(default[1].trim_end_matches(['.', ':'])));
    found
}

/// The values of a list as people write it: quoted ones, else what commas, bars and words such as "or" part.
pub fn list(text: &str) -> Vec<String> {
    static QUOTED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"[`'"‘“]([^`'"‘’“”]{1,80})[`'"’”]"#).expect("a fixed pattern"));
    static INSTEAD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\b(?:received|but|got|instead|not)\b").expect("a fixed pattern"));
    let list = text.trim().trim_start_matches(['[', '(', '{', ':']);
    let list = INSTEAD.split(list).next().unwrap_or_default().trim();
    let quoted: Vec<String> = QUOTED.captures_iter(list).map(|choice| choice[1].to_owned()).collect();
    if !quoted.is_empty() {
        return quoted;
    }
    let list = list.split([']', ')', '}', '[', '(', '{', ';']).next().unwrap_or_default();
    let list = list.split(". ").next().unwrap_or_default();
    let list = list.strip_suffix('.').unwrap_or(list);
    let parts =
        list.split([',', '|']).flat_map(|part| part.split(" or ")).flat_map(|part| part.split(" and "));
    let parts = parts.map(|part| part.trim().trim_start_matches("or ").trim_start_matches("and "));
    parts
        .filter(|part| !part.is_empty() && part.len() <= MAX_LENGTH && part.split(' ').count() <= 3)
        // A quote in the middle: this was a sentence, not a list.
        .filter(|part| !part.contains(['"', '\'', '`']))
        .map(str::to_owned)
        .take(MAX_VALUES)
        .collect()
}

/// Values of the kinds that a text speaks of: who asks for an IANA time zone gets some.
pub fn of_kinds(text: &str) -> Vec<Value> {
    let kinds = FieldKind::spoken_of(beginning(text));
    kinds
        .into_iter()
        .flat_map(|kind| samples::strings(kind).iter().take(MAX_OF_A_KIND))
        .map(|text| Value::from(*text))
        .collect()
}

/// Addresses that a text shows.
pub fn addresses(text: &str) -> Vec<Value> {
    static ADDRESS: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"https?://[A-Za-z0-9][^\s<>"'`()\[\]{}…*]{3,200}"#).expect("a fixed pattern")
    });
    let found = ADDRESS.find_iter(beginning(text)).map(|found| found.as_str());
    found.map(|found| Value::from(found.trim_end_matches(['.', ',', ';', ':']))).take(MAX_OF_A_KIND).collect()
}

/// Objects that a text shows as JSON, such as a whole call.
pub fn objects(text: &str) -> Vec<Map<String, Value>> {
    let text = beginning(text);
    let mut found = Vec::new();
    let mut end = 0;
    for (start, _) in text.match_indices('{').take(MAX_STARTS) {
        if start < end {
            continue;
        }
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        if let Some(Ok(Value::Object(members))) = stream.next() {
            end = start + stream.byte_offset();
            if !members.is_empty() {
                found.push(members);
            }
        }
    }
    found
}

/// A number or a flag where the text is one: an argument of that type takes nothing else.
pub fn scalar(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::from(text),
    }
}

fn beginning(text: &str) -> &str {
    let end = (0..=MAX_TEXT.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// Whether it can be a value: no sentence, and more than a sign.
fn is_value(text: &str) -> bool {
    let words = text.split_whitespace().count();
    text.chars().any(char::is_alphanumeric) && text.len() <= MAX_LENGTH && words <= 6 && !text.ends_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn examples_are_read_in_their_many_dressings() {
        for (text, wanted) in [
            ("The ticket, such as T-12", json!("T-12")),
            ("Repository, e.g. `owner/repo`", json!("owner/repo")),
            ("When it begins (for example 2024-01-31)", json!("2024-01-31")),
            ("How many (default: 10)", json!(10)),
            ("One of: red, green, blue", json!("green")),
            ("Either 'near' or 'far'", json!("far")),
            ("The mode (options: fast | slow)", json!("slow")),
            ("Cells (e.g., \"A1:C10\")", json!("A1:C10")),
        ] {
            let found = examples(text);
            assert!(found.contains(&wanted), "{text}: {found:?}");
        }
        assert!(examples("The text of the note").is_empty());
    }

    #[test]
    fn addresses_are_read_without_what_stands_around_them() {
        let found = addresses("Example: (https://pages.example/a.html), or https://pages.example/b.");
        assert_eq!(found, ["https://pages.example/a.html", "https://pages.example/b"]);
        assert!(addresses("must begin with https://").is_empty());
    }

    #[test]
    fn whole_calls_are_read_from_json() {
        let found = objects("Example: {\"city\": \"Oslo\", \"days\": 3} and not {this}");
        assert_eq!(found, [json!({ "city": "Oslo", "days": 3 }).as_object().cloned().unwrap()]);
    }

    #[test]
    fn a_text_without_end_is_read_within_bounds() {
        assert!(examples(&"e.g. a, b, c ".repeat(100_000)).len() <= MAX_VALUES);
        assert!(objects(&"{\"a\":".repeat(100_000)).is_empty());
    }
}
