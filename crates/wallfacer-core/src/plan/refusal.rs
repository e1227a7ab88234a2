//! Reads from a refusal which arguments it is about, and what would do instead.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::lesson::Lesson;

const MAX_CHOICES: usize = 32;
/// Longer values are not looked for in a refusal, nor learned of it.
const MAX_CHOICE: usize = 60;
/// What validators call the types that they want: these are no values.
const TYPES: [&str; 14] = [
    "array",
    "bool",
    "boolean",
    "date",
    "dict",
    "float",
    "int",
    "integer",
    "list",
    "null",
    "number",
    "object",
    "string",
    "undefined",
];

/// What a refusal says.
#[derive(Debug, Default, PartialEq)]
pub struct Refusal {
    /// The arguments that it names, or whose values it quotes.
    pub blamed: BTreeSet<String>,
    /// Values that would do; without a field where any may be meant.
    pub lessons: Vec<Lesson>,
}

/// Reads a refusal of a call with these arguments, of a tool that has these fields.
pub fn read_refusal(text: &str, fields: &[String], sent: &Map<String, Value>) -> Refusal {
    let mut refusal = Refusal::default();
    let mut heading: Option<&String> = None;
    for line in text.lines() {
        let mut about: BTreeSet<&String> = fields.iter().filter(|field| names(line, field)).collect();
        // Some validators name the field on a line of its own, before what they say of it.
        about.extend(heading.take());
        let alone = line
            .trim_end_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ':' | '*'));
        if let Some(field) = fields.iter().find(|field| **field == alone) {
            heading = Some(field);
            continue;
        }
        if about.is_empty() {
            // What is quoted first is what the line is about; what follows may be what it is held against.
            let quoted = fields.iter().filter_map(|field| Some((quoted_at(line, sent.get(field)?)?, field)));
            about.extend(quoted.min().map(|(_, field)| field));
        }
        for lesson in values(line).into_iter().filter(|value| !sent.values().any(|sent| sent == value)) {
            match about.is_empty() {
                true => refusal.learn("", lesson),
                false => about.iter().for_each(|field| refusal.learn(field, lesson.clone())),
            }
        }
        refusal.blamed.extend(about.into_iter().cloned());
    }
    refusal
}

impl Refusal {
    fn learn(&mut self, field: &str, value: Value) {
        let lesson = Lesson { field: field.to_owned(), value };
        if self.lessons.len() < MAX_CHOICES && !self.lessons.contains(&lesson) {
            self.lessons.push(lesson);
        }
    }
}

/// Whether a word stands in a text as a whole.
pub fn names(text: &str, word: &str) -> bool {
    let inner = |letter: char| letter.is_alphanumeric() || letter == '_';
    !word.is_empty()
        && text.match_indices(word).any(|(start, _)| {
            let (before, after) = (&text[..start], &text[start + word.len()..]);
            !before.chars().next_back().is_some_and(inner) && !after.chars().next().is_some_and(inner)
        })
}

/// Where a text that was sent, or one of several, stands in a line, in quotes.
fn quoted_at(line: &str, value: &Value) -> Option<usize> {
    if let Value::Array(items) = value {
        let texts = items.iter().take(MAX_CHOICES).filter(|item| item.is_string());
        return texts.filter_map(|item| quoted_at(line, item)).min();
    }
    let text = value.as_str().filter(|text| !text.is_empty())?;
    ['\'', '"', '`'].iter().filter_map(|quote| line.find(&format!("{quote}{text}{quote}"))).min()
}

/// Values that a line names: a list of choices, a path, a type, an example of the form that it wants.
fn values(line: &str) -> Vec<Value> {
    let texts = choices(line).into_iter().chain(places(line)).chain(forms(line)).map(Value::from);
    types(line).into_iter().chain(texts).collect()
}

/// "must be one of: a, b" in its many dressings.
fn choices(line: &str) -> Vec<String> {
    static LEAD: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"(?i)\b(?:one of|either|expected|allowed(?: values)?|valid (?:values|options|choices)|available(?: \w+)?|options|choices|supported(?: \w+)?|known \w+|input should be)";
        Regex::new(&format!(r"{words}(?:\s+(?:are|is|include))?\s*:?\s*([^\n;]+)")).expect("a fixed pattern")
    });
    LEAD.captures_iter(line).flat_map(|found| split_choices(&found[1])).take(MAX_CHOICES).collect()
}

fn split_choices(list: &str) -> Vec<String> {
    static QUOTED: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"[`'"]([^`'"]{1,60})[`'"]"#).expect("a fixed pattern"));
    static INSTEAD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?i)\b(?:received|but|got|instead|not)\b").expect("a fixed pattern"));
    let list = list.trim().trim_start_matches(['[', '(', '{']);
    let list = list.split([']', ')', '}', '[', '(', '{']).next().unwrap_or_default();
    let list = INSTEAD.split(list).next().unwrap_or_default().trim();
    let list = list.strip_suffix('.').unwrap_or(list);
    let quoted: Vec<String> = QUOTED.captures_iter(list).map(|choice| choice[1].to_owned()).collect();
    if !quoted.is_empty() {
        return quoted;
    }
    let parts =
        list.split([',', '|']).flat_map(|part| part.split(" or ")).flat_map(|part| part.split(" and "));
    parts
        .map(str::trim)
        .filter(|part| !part.is_empty() && part.len() <= MAX_CHOICE && part.split(' ').count() <= 3)
        // A quote in the middle: this was a sentence, not a list.
        .filter(|part| !part.contains(['"', '\'', '`']))
        .filter(|part| !part.split(' ').any(|word| TYPES.contains(&word.to_lowercase().as_str())))
        .map(str::to_owned)
        .collect()
}

/// Paths in quotes: who refuses a path often says which one it would take.
fn places(line: &str) -> Vec<String> {
    static PLACE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"[`'"](/[^`'"\s]{1,200})[`'"]"#).expect("a fixed pattern"));
    PLACE.captures_iter(line).take(MAX_CHOICES).map(|place| place[1].to_owned()).collect()
}

/// "Expected boolean": schemas often allow more types than the tool behind them takes.
fn types(line: &str) -> Vec<Value> {
    static WANTED: LazyLock<Regex> = LazyLock::new(|| {
        let lead = r"(?i)\b(?:expected|must be|should be|input should be) (?:an? )?(?:valid )?";
        Regex::new(&format!("{lead}(boolean|integer|number)\\b")).expect("a fixed pattern")
    });
    match WANTED.captures(line).map(|found| found[1].to_lowercase()) {
        Some(wanted) if wanted == "boolean" => vec![Value::from(true), Value::from(false)],
        Some(_) => vec![Value::from(1)],
        None => Vec::new(),
    }
}

/// Forms that refusals ask for by name.
fn forms(line: &str) -> Vec<String> {
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
    let line = line.to_lowercase();
    let asked = FORMS.iter().filter(|(words, _)| words.iter().any(|word| line.contains(word)));
    asked.flat_map(|(_, values)| values.iter()).map(|value| (*value).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str, sent: Value) -> Refusal {
        let sent = sent.as_object().cloned().unwrap();
        let fields: Vec<String> = sent.keys().cloned().collect();
        read_refusal(text, &fields, &sent)
    }

    fn learned(text: &str, sent: Value) -> Vec<(String, Value)> {
        read(text, sent).lessons.into_iter().map(|lesson| (lesson.field, lesson.value)).collect()
    }

    fn lesson(field: &str, value: Value) -> (String, Value) {
        (field.to_owned(), value)
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
            let found: Vec<Value> =
                read(text, json!({})).lessons.into_iter().map(|lesson| lesson.value).collect();
            assert_eq!(found, [json!("red"), json!("green"), json!("blue")], "{text}");
        }
    }

    #[test]
    fn what_is_said_of_a_field_is_learned_for_that_field() {
        let sent = json!({ "mode": "x", "speed": 1 });
        assert_eq!(
            learned("argument `mode` must be one of: fast, slow", sent),
            [lesson("mode", json!("fast")), lesson("mode", json!("slow"))]
        );
    }

    #[test]
    fn a_field_is_known_by_the_value_that_is_quoted_and_that_value_is_not_learned() {
        let refusal = read(
            "path '/elsewhere' is outside the allowed repository '/srv/project'",
            json!({ "repo": "/elsewhere", "branch": "main" }),
        );
        let (field, value) = ("repo".to_owned(), json!("/srv/project"));
        assert_eq!(refusal.lessons, [Lesson { field, value }]);
        assert_eq!(refusal.blamed, BTreeSet::from(["repo".to_owned()]));
    }

    #[test]
    fn of_two_values_that_are_quoted_the_first_is_the_one_that_is_refused() {
        let sent = json!({ "repo": "/srv/project", "files": ["a.txt", "/elsewhere"] });
        let refusal = read("Path '/elsewhere' is outside the repository '/srv/project'", sent);
        assert_eq!(refusal.blamed, BTreeSet::from(["files".to_owned()]));
    }

    #[test]
    fn a_type_that_is_expected_of_a_field_is_learned_for_that_field() {
        let texts = [
            "Expected boolean or \"true\"/\"false\" string, received \"abc\" at urgent",
            "1 validation error for Arguments\nurgent\n  Input should be a valid boolean, unable to interpret input",
        ];
        for text in texts {
            let learned = learned(text, json!({ "urgent": "abc", "title": "abc" }));
            assert!(learned.contains(&lesson("urgent", json!(true))), "{text}: {learned:?}");
            assert!(
                learned.iter().all(|(field, value)| field == "urgent" && value != "boolean"),
                "{learned:?}"
            );
        }
    }

    #[test]
    fn forms_are_learned_by_name() {
        let has = |text: &str, value: &str| {
            learned(text, json!({})).iter().any(|(_, found)| found.as_str() == Some(value))
        };
        assert!(has("Invalid isoformat string: 'x'", "2026-01-15"));
        assert!(has("Invalid timezone: No time zone found", "Europe/Berlin"));
        assert!(learned("nothing to learn here", json!({})).is_empty());
    }

    #[test]
    fn a_word_is_named_only_as_a_whole() {
        assert!(names("no such path: x", "path"));
        assert!(!names("no such file_path", "path"));
        assert!(!names("anything", ""));
    }
}
