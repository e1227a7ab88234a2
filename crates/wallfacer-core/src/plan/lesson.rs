//! What a reply teaches: a result holds values that other calls may need, a refusal often says what it wants.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Values taken from one result.
const MAX_HARVEST: usize = 64;
/// Parts of a result that are looked at.
const MAX_NODES: usize = 2_000;
/// Longer texts are contents, not names or ids.
const MAX_VALUE: usize = 200;
/// The text of a result that is looked through.
const MAX_SAID: usize = 64 << 10;
/// The part of a refusal that is read.
const MAX_REFUSAL: usize = 4_000;
const MAX_CHOICES: usize = 32;

/// Something worth trying as an argument.
#[derive(Debug, Clone, PartialEq)]
pub struct Lesson {
    /// The field for which it was learned; empty where any may want it.
    pub field: String,
    pub value: Value,
}

/// Names, ids and paths in a result, under the key where each stood.
pub fn harvest(result: &Value) -> Vec<Lesson> {
    let mut lessons = Vec::new();
    if let Some(structured) = result.get("structuredContent") {
        gather(structured, &mut lessons);
    }
    for block in result.get("content").and_then(Value::as_array).into_iter().flatten() {
        let Some(text) = block.get("text").and_then(Value::as_str) else { continue };
        // Many servers put their JSON into text.
        if let Ok(value @ (Value::Object(_) | Value::Array(_))) = serde_json::from_str(text) {
            gather(&value, &mut lessons);
        }
    }
    lessons
}

/// All text of a tool's result, one block after another.
pub fn said(result: &Value) -> String {
    let blocks = result.get("content").and_then(Value::as_array).into_iter().flatten();
    let mut text = String::new();
    for block in blocks.filter_map(|block| block.get("text").and_then(Value::as_str)) {
        if text.len() > MAX_SAID {
            break;
        }
        text.push_str(block);
        text.push('\n');
    }
    text
}

/// Values that a refusal names: a list of choices, or an example of the form it wants.
pub fn read_refusal(text: &str) -> Vec<Lesson> {
    let text = head(text, MAX_REFUSAL);
    let mut lessons = choices(text);
    lessons.extend(places(text));
    lessons.extend(types(text));
    lessons.extend(forms(text));
    lessons.dedup();
    lessons
}

fn gather(root: &Value, lessons: &mut Vec<Lesson>) {
    let mut open = vec![("", root)];
    for _ in 0..MAX_NODES {
        let Some((key, value)) = open.pop() else { return };
        match value {
            Value::Object(members) => {
                open.extend(members.iter().rev().map(|(key, value)| (key.as_str(), value)))
            }
            Value::Array(items) => open.extend(items.iter().take(16).rev().map(|item| (key, item))),
            Value::String(text) if !text.is_empty() && text.len() <= MAX_VALUE => keep(key, value, lessons),
            Value::Number(_) => keep(key, value, lessons),
            _ => {}
        }
    }
}

fn keep(field: &str, value: &Value, lessons: &mut Vec<Lesson>) {
    let lesson = Lesson { field: field.to_owned(), value: value.clone() };
    if lessons.len() < MAX_HARVEST && !field.is_empty() && !lessons.contains(&lesson) {
        lessons.push(lesson);
    }
}

/// "must be one of: a, b" in its many dressings.
fn choices(text: &str) -> Vec<Lesson> {
    static LEAD: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"(?i)\b(?:one of|either|expected|allowed(?: values)?|valid (?:values|options|choices)|available(?: \w+)?|options|choices|supported(?: \w+)?|known \w+|input should be)";
        Regex::new(&format!(r"{words}(?:\s+(?:are|is|include))?\s*:?\s*([^\n;]+)")).expect("a fixed pattern")
    });
    static FIELD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"[`'"]([A-Za-z_][\w.-]{0,60})[`'"]"#).expect("a fixed pattern"));
    let mut lessons = Vec::new();
    for found in LEAD.captures_iter(text) {
        let (Some(whole), Some(list)) = (found.get(0), found.get(1)) else { continue };
        // The field is usually named in quotes before the list.
        let before = &text[..whole.start()];
        let field = FIELD.captures_iter(before).last().map(|field| field[1].to_owned()).unwrap_or_default();
        for choice in split_choices(list.as_str()) {
            lessons.push(Lesson { field: field.clone(), value: Value::from(choice) });
        }
    }
    lessons.truncate(MAX_CHOICES);
    lessons
}

fn split_choices(list: &str) -> Vec<String> {
    let list = list.trim().trim_start_matches(['[', '(', '{']);
    let list = list.split([']', ')', '}', '[', '(', '{']).next().unwrap_or_default();
    let list = list.strip_suffix('.').unwrap_or(list);
    let parts =
        list.split([',', '|']).flat_map(|part| part.split(" or ")).flat_map(|part| part.split(" and "));
    let clean = parts.map(|part| part.trim().trim_matches(['"', '\'', '`', ' ']));
    clean
        .filter(|part| !part.is_empty() && part.len() <= 60 && part.split(' ').count() <= 3)
        // A quote in the middle: this was a sentence, not a list.
        .filter(|part| !part.contains(['"', '\'', '`']))
        .map(str::to_owned)
        .collect()
}

/// Paths in quotes: who refuses a path often says which one it would take.
fn places(text: &str) -> Vec<Lesson> {
    static PLACE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"[`'"](/[^`'"\s]{1,200})[`'"]"#).expect("a fixed pattern"));
    let found = PLACE.captures_iter(text).take(MAX_CHOICES);
    found.map(|place| Lesson { field: String::new(), value: Value::from(&place[1]) }).collect()
}

/// "Expected boolean … at `field`", and the way of those who name the field on the line before. Schemas often allow more
/// types than the tool behind them takes.
fn types(text: &str) -> Vec<Lesson> {
    static AFTER: LazyLock<Regex> = LazyLock::new(|| {
        let wanted = r"(?i)\bexpected (?:an? )?(?:valid )?(?P<type>boolean|integer|number)\b[^\n]*";
        let field = r#"\b(?:at|for|in) [`'"]?(?P<field>[a-z_]\w{0,60})"#;
        Regex::new(&format!("{wanted}{field}")).expect("a fixed pattern")
    });
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        let field = r"(?m)^(?P<field>[A-Za-z_]\w{0,60})\n";
        let wanted = r"\s+Input should be a valid (?P<type>boolean|integer|number)";
        Regex::new(&format!("{field}{wanted}")).expect("a fixed pattern")
    });
    let found = AFTER.captures_iter(text).chain(BEFORE.captures_iter(text)).take(MAX_CHOICES);
    let lessons = found.flat_map(|found| {
        let values = match found["type"].to_lowercase().as_str() {
            "boolean" => vec![Value::from(true), Value::from(false)],
            _ => vec![Value::from(1)],
        };
        let field = found["field"].to_owned();
        values.into_iter().map(move |value| Lesson { field: field.clone(), value })
    });
    lessons.collect()
}

/// Forms that refusals ask for by name.
fn forms(text: &str) -> Vec<Lesson> {
    const FORMS: [(&[&str], &[&str]); 9] = [
        (
            &["iso 8601", "iso8601", "iso date", "isoformat", "rfc 3339", "rfc3339"],
            &["2026-01-15T10:30:00Z", "2026-01-15"],
        ),
        (&["yyyy-mm-dd"], &["2026-01-15"]),
        (&["hh:mm"], &["10:30"]),
        (&["timezone", "time zone"], &["Europe/Berlin", "America/New_York", "UTC"]),
        (&["uuid"], &["123e4567-e89b-42d3-a456-426614174000"]),
        (&["e-mail", "email"], &["user@example.com"]),
        (&["url", "uri"], &["https://example.com/"]),
        (&["ip address"], &["192.0.2.1"]),
        (&["hex colo"], &["#336699"]),
    ];
    let text = text.to_lowercase();
    let asked = FORMS.iter().filter(|(words, _)| words.iter().any(|word| text.contains(word)));
    asked
        .flat_map(|(_, values)| values.iter())
        .map(|value| Lesson { field: String::new(), value: Value::from(*value) })
        .collect()
}

fn head(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values(text: &str) -> Vec<String> {
        read_refusal(text).into_iter().filter_map(|lesson| lesson.value.as_str().map(str::to_owned)).collect()
    }

    #[test]
    fn choices_are_read_from_many_kinds_of_refusal() {
        let texts = [
            "colour must be one of: red, green, blue",
            "Invalid enum value. Expected 'red' | 'green' | 'blue', received 'x'",
            "Input should be 'red', 'green' or 'blue' [type=literal_error]",
            "Unknown colour. Available colours: red, green and blue.",
            "value must be one of [\"red\", \"green\", \"blue\"]",
        ];
        for text in texts {
            let found = values(text);
            for colour in ["red", "green", "blue"] {
                assert!(found.iter().any(|value| value == colour), "{text}: {found:?}");
            }
        }
    }

    #[test]
    fn a_field_named_before_the_list_is_the_one_that_learns() {
        let lessons = read_refusal("argument `mode` must be one of: fast, slow");
        assert!(lessons.iter().all(|lesson| lesson.field == "mode"), "{lessons:?}");
    }

    #[test]
    fn a_path_that_would_be_taken_is_learned_whole() {
        let found = values("path '/elsewhere' is outside the allowed repository '/srv/project'");
        assert_eq!(found, ["/elsewhere", "/srv/project"]);
    }

    #[test]
    fn a_type_that_is_expected_of_a_field_is_learned_for_that_field() {
        let texts = [
            "Expected boolean or \"yes\"/\"no\" string, received \"abc\" at urgent",
            "1 validation error for Arguments\nurgent\n  Input should be a valid boolean, unable to interpret input",
        ];
        for text in texts {
            let lessons = read_refusal(text);
            let learned = Lesson { field: "urgent".to_owned(), value: json!(true) };
            assert!(lessons.contains(&learned), "{text}: {lessons:?}");
        }
    }

    #[test]
    fn forms_are_learned_by_name() {
        assert!(values("Invalid isoformat string: 'x'").contains(&"2026-01-15".to_owned()));
        assert!(values("Invalid timezone: No time zone found").contains(&"Europe/Berlin".to_owned()));
        assert!(values("nothing to learn here").is_empty());
    }

    #[test]
    fn results_give_their_values_under_their_keys() {
        let text = json!({ "items": [{ "id": "a-1", "size": 3 }, { "id": "a-2" }] }).to_string();
        let result =
            json!({ "content": [{ "type": "text", "text": text }], "structuredContent": { "path": "/x" } });
        let lessons = harvest(&result);
        let has = |field: &str, value: Value| lessons.contains(&Lesson { field: field.to_owned(), value });
        assert!(
            has("id", json!("a-1"))
                && has("id", json!("a-2"))
                && has("size", json!(3))
                && has("path", json!("/x"))
        );
    }

    #[test]
    fn a_hostile_result_is_read_within_bounds() {
        let wide: Vec<Value> = (0..100_000).map(|number| json!({ "k": format!("{number}") })).collect();
        assert!(harvest(&json!({ "structuredContent": wide })).len() <= MAX_HARVEST);
    }
}
