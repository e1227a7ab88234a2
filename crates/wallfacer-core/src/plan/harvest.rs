//! Collects from a result the names, ids and paths that other calls may need, each under the key where it stood.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::lesson::Lesson;

/// Values taken from one result.
const MAX_HARVEST: usize = 64;
/// Parts of a result that are looked at.
const MAX_NODES: usize = 2_000;
/// Longer texts are contents, not names or ids.
const MAX_VALUE: usize = 200;
/// Lines of a text that are looked at.
const MAX_LINES: usize = 400;
/// Words of one line that are looked at.
const MAX_WORDS: usize = 16;

/// Names, ids and paths in a result.
pub fn harvest(result: &Value) -> Vec<Lesson> {
    let mut lessons = Vec::new();
    if let Some(structured) = result.get("structuredContent") {
        gather(structured, &mut lessons);
    }
    for block in result.get("content").and_then(Value::as_array).into_iter().flatten() {
        let Some(text) = block.get("text").and_then(Value::as_str) else { continue };
        // Many servers put their JSON into text.
        match serde_json::from_str(text) {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => gather(&value, &mut lessons),
            _ => glean(text, &mut lessons),
        }
    }
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
            Value::String(text) if !text.is_empty() && text.len() <= MAX_VALUE && !key.is_empty() => {
                keep(key, value.clone(), lessons);
            }
            Value::Number(_) if !key.is_empty() => keep(key, value.clone(), lessons),
            _ => {}
        }
    }
}

/// What a text for people gives away: `key: value`, lists of names, files and ids.
fn glean(text: &str, lessons: &mut Vec<Lesson>) {
    static PAIR: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\W*([A-Za-z][\w -]{0,40}):\s+(\S.{0,199})$").expect("a fixed pattern")
    });
    for line in text.lines().take(MAX_LINES) {
        let line = line.trim_end();
        if let Some(pair) = PAIR.captures(line) {
            keep(&pair[1].to_lowercase(), Value::from(&pair[2]), lessons);
        }
        let words: Vec<&str> = line.split_whitespace().take(MAX_WORDS).map(bare).collect();
        // A line of one word, behind a bullet or not, is an entry of a list.
        if let [word] | [_, word] = &words[..]
            && words.iter().rev().skip(1).all(|bullet| bullet.chars().count() <= 1)
            && is_name(word)
        {
            keep("", Value::from(*word), lessons);
        }
        for word in words.iter().filter(|word| is_name(word)) {
            if is_file(word) {
                keep("file", Value::from(*word), lessons);
            } else if is_id(word) {
                keep("id", Value::from(*word), lessons);
            }
        }
    }
}

fn bare(word: &str) -> &str {
    word.trim_matches(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '/' | '.' | '_'))
        .trim_end_matches('.')
}

fn is_name(word: &str) -> bool {
    word.chars().any(char::is_alphanumeric) && word.len() <= MAX_VALUE
}

/// `notes.txt`, `src/lib.rs`; no number, no address.
fn is_file(word: &str) -> bool {
    static FILE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(?:[\w.@+-]*/)*[\w@+-]*\.[A-Za-z]\w{0,7}$").expect("a fixed pattern"));
    FILE.is_match(word)
}

/// Letters and digits mixed, long enough to be no word: a hash, a UUID, a key.
fn is_id(word: &str) -> bool {
    let mixed = word.chars().any(|letter| letter.is_ascii_digit())
        && word.chars().any(|letter| letter.is_ascii_alphabetic());
    let plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'));
    mixed && plain && word.len() >= 7
}

fn keep(field: &str, value: Value, lessons: &mut Vec<Lesson>) {
    let lesson = Lesson { field: field.to_owned(), value };
    if lessons.len() < MAX_HARVEST && !lessons.contains(&lesson) {
        lessons.push(lesson);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
    fn a_text_for_people_gives_pairs_lists_files_and_ids() {
        let text = "Shelf: upper\nOwner:  Ada\n* alpha\n  beta\nchanged: notes.txt, src/lib.rs\nat 3fa98c54628 today";
        let lessons = harvest(&json!({ "content": [{ "type": "text", "text": text }] }));
        for (field, value) in [
            ("shelf", "upper"),
            ("owner", "Ada"),
            ("", "alpha"),
            ("", "beta"),
            ("file", "notes.txt"),
            ("file", "src/lib.rs"),
            ("id", "3fa98c54628"),
        ] {
            let lesson = Lesson { field: field.to_owned(), value: json!(value) };
            assert!(lessons.contains(&lesson), "{lesson:?} is not among {lessons:?}");
        }
        assert!(!lessons.iter().any(|lesson| lesson.value == "today"), "{lessons:?}");
    }

    #[test]
    fn a_hostile_result_is_read_within_bounds() {
        let wide: Vec<Value> = (0..100_000).map(|number| json!({ "k": format!("{number}") })).collect();
        assert!(harvest(&json!({ "structuredContent": wide })).len() <= MAX_HARVEST);
        let long = "word: value\n".repeat(100_000) + &"x1y2z3w4 ".repeat(100_000);
        assert!(harvest(&json!({ "content": [{ "text": long }] })).len() <= MAX_HARVEST);
    }
}
