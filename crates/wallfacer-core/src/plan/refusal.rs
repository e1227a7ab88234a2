//! Reads from a refusal which arguments it is about, which it misses, and what would do instead.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};
use wallfacer_schema::samples;
use wallfacer_text::lexicon::{FieldKind, words};

use super::example;
use super::form::{as_text, forms};
use super::lesson::Lesson;
use super::member::{member_asked_for, names_in, with_member};

const MAX_CHOICES: usize = 32;
/// Levels of a list of faults that are looked at.
const MAX_LEVELS: usize = 6;
/// Letters that a value must have to be known where it stands without quotes.
const LEAST_QUOTED: usize = 4;
/// What validators call the types that they want: these are no values.
const TYPES: [&str; 17] = [
    "array",
    "bool",
    "boolean",
    "date",
    "dict",
    "dictionary",
    "float",
    "int",
    "integer",
    "list",
    "null",
    "number",
    "object",
    "str",
    "string",
    "undefined",
    "value",
];

/// What a refusal says.
#[derive(Debug, Default, PartialEq)]
pub struct Refusal {
    /// The arguments that it names, or whose values it quotes.
    pub blamed: BTreeSet<String>,
    /// Arguments that it asks for, and that were not sent.
    pub wanted: BTreeSet<String>,
    /// Values that would do; without a field where any may be meant.
    pub lessons: Vec<Lesson>,
}

/// Reads a refusal of a call with these arguments, of a tool that has these fields.
pub fn read_refusal(text: &str, fields: &[String], sent: &Map<String, Value>) -> Refusal {
    let mut refusal = Refusal::default();
    if let Some(faults) = listed(text) {
        refusal.read_faults(&faults, fields, sent, MAX_LEVELS);
    }
    let mut heading: Option<&String> = None;
    for line in text.lines() {
        if let Some(lesson) = member_asked_for(line, fields, sent, &refusal.lessons) {
            refusal.blamed.insert(lesson.field.clone());
            refusal.learn(&lesson.field, lesson.value);
            continue;
        }
        let mut about: BTreeSet<&String> = fields.iter().filter(|field| is_about(line, field)).collect();
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
        let addresses = sent.iter().filter(|(field, value)| about.contains(field) && is_address(value));
        for (field, sent) in addresses {
            allowed_addresses(line, sent).into_iter().for_each(|value| refusal.learn(field, value));
        }
        for Lesson { field, value } in as_many(line, fields, sent) {
            refusal.learn(&field, value);
        }
        for field in about.iter().filter(|field| sent.get(**field).is_some_and(Value::is_null)) {
            as_text(line, field).into_iter().for_each(|value| refusal.learn(field, value));
        }
        for lesson in values(line).into_iter().filter(|value| !sent.values().any(|sent| sent == value)) {
            match about.is_empty() {
                true => refusal.learn("", lesson),
                false => about.iter().for_each(|field| refusal.learn(field, lesson.clone())),
            }
        }
        refusal.blamed.extend(about.into_iter().cloned());
    }
    let (sent, missing): (BTreeSet<String>, BTreeSet<String>) =
        std::mem::take(&mut refusal.blamed).into_iter().partition(|field| is_sent(sent, field));
    refusal.blamed = sent;
    refusal.wanted.extend(missing);
    refusal
}

fn is_sent(sent: &Map<String, Value>, field: &str) -> bool {
    sent.contains_key(field)
        || sent.values().any(|value| value.to_string().contains(&format!("\"{field}\":")))
}

impl Refusal {
    fn learn(&mut self, field: &str, value: Value) {
        let lesson = Lesson { field: field.to_owned(), value };
        if self.lessons.len() < MAX_CHOICES && !self.lessons.contains(&lesson) {
            self.lessons.push(lesson);
        }
    }

    /// Reads a validator's list of faults: each has the path of what it is about, and often what it would take.
    fn read_faults(&mut self, faults: &Value, fields: &[String], sent: &Map<String, Value>, levels: usize) {
        let faults = faults.as_array().map(Vec::as_slice).unwrap_or(std::slice::from_ref(faults));
        for fault in faults.iter().take(MAX_CHOICES).filter(|_| levels > 0) {
            let path = ["path", "loc", "instancePath", "dataPath"].iter().find_map(|key| fault.get(*key));
            if let Some(Lesson { field, value }) =
                path.and_then(|path| with_member(path, fault, fields, sent, &self.lessons))
            {
                self.learn(&field, value);
            }
            let field = path.and_then(|path| last_name(path, fields));
            if let Some(field) = &field {
                self.blamed.insert(field.clone());
                for key in ["options", "values", "allowedValues", "enum"] {
                    let choices = fault.get(key).and_then(Value::as_array).into_iter().flatten();
                    choices
                        .filter(|choice| !choice.is_object())
                        .for_each(|choice| self.learn(field, choice.clone()));
                }
                let limits = ["minimum", "maximum"].iter().filter_map(|key| fault.get(*key));
                limits.filter(|limit| limit.is_number()).for_each(|limit| self.learn(field, limit.clone()));
                let expected = fault.get("expected").and_then(Value::as_str).unwrap_or_default();
                of_type(expected).into_iter().for_each(|value| self.learn(field, value));
            }
            for key in ["errors", "issues", "details", "error", "unionErrors"] {
                if let Some(inner) = fault.get(key).filter(|inner| inner.is_array() || inner.is_object()) {
                    self.read_faults(inner, fields, sent, levels - 1);
                }
            }
        }
    }
}

/// The list of faults in a text, where it is one.
fn listed(text: &str) -> Option<Value> {
    let start = text.find(['[', '{'])?;
    let value = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>().next()?.ok()?;
    (value.is_array() || value.is_object()).then_some(value)
}

/// The innermost part of a path that is a field.
fn last_name(path: &Value, fields: &[String]) -> Option<String> {
    names_in(path).into_iter().rev().find(|part| fields.contains(part))
}

/// Whether a line speaks of a field. One that is an everyday word must stand as a name: in quotes, before a colon, as an
/// argument.
fn is_about(line: &str, field: &str) -> bool {
    const EVERYDAY: [&str; 22] = [
        "action", "code", "command", "content", "data", "end", "file", "format", "id", "input", "message",
        "mode", "name", "number", "path", "query", "start", "text", "title", "type", "url", "value",
    ];
    let small = line.to_lowercase();
    let phrase = words(field).join(" ");
    // `shelfNumber` is what another place calls `shelf_number`.
    let spelled = ["", " ", "_"].map(|between| phrase.replace(' ', between));
    let is_spoken = phrase.contains(' ') && spelled.iter().any(|phrase| names(&small, phrase));
    if !is_spoken && !names(&small, &field.to_lowercase()) {
        return false;
    }
    if is_spoken || !EVERYDAY.contains(&field) {
        return true;
    }
    let quoted = ['\'', '"', '`'].iter().any(|quote| line.contains(&format!("{quote}{field}{quote}")));
    let marked =
        ["argument", "parameter", "field", "property", "required", "must", "missing", "invalid", "provide"];
    quoted || small.contains(&format!("{field}:")) || marked.iter().any(|word| small.contains(word))
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

/// Where a text that was sent, or one of several, stands in a line, in quotes or as a word.
fn quoted_at(line: &str, value: &Value) -> Option<usize> {
    if let Value::Array(items) = value {
        let texts = items.iter().take(MAX_CHOICES).filter(|item| item.is_string());
        return texts.filter_map(|item| quoted_at(line, item)).min();
    }
    let text = value.as_str().filter(|text| !text.is_empty())?;
    let quoted = ['\'', '"', '`'].iter().filter_map(|quote| line.find(&format!("{quote}{text}{quote}")));
    let bare = line.find(text).filter(|_| text.len() >= LEAST_QUOTED && names(line, text));
    quoted.chain(bare).min()
}

/// Values that a line names: a list of choices, a path, a type, a number, an example of the form that it wants.
fn values(line: &str) -> Vec<Value> {
    let texts = choices(line).into_iter().map(|choice| example::scalar(&choice));
    let texts = texts.chain(places(line).into_iter().map(Value::from));
    let formed = forms(line).into_iter().map(Value::from);
    types(line)
        .into_iter()
        .chain(flags(line))
        .chain(limits(line))
        .chain(texts)
        .chain(formed)
        .chain(shown(line))
        .chain(example::of_kinds(line))
        .collect()
}

/// "must be one of: a, b" in its many dressings.
pub(super) fn choices(line: &str) -> Vec<String> {
    static LEAD: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"(?i)\b(?:one of|either|expected(?: one of)?|allowed(?: \w+)?|valid (?:\w+ )?(?:values|options|choices|names|types|\w+s)|available(?: \w+)?|options|choices|supported(?: \w+)?|known \w+|existing \w+|input should be|did you mean)";
        Regex::new(&format!(r"{words}(?:\s+(?:are|is|include))?\s*:?\s*([^\n;]+)")).expect("a fixed pattern")
    });
    let lists = LEAD.captures_iter(line).flat_map(|found| example::list(&found[1]));
    let is_type = |part: &String| part.split(' ').any(|word| TYPES.contains(&word.to_lowercase().as_str()));
    lists.filter(|part| !is_type(part)).take(MAX_CHOICES).collect()
}

/// "for example 2024-01-31", "e.g. owner/repo", "expected format: X-123".
fn shown(line: &str) -> Vec<Value> {
    static LED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)(?:\be\.g\.|\bfor example|\bexample:|\bsuch as|\bformat:|\bformat (?:is |of )?[`'"]|\blike)[:,]?\s*[`'"(]*([\w#][\w#./:+@-]{0,79})"#)
            .expect("a fixed pattern")
    });
    let first = |found: regex::Captures<'_>| example::scalar(found[1].trim_end_matches(['.', ':']));
    LED.captures_iter(line).take(MAX_CHOICES).map(first).chain(shown_after(line)).collect()
}

/// "such as 'B2' or 'A1:C10'": every value in quotes behind such words.
fn shown_after(line: &str) -> Vec<Value> {
    static LEAD: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?i)(?:\be\.g\.|\bfor example|\bsuch as|\blike)[:,]?\s*([`'"][^\n;]{1,200})"#)
            .expect("a fixed pattern")
    });
    let lists = LEAD.captures_iter(line).flat_map(|found| example::list(&found[1]));
    lists.take(MAX_CHOICES).map(|text| example::scalar(&text)).collect()
}

fn is_address(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.starts_with("http://") || text.starts_with("https://"))
}

/// "must be on docs.example.org": addresses on the hosts that a refusal of an address names.
fn allowed_addresses(line: &str, sent: &Value) -> Vec<Value> {
    static HOST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b((?:[a-z0-9][a-z0-9-]*\.)+[a-z]{2,12})\b(/[\w./-]{0,100})?")
            .expect("a fixed pattern")
    });
    /// "Path must contain '/shelves/{shelf_id}'".
    static PATH: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"[`'"](/[\w./:{}<>\[\]-]{2,100})[`'"]"#).expect("a fixed pattern"));
    static BLANK: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\{[^{}/]*\}|<[^<>/]*>|\[[^\[\]/]*\]|:\w+").expect("a fixed pattern"));
    /// Endings of files, which look like those of hosts.
    const FILES: [&str; 14] =
        ["css", "csv", "htm", "html", "js", "json", "md", "pdf", "php", "png", "py", "ts", "txt", "xml"];
    let own = sent.as_str().unwrap_or_default();
    let mut found = Vec::new();
    let host = own.splitn(4, '/').take(3).collect::<Vec<_>>().join("/");
    for path in PATH.captures_iter(line).take(MAX_CHOICES).filter(|path| !own.contains(&path[1])) {
        found.push(json!(format!("{host}{}", BLANK.replace_all(&path[1], "1"))));
    }
    for named in HOST.captures_iter(line).take(MAX_CHOICES) {
        let host = named[1].to_lowercase();
        let ending = host.rsplit('.').next().unwrap_or_default();
        if FILES.contains(&ending) || own.contains(&host) {
            continue;
        }
        let path = named.get(2).map_or("/", |path| path.as_str());
        found.push(json!(format!("https://{host}{path}")));
        found.push(json!(format!("https://{host}{}/index.html", path.trim_end_matches('/'))));
    }
    found
}

/// "needs 2 or 3 colors": a list of so many, for the argument of that name.
fn as_many(line: &str, fields: &[String], sent: &Map<String, Value>) -> Vec<Lesson> {
    static COUNTED: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:needs?|requires?|expect(?:s|ed)|must (?:have|contain)|at least|exactly|minimum of)\s+(?:at least |exactly )?(\d|two|three|four)(?:\s+(?:or|to|and)\s+\w+)?\s+(?:\w+\s+)?(\w+)")
            .expect("a fixed pattern")
    });
    let lesson = |found: regex::Captures<'_>| {
        let count = match found[1].to_lowercase().as_str() {
            "two" => 2,
            "three" => 3,
            "four" => 4,
            digit => digit.parse().ok().filter(|count| *count > 0)?,
        };
        let noun = found[2].to_lowercase();
        let field = fields.iter().find(|field| words(field).last() == Some(&noun))?;
        let element = match sent.get(field) {
            Some(Value::Array(items)) => items.first().cloned(),
            Some(_) => return None,
            None => None,
        };
        let usual = FieldKind::of(noun.trim_end_matches('s'), "").map(samples::strings).unwrap_or_default();
        let usual = usual.iter().map(|text| Value::from(*text));
        let element = element.or_else(|| usual.clone().next()).unwrap_or_else(|| json!("example"));
        let items = usual.filter(|other| element.is_string() && *other != element);
        let items = [element.clone()].into_iter().chain(items).chain(std::iter::repeat(element.clone()));
        Some(Lesson { field: field.clone(), value: items.take(count).collect() })
    };
    COUNTED.captures_iter(line).take(MAX_CHOICES).filter_map(lesson).collect()
}

/// Paths in quotes: who refuses a path often says which one it would take.
fn places(line: &str) -> Vec<String> {
    static PLACE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"[`'"](/[^`'"\s]{1,200})[`'"]"#).expect("a fixed pattern"));
    PLACE.captures_iter(line).take(MAX_CHOICES).map(|place| place[1].to_owned()).collect()
}

/// "Expected boolean": schemas often allow more types than the tool behind them takes.
fn types(line: &str) -> Vec<Value> {
    wanted_type(line).map(|wanted| of_type(&wanted)).unwrap_or_default()
}

pub(super) fn wanted_type(line: &str) -> Option<String> {
    static WANTED: LazyLock<Regex> = LazyLock::new(|| {
        let lead =
            r"(?i)\b(?:expected|must be|should be|input should be|is not) (?:an? )?(?:valid )?(?:of type )?";
        Regex::new(&format!("{lead}['\"]?(boolean|bool|integer|number|array|list|object|dictionary|dict)\\b"))
            .expect("a fixed pattern")
    });
    WANTED.captures(line).map(|found| found[1].to_lowercase())
}

/// "must be set to true".
fn flags(line: &str) -> Option<Value> {
    static FLAG: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:must be|should be|set|needs to be)(?: set)?(?: to)?[ =][`']?(true|false)\b")
            .expect("a fixed pattern")
    });
    FLAG.captures(line).map(|found| json!(found[1].eq_ignore_ascii_case("true")))
}

pub(super) fn of_type(wanted: &str) -> Vec<Value> {
    match wanted {
        "boolean" | "bool" => vec![json!(true), json!(false)],
        "integer" | "number" | "int" | "float" => vec![json!(1)],
        "array" | "list" => vec![json!(["example"])],
        "object" | "dictionary" | "dict" | "record" => vec![json!({ "name": "example" })],
        _ => Vec::new(),
    }
}

/// Numbers that a line sets as limits: "between 1 and 10", "at least 3", ">= 2", "greater than 0".
fn limits(line: &str) -> Vec<Value> {
    static LIMIT: LazyLock<Regex> = LazyLock::new(|| {
        let number = r"(-?\d+(?:\.\d+)?)";
        let above = r"greater than or equal to|at least|no less than|minimum(?: of| is)?|>=|at most|no more than|less than or equal to|maximum(?: of| is)?|<=|up to";
        Regex::new(&format!(r"(?i)(?:between\s+{number}\s+and\s+{number}|(?:{above})\s*:?\s*{number}|(?P<open>greater than|more than|above|>|positive)\s*{number}?)"))
            .expect("a fixed pattern")
    });
    let mut found = Vec::new();
    for limit in LIMIT.captures_iter(line).take(MAX_CHOICES) {
        let open = limit.name("open").is_some();
        let numbers = (1..limit.len())
            .filter_map(|group| limit.get(group))
            .filter_map(|text| text.as_str().parse::<f64>().ok());
        for number in numbers.chain(open.then_some(0.0)) {
            let number = if open { number + 1.0 } else { number };
            found.push(if number.fract() == 0.0 { json!(number as i64) } else { json!(number) });
        }
    }
    found
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
    fn what_an_object_of_any_members_must_have_is_put_into_it() {
        let faults = r#"Error: [ { "code": "invalid_type", "expected": "string", "path": ["label", "oddity"] },
            { "code": "invalid_type", "expected": "number", "path": ["label", "size", "width"] } ]"#;
        let found = learned(faults, json!({ "label": { "name": "x" }, "shelf": "a" }));
        let whole = json!({ "name": "x", "oddity": "example", "size": { "width": 1 } });
        assert!(found.contains(&lesson("label", whole)), "{found:?}");
        // What the schema names is learned under its own name.
        let known = read_refusal(
            faults,
            &["label".to_owned(), "oddity".to_owned(), "width".to_owned()],
            json!({ "label": { "oddity": 1 } }).as_object().unwrap(),
        );
        assert!(!known.lessons.iter().any(|lesson| lesson.value.is_object()), "{known:?}");
    }

    #[test]
    fn members_that_lines_ask_for_are_put_into_the_argument() {
        let told =
            "Refused:\n • parcel.lids: parcel.lids is required\n • parcel.size.unit must be one of: cm, inch";
        let found = learned(told, json!({ "parcel": {}, "shelf": "a" }));
        let whole = json!({ "lids": "example", "size": { "unit": "cm" } });
        assert!(found.contains(&lesson("parcel", whole)), "{found:?}");
        let told = "parcel.lids must be an array, got string";
        let found = learned(told, json!({ "parcel": { "lids": "example" } }));
        assert_eq!(found, [lesson("parcel", json!({ "lids": ["example"] }))]);
        // A file name, a host name and an argument that is no object have no members.
        for told in ["no such file: parcel.json", "parcel.example.org is not reachable", "parcel.lids is bad"]
        {
            assert!(learned(told, json!({ "parcel": "x", "shelf": {} })).is_empty(), "{told}");
        }
    }

    #[test]
    fn an_argument_is_known_however_its_words_are_joined() {
        let fields = ["shelf_number".to_owned(), "lampName".to_owned()];
        let told = read_refusal("Either shelfNumber or lamp_name must be provided", &fields, &Map::new());
        assert_eq!(told.wanted, fields.into());
    }

    #[test]
    fn a_flag_that_must_be_set_is_set() {
        let fields = ["paths".to_owned(), "all".to_owned()];
        let told = read_refusal("Either paths must be provided, or all must be true.", &fields, &Map::new());
        assert!(told.lessons.contains(&Lesson { field: "all".into(), value: json!(true) }), "{told:?}");
        assert!(told.wanted.contains("all"));
    }

    #[test]
    fn hosts_that_a_refusal_of_an_address_names_are_tried() {
        let text = "url: 'https://example.com/' must be on docs.beetles.example and end with .html";
        let found = learned(text, json!({ "url": "https://example.com/" }));
        let wanted = lesson("url", json!("https://docs.beetles.example/index.html"));
        assert!(found.contains(&wanted), "{found:?}");
        let text = "Invalid url. Path must contain '/shelves/{shelf_id}' or '/lamps/<lamp>'";
        let found = learned(text, json!({ "url": "https://example.com/a/b" }));
        for wanted in ["https://example.com/shelves/1", "https://example.com/lamps/1"] {
            assert!(found.contains(&lesson("url", json!(wanted))), "{found:?}");
        }
        let other = learned("name: no such page in docs.beetles.example", json!({ "name": "x" }));
        assert!(!other.contains(&lesson("name", json!("https://docs.beetles.example/"))), "{other:?}");
    }

    #[test]
    fn every_value_that_is_shown_counts_and_lists_get_as_many_as_they_need() {
        let text = "Invalid span 'everything'. Use notation such as 'B2' or 'A1:C10'.";
        let shown = learned(text, json!({ "span": "everything" }));
        for value in ["B2", "A1:C10"] {
            assert!(shown.contains(&lesson("span", json!(value))), "{shown:?}");
        }
        let many = learned("the scale needs 2 or 3 colors", json!({ "colors": ["teal"] }));
        assert!(many.contains(&lesson("colors", json!(["teal", "#ff0000"]))), "{many:?}");
        assert!(learned("needs 2 spoons", json!({ "colors": ["teal"] })).is_empty());
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
        assert!(has("Invalid isoformat string: 'x'", "2024-05-01T12:00:00Z"));
        assert!(has("not a valid ISO 4217 currency code", "USD"));
        assert!(has("seat must match pattern ^R[0-9]-[A-Z]$", "R0-A"));
        assert!(has("Invalid timezone: No time zone found", "Europe/Berlin"));
        assert!(learned("nothing to learn here", json!({})).is_empty());
    }

    #[test]
    fn validators_lists_of_faults_are_read() {
        let faults = json!([{ "code": "invalid_enum_value", "options": ["near", "far"], "path": ["scope"] },
            { "code": "invalid_type", "expected": "array", "path": ["items"], "message": "Required" }]);
        let fields = ["scope".to_owned(), "items".to_owned()];
        let sent = json!({ "scope": "x" });
        let refusal =
            read_refusal(&format!("Invalid arguments: {faults}"), &fields, sent.as_object().unwrap());
        assert_eq!(refusal.blamed, BTreeSet::from(["scope".to_owned()]));
        assert_eq!(refusal.wanted, BTreeSet::from(["items".to_owned()]));
        assert!(refusal.lessons.contains(&Lesson { field: "scope".into(), value: json!("far") }));
    }

    #[test]
    fn limits_and_lengths_are_learned_as_values() {
        let has =
            |text: &str, value: Value| learned(text, json!({ "size": 0 })).contains(&lesson("size", value));
        assert!(has("size must be between 40 and 45", json!(40)));
        assert!(has("size must be greater than 7", json!(8)));
        assert!(has("size: String must contain at least 3 character(s)", json!("A t")));
    }

    #[test]
    fn what_is_missing_is_wanted() {
        let fields = ["street".to_owned(), "harbour".to_owned()];
        let refusal = read_refusal("Either `street` or `harbour` must be provided", &fields, &Map::new());
        assert_eq!(refusal.wanted.len(), 2);
        assert!(refusal.blamed.is_empty());
    }

    #[test]
    fn a_word_is_named_only_as_a_whole() {
        assert!(names("no such path: x", "path"));
        assert!(!names("no such file_path", "path"));
        assert!(!names("anything", ""));
    }
}
