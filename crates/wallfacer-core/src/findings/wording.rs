//! A message of a server in, what of it is its own wording out: what we sent, and what differs from call to call, is
//! replaced by a mark.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use crate::plan::{Case, Step};

/// What of a message is looked at; the wording stands at the beginning.
const MAX_BYTES: usize = 16 << 10;
/// What of the wording is kept.
const MAX_WORDING_CHARS: usize = 300;
/// How many values of a case are looked for: a payload of a million items is not repeated item by item.
const MAX_VALUES: usize = 500;
/// A longer value is found by its beginning, for servers cut what they repeat.
const MAX_VALUE_BYTES: usize = 2_000;
/// Braces within braces, printed by a server; deeper ones are left as they are.
const MAX_BRACES: usize = 16;
/// A word of small letters this short may well be one of the server's own.
const OWN_WORD: usize = 8;

/// What was put into the server, and may come back in its words.
#[derive(Debug, Clone, Default)]
pub struct Given {
    values: BTreeSet<String>,
}

impl Given {
    /// All texts and numbers that a case sends.
    pub fn of(case: &Case) -> Given {
        let mut given = Given::default();
        for step in &case.steps {
            match step {
                Step::Call { params, .. } => params.values().for_each(|value| given.add(value)),
                Step::Raw(frame) => given.add_text(&String::from_utf8_lossy(&frame.bytes)),
                Step::Probe | Step::CloseInput | Step::Signal(_) | Step::Restart => {}
            }
        }
        given
    }

    /// And these, such as known secrets.
    pub fn and<'a>(mut self, values: impl IntoIterator<Item = &'a String>) -> Given {
        values.into_iter().for_each(|value| self.add_text(value));
        self
    }

    fn add(&mut self, value: &Value) {
        let mut open = vec![value];
        while let Some(value) = open.pop()
            && self.values.len() < MAX_VALUES
        {
            match value {
                Value::String(text) => self.add_text(text),
                Value::Number(number) => self.add_text(&number.to_string()),
                Value::Array(items) => open.extend(items),
                Value::Object(members) => {
                    members.keys().filter(|key| !is_plain(key)).for_each(|key| self.add_text(key));
                    open.extend(members.values());
                }
                Value::Null | Value::Bool(_) => {}
            }
        }
    }

    fn add_text(&mut self, text: &str) {
        let text = beginning(text.trim(), MAX_VALUE_BYTES);
        if text.chars().nth(1).is_some() {
            self.values.insert(text.to_owned());
            // As a JSON text or a debug print shows it.
            let escaped = Value::from(text).to_string();
            self.values.insert(escaped[1..escaped.len() - 1].to_owned());
        }
    }
}

/// The wording of a message, on one line.
pub fn normalised(message: &str, given: &Given) -> String {
    let mut text = beginning(message, MAX_BYTES).to_owned();
    let mut values: Vec<&String> = given.values.iter().collect();
    // The longest first, so that no rest of one is left where another begins alike.
    values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    for value in values {
        text = without(&text, value);
    }
    for (pattern, mark) in MARKS.iter() {
        text = replaced(pattern, &text, mark);
    }
    for _ in 0..MAX_BRACES {
        let before = text.len();
        text = replaced(&BRACES, &text, "<data>");
        if text.len() == before {
            break;
        }
    }
    one_line(&text)
}

/// What differs from call to call, in the order in which it is looked for.
static MARKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let marks = [
        (r"[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s'\x22`<>()]+", "<url>"),
        (r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b", "<uuid>"),
        (r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?: ?Z|[+-]\d\d:?\d\d)?)?", "<time>"),
        (r#""(?:[^"\\\n]|\\.)*""#, "<value>"),
        (r"(?P<before>^|[^\w])'(?:[^'\\\n]|\\.)*'", "${before}<value>"),
        (r"`[^`\n]*`", "<value>"),
        (r"[“‘«][^”’»\n]*[”’»]", "<value>"),
        (r"\b0x[0-9a-fA-F]+\b", "<n>"),
        (
            r"(?P<before>^|[\s=:(\[,])(?:[A-Za-z]:)?(?:\.{0,2}[\\/])(?:[^\s\\/:'\x22<>()\[\],]+[\\/]?)+",
            "${before}<path>",
        ),
        (r"\b[0-9a-fA-F]{8,}\b", "<n>"),
        (r"(?P<before>^|[^\w.])[+-]?\d[\d_]*(?:[.,]\d+)*(?:[eE][+-]?\d+)?", "${before}<n>"),
        (r"(?P<before>^|[^\w])(?:NaN|[+-]?Infinity|[+-]?inf)\b", "${before}<n>"),
        (r"(?:<(?:value|n|input|path)>(?:, ?)?){2,}", "<value>"),
    ];
    marks.into_iter().map(|(text, mark)| (pattern(text), mark)).collect()
});

/// The innermost data that a server prints of an object or a list of values.
static BRACES: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\{[^{}]*\}|\[(?:\s*(?:<\w+>|null|None|true|false|True|False)\s*,?)*\]"));

/// Replaces a value where it stands by itself.
fn without(text: &str, value: &str) -> String {
    let mut rest = String::with_capacity(text.len());
    let mut after = text;
    while let Some(at) = after.find(value) {
        let (before, found) = after.split_at(at);
        let behind = &found[value.len()..];
        let previous = before.chars().next_back().or_else(|| rest.chars().next_back());
        rest.push_str(before);
        rest.push_str(if stands_alone(value, previous, behind) { "<input>" } else { value });
        after = behind;
    }
    rest.push_str(after);
    rest
}

fn stands_alone(value: &str, previous: Option<char>, behind: &str) -> bool {
    let within_word = |side: Option<char>, edge: Option<char>| {
        side.is_some_and(char::is_alphanumeric) && edge.is_some_and(char::is_alphanumeric)
    };
    if within_word(previous, value.chars().next())
        || within_word(behind.chars().next(), value.chars().next_back())
    {
        return false;
    }
    // A short plain word counts only where a message puts a value: in quotes, or at its end.
    let at_the_end = behind.trim_end_matches(['.', '!', ')', ']', '\n', ' ']).is_empty();
    !is_plain(value) || at_the_end || previous.is_some_and(|letter| "'\"`=“‘".contains(letter))
}

/// Whether a text could be one of the server's own words.
fn is_plain(text: &str) -> bool {
    text.len() < OWN_WORD && text.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
}

/// Each line once, one behind the other: a server that lists its complaints lists as many as the input has faults.
fn one_line(text: &str) -> String {
    let mut seen = BTreeSet::new();
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let lines = lines.filter(|line| !line.is_empty() && seen.insert(line.clone()));
    lines.collect::<Vec<_>>().join(" ").chars().take(MAX_WORDING_CHARS).collect()
}

fn replaced(pattern: &Regex, text: &str, mark: &str) -> String {
    match pattern.replace_all(text, mark) {
        Cow::Borrowed(same) => same.to_owned(),
        Cow::Owned(changed) => changed,
    }
}

/// At most so many bytes, cut between characters.
fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// A pattern of our own, which is known to be one.
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("patterns in the source are valid")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Intent;
    use serde_json::json;

    fn plain(message: &str) -> String {
        normalised(message, &Given::default())
    }

    fn after(arguments: Value, message: &str) -> String {
        normalised(message, &Given::of(&Case::tool("now", arguments, Intent::Valid, 1)))
    }

    #[test]
    fn what_differs_from_call_to_call_is_marked() {
        for (message, wording) in [
            ("division by zero", "division by zero"),
            ("index 17 out of range [0, 3)", "index <n> out of range [<value>)"),
            ("took 1.5e3ms of 30s", "took <n>ms of <n>s"),
            ("KeyError: 'name'", "KeyError: <value>"),
            ("can't read \"a \\\" b\", don't ask", "can't read <value>, don't ask"),
            ("no such file: /home/ada/x.txt", "no such file: <path>"),
            (r"no such file: C:\Users\ada\x.txt", "no such file: <path>"),
            ("ENOENT: open '../a/b'", "ENOENT: open <value>"),
            ("cannot fetch https://host/a?b=c.", "cannot fetch <url>"),
            ("request 123e4567-e89b-42d3-a456-426614174000 failed", "request <uuid> failed"),
            ("object at 0x7f3a12 died", "object at <n> died"),
            ("at 2026-01-02T03:04:05.678Z: late", "at <time>: late"),
            ("utf8 and md5 stay, as does i32", "utf8 and md5 stay, as does i32"),
            ("bad input {'a': {'b': [1, 2]}}", "bad input <data>"),
            ("line one\n  line two\n\nline one\n", "line one line two"),
        ] {
            assert_eq!(plain(message), wording);
        }
    }

    #[test]
    fn what_we_sent_is_marked_however_it_comes_back() {
        for value in
            ["Europe/Nowhere", "a b c d", "'; DROP TABLE x; --", "x\u{0}y", "naïve", "2026-13-45", "{{7*7}}"]
        {
            let arguments = json!({ "zone": value });
            assert_eq!(after(arguments.clone(), &format!("unknown zone: {value}")), "unknown zone: <input>");
            let quoted = format!("unknown zone {}", Value::from(value));
            assert!(
                ["unknown zone <value>", "unknown zone \"<input>\""].contains(&&*after(arguments, &quoted))
            );
        }
        assert_eq!(
            after(json!({ "deep": [{ "key": "alpha" }] }), "no such thing: alpha."),
            "no such thing: <input>."
        );
    }

    #[test]
    fn a_word_of_the_server_stays_when_we_happened_to_send_it() {
        assert_eq!(after(json!({ "q": "not" }), "it must not be empty"), "it must not be empty");
        assert_eq!(after(json!({ "q": "e" }), "it must be there"), "it must be there");
        assert_eq!(after(json!({ "q": "Value" }), "ValueError: empty"), "ValueError: empty");
    }

    #[test]
    fn many_complaints_read_like_one() {
        let complaint =
            |field: &str| format!("{field}\n  Field required [type=missing, input_value={{'a': 1}}]\n");
        let one = format!("1 validation error for Search\n{}", complaint("q"));
        let two = format!("2 validation error for Search\n{}{}", complaint("q"), complaint("q"));
        assert_eq!(plain(&one), plain(&two));
    }

    #[test]
    fn a_huge_message_costs_little() {
        let message = "{".repeat(1 << 20) + &"'x' ".repeat(1 << 20);
        let arguments = json!(vec!["abcdefghij"; 10_000]);
        assert!(after(arguments, &message).chars().count() <= MAX_WORDING_CHARS);
    }
}
