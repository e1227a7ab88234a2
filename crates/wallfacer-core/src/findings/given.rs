//! Takes out of a server's message what it merely repeats of the [`Case`] that was sent, so that the same complaint
//! about two payloads reads the same.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::plan::{Case, Step};

/// What stands where something was taken away.
pub(super) const MARK: &str = "<*>";
/// How many values of a case are looked for: a payload of a million items is not repeated item by item.
const MAX_VALUES: usize = 500;
/// What of one value is looked for; no message that is looked at is longer.
const MAX_VALUE_BYTES: usize = 16 << 10;
/// A longer value is found by this much of its beginning, for servers cut what they repeat.
const BEGINNING: usize = 24;
/// A word of small letters this short may well be one of the server's own.
const OWN_WORD: usize = 8;

/// Words that programs say of themselves. A server that was sent one of them says it as often as before.
const OF_PROGRAMS: [&str; 8] = ["undefined", "null", "None", "NaN", "true", "True", "false", "False"];

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
            if let Step::Rounds(schedule) = step {
                schedule.asks().flat_map(|ask| ask.params.values()).for_each(|value| given.add(value));
            }
            if let Step::Raw(frame) = step {
                given.add_text(&String::from_utf8_lossy(&frame.bytes));
            }
            let sent = step.request().into_iter().flat_map(|(_, params)| params.values());
            sent.for_each(|value| given.add(value));
        }
        given
    }

    /// And these, such as known secrets.
    pub fn and<'a>(mut self, values: impl IntoIterator<Item = &'a String>) -> Given {
        values.into_iter().for_each(|value| self.add_text(value));
        self
    }

    /// The text with a mark where it repeats what was sent.
    pub(super) fn taken_from(&self, text: &str) -> String {
        let mut values: Vec<&String> = self.values.iter().collect();
        // The longest first, so that no rest of one is left where another begins alike.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.into_iter().fold(text.to_owned(), |text, value| without(&text, value))
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
        if !text.is_empty() {
            self.values.insert(text.to_owned());
            // As a JSON text or a debug print shows it.
            let escaped = Value::from(text).to_string();
            self.values.insert(escaped[1..escaped.len() - 1].to_owned());
        }
    }
}

/// At most so many bytes, cut between characters.
pub(super) fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or(0)]
}

/// Replaces a value where it stands by itself; of a long one, as much as there is.
fn without(text: &str, value: &str) -> String {
    let wanted = beginning(value, BEGINNING);
    let mut rest = String::with_capacity(text.len());
    let mut after = text;
    while let Some(at) = after.find(wanted) {
        let (before, found) = after.split_at(at);
        let (found, behind) = found.split_at(common(found, value));
        let previous = before.chars().next_back().or_else(|| rest.chars().next_back());
        rest.push_str(before);
        let is_repeated = value.len() > BEGINNING || stands_alone(value, previous, behind);
        rest.push_str(if is_repeated { MARK } else { found });
        after = behind;
    }
    rest.push_str(after);
    rest
}

/// How many bytes two texts have in common at their beginning.
fn common(one: &str, other: &str) -> usize {
    let alike = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    alike.map(|(letter, _)| letter.len_utf8()).sum()
}

fn stands_alone(value: &str, previous: Option<char>, behind: &str) -> bool {
    let within_word = |side: Option<char>, edge: Option<char>| {
        side.is_some_and(char::is_alphanumeric) && edge.is_some_and(char::is_alphanumeric)
    };
    let (first, last) = (value.chars().next(), value.chars().next_back());
    if within_word(previous, first) || within_word(behind.chars().next(), last) {
        return false;
    }
    let quoted = previous.is_some_and(|letter| "'\"`=“‘".contains(letter));
    if OF_PROGRAMS.contains(&value) {
        return quoted;
    }
    // A short plain word counts only where a message puts a value: in quotes, or at its end.
    let at_the_end = behind.trim_end_matches(['.', '…', '!', ')', ']', '\n', ' ']).is_empty();
    !is_plain(value) || at_the_end || quoted
}

/// Whether a text could be one of the server's own words, or a single sign of its own.
fn is_plain(text: &str) -> bool {
    let word = text.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_');
    text.len() < OWN_WORD && word || text.chars().nth(1).is_none()
}
