//! Collects from a result the names, ids and paths that other calls may need, each under the key where it stood.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::field::{GENERAL, stems};
use super::lesson::Lesson;

/// Values taken from one result.
const MAX_HARVEST: usize = 64;
/// Parts of a result that are looked at.
const MAX_NODES: usize = 2_000;
/// Longer texts are contents, not names or ids.
const MAX_VALUE: usize = 200;
/// Lines of a text that are looked at.
const MAX_LINES: usize = 400;
/// Letters that may come before a JSON document in a text.
const MAX_LEAD: usize = 200;
/// Words of one line that are looked at.
const MAX_WORDS: usize = 16;

/// Keys that hold whatever is given, and say nothing of what that is.
const CONTAINERS: [&str; 14] = [
    "content", "data", "entry", "entrie", "hit", "item", "list", "object", "output", "record", "response",
    "result", "row", "value",
];

/// Names, ids and paths in a result.
pub fn harvest(result: &Value) -> Vec<Lesson> {
    let mut lessons = Vec::new();
    if let Some(structured) = result.get("structuredContent") {
        gather(structured, &mut lessons);
    }
    // What a server proposes for an argument.
    if let Some(proposed) = result.get("completion").and_then(|completion| completion.get("values")) {
        gather(&json!({ "values": proposed }), &mut lessons);
    }
    for block in result.get("content").and_then(Value::as_array).into_iter().flatten() {
        let Some(text) = block.get("text").and_then(Value::as_str) else { continue };
        // Many servers put their JSON into text, some behind a sentence.
        match embedded(text) {
            Some(value) => gather(&value, &mut lessons),
            None => glean(text, &mut lessons),
        }
    }
    lessons
}

/// A JSON document in a text, alone or behind a few words.
fn embedded(text: &str) -> Option<Value> {
    let start = text.find(['{', '[']).filter(|start| *start <= MAX_LEAD)?;
    let value = serde_json::Deserializer::from_str(&text[start..]).into_iter().next()?.ok()?;
    let holds_something = match &value {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => items.iter().any(|item| item.is_object() || item.is_string()),
        _ => false,
    };
    holds_something.then_some(value)
}

fn gather(root: &Value, lessons: &mut Vec<Lesson>) {
    let mut open = vec![("", "", root)];
    for _ in 0..MAX_NODES {
        let Some((owner, key, value)) = open.pop() else { return };
        match value {
            Value::Object(members) => {
                open.extend(members.iter().rev().map(|(inner, value)| (key, inner.as_str(), value)))
            }
            Value::Array(items) => open.extend(items.iter().take(16).rev().map(|item| (owner, key, item))),
            Value::String(text) if !text.is_empty() && text.len() <= MAX_VALUE => {
                keep_of(owner, key, value, lessons);
            }
            Value::Number(_) if !key.is_empty() => keep_of(owner, key, value, lessons),
            _ => {}
        }
    }
}

/// The `id` of one of the `devices` is a `device id`, which says more to those who look for a device.
fn keep_of(owner: &str, key: &str, value: &Value, lessons: &mut Vec<Lesson>) {
    let says_little = stems(key).iter().all(|stem| GENERAL.contains(&stem.as_str()));
    let says_what = stems(owner).iter().any(|stem| !CONTAINERS.contains(&stem.as_str()));
    if says_little && says_what {
        keep(&format!("{owner} {key}"), value.clone(), lessons);
    }
    keep(key, value.clone(), lessons);
}

/// What a text for people gives away: `key: value`, lists of names, files and ids.
fn glean(text: &str, lessons: &mut Vec<Lesson>) {
    static PAIR: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\W*([A-Za-z][\w -]{0,40}):[*_]{0,2}\s+(\S.{0,199})$").expect("a fixed pattern")
    });
    /// "Created note with ID: n-7", "session_id=ab12", "Project proj-1 created".
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        let key = r"((?:[A-Za-z]+[ _-]?)?(?:id|ID|Id|uuid|UUID|key|handle|token|name|number))";
        Regex::new(&format!(r#"\b{key}(?:\s+is)?\s*[:=#]?[*_]{{0,2}}\s+?["'`(\[]*([\w][\w./:-]{{0,79}})"#))
            .expect("a fixed pattern")
    });
    static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"\b([A-Za-z]\w{0,40})\s*[=:]\s*["'`]?([\w][\w./-]{0,79})"#).expect("a fixed pattern")
    });
    static QUOTED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"[`'"]([^`'"\s]{1,80})[`'"]"#).expect("a fixed pattern"));
    let mut header: Vec<String> = Vec::new();
    for line in text.lines().take(MAX_LINES) {
        let line = line.trim_end();
        if line.trim_start().starts_with('|') {
            row(line, &mut header, lessons);
            continue;
        }
        header.clear();
        if let Some(pair) = PAIR.captures(line) {
            let value = pair[2].trim_matches(|letter: char| matches!(letter, '`' | '"' | '\'' | '*'));
            keep(&pair[1].to_lowercase(), scalar(value), lessons);
        }
        let named =
            NAMED.captures_iter(line).filter(|found| found[2].chars().any(|letter| letter.is_ascii_digit()));
        for found in named.chain(ASSIGNED.captures_iter(line)).take(MAX_WORDS) {
            let value = found[2].trim_end_matches(['.', ':', ',']);
            keep(&found[1].to_lowercase(), scalar(value), lessons);
        }
        for found in QUOTED.captures_iter(line).take(MAX_WORDS) {
            keep("", Value::from(&found[1]), lessons);
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

/// A row of a Markdown table: the first names the columns.
fn row(line: &str, header: &mut Vec<String>, lessons: &mut Vec<Lesson>) {
    let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).take(MAX_WORDS).collect();
    if header.is_empty() {
        *header = cells.iter().map(|cell| cell.to_lowercase()).collect();
        return;
    }
    let is_rule = cells.iter().all(|cell| cell.chars().all(|letter| matches!(letter, '-' | ':' | ' ')));
    for (name, cell) in header.iter().zip(&cells).filter(|_| !is_rule) {
        let cell = cell.trim_matches(|letter: char| matches!(letter, '`' | '*'));
        if !cell.is_empty() && cell.len() <= MAX_VALUE {
            keep(name, scalar(cell), lessons);
        }
    }
}

/// A number where it is one.
fn scalar(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
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
    fn what_an_id_belongs_to_is_known_by_where_it_stood() {
        let lessons = harvest(
            &json!({ "structuredContent": { "devices": [{ "id": "d-1" }], "items": [{ "id": 7 }] } }),
        );
        let fields: Vec<&str> = lessons.iter().map(|lesson| lesson.field.as_str()).collect();
        assert_eq!(fields, ["devices id", "id", "id"]);
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
