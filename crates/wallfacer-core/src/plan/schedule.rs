//! Calls of several clients, round by round: those of one round are in flight together.
//!
//! Each call carries values of its own, so that an answer shows whose it is, and a store shows what is missing from it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::payload;

/// How a value of our own begins, and how long it is.
const BEGINNING: &str = "wq";
const MARK: usize = 12;

/// What clients do, and what is asked of the answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub question: Question,
    pub rounds: Vec<Vec<Ask>>,
    /// A race does not show each time: it is tried up to so many times on one server, with other values each time.
    #[serde(default = "once")]
    pub times: u32,
}

/// What the answers are judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Question {
    /// Nothing: it is only seen what comes.
    Nothing,
    /// Is a call answered in company as it is alone?
    Answers,
    /// Does what was written show in what is read?
    Store,
    /// The same, where each client is a process of its own and what is stored lies in files that all of them use.
    Files,
    /// Is each call counted?
    Counter,
    /// Does what one client wrote stay with it?
    Isolation,
}

/// One request of one client.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    /// From 0.
    pub client: usize,
    pub part: Part,
    pub method: String,
    #[serde(with = "payload::compacted")]
    pub params: Map<String, Value>,
    /// The values of its own that stand in the parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// It stores its marks, or counts.
    Write,
    /// It shows what is stored.
    Read,
    /// Its answer is compared with those of the same call alone.
    Call,
}

fn once() -> u32 {
    1
}

impl Schedule {
    pub fn asks(&self) -> impl Iterator<Item = &Ask> {
        self.rounds.iter().flatten()
    }

    /// How many clients it takes.
    pub fn clients(&self) -> usize {
        self.asks().map(|ask| ask.client + 1).max().unwrap_or(0)
    }

    /// The same with other values: what was written in an earlier turn must not be taken for what is written now.
    pub fn turn(&self, turn: u32) -> Schedule {
        let mut other = self.clone();
        if turn > 0 {
            other.rounds.iter_mut().flatten().for_each(|ask| ask.renew(turn));
        }
        other
    }
}

impl Ask {
    /// A call of a tool.
    pub fn tool(client: usize, part: Part, name: &str, arguments: Value, marks: Vec<String>) -> Ask {
        let params =
            Map::from_iter([("name".to_owned(), Value::from(name)), ("arguments".to_owned(), arguments)]);
        Ask { client, part, method: "tools/call".to_owned(), params, marks }
    }

    pub fn tool_name(&self) -> Option<&str> {
        self.params.get("name").filter(|_| self.method == "tools/call")?.as_str()
    }

    /// What it asks for, with a sign in the place of each value of its own: two calls that differ in nothing else are the
    /// same call.
    pub fn form(&self) -> String {
        let sent = Value::Object(self.params.clone()).to_string();
        let formed = self.marks.iter().enumerate();
        formed.fold(sent, |sent, (number, mark)| sent.replace(mark, &format!("<{number}>")))
    }

    fn renew(&mut self, turn: u32) {
        let new: Vec<String> = self.marks.iter().map(|mark| renewed(mark, turn)).collect();
        for (old, new) in self.marks.iter().zip(&new) {
            self.params.values_mut().for_each(|value| replace(value, old, new));
        }
        self.marks = new;
    }
}

/// A value of our own: letters alone, so that it fits wherever a name does and is no number.
pub fn mark(seed: u64, number: u64) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"mark").update(&seed.to_le_bytes()).update(&number.to_le_bytes());
    letters(hasher)
}

/// The marks among the texts of some parameters, in their order. What stands behind a mark in the same text does not count.
pub fn marks_in(params: &Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<&Value> = params.values().rev().collect();
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) => {
                let first = text.split(' ').next().unwrap_or_default();
                let letters = first.bytes().all(|letter| letter.is_ascii_lowercase());
                if first.len() == MARK && first.starts_with(BEGINNING) && letters {
                    found.push(first.to_owned());
                }
            }
            Value::Array(items) => open.extend(items.iter().rev()),
            Value::Object(members) => open.extend(members.values().rev()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

fn renewed(mark: &str, turn: u32) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"turn").update(mark.as_bytes()).update(&turn.to_le_bytes());
    letters(hasher)
}

/// Beginning as nothing else does, and long enough that no two are alike.
fn letters(hasher: blake3::Hasher) -> String {
    let digest = hasher.finalize();
    let letters = digest.as_bytes().iter().take(MARK - BEGINNING.len());
    BEGINNING.chars().chain(letters.map(|byte| char::from(b'a' + byte % 26))).collect()
}

/// Puts one text in the place of another, wherever it stands in a value.
pub fn replace(value: &mut Value, old: &str, new: &str) {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::String(text) if text.contains(old) => *text = text.replace(old, new),
            Value::Array(items) => open.extend(items),
            Value::Object(members) => open.extend(members.values_mut()),
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schedule() -> Schedule {
        let mark = mark(7, 1);
        let ask =
            Ask::tool(1, Part::Write, "add", json!({ "text": mark, "tags": [mark] }), vec![mark.clone()]);
        Schedule { question: Question::Store, rounds: vec![vec![ask]], times: 3 }
    }

    #[test]
    fn another_turn_has_other_values_and_is_the_same_call() {
        let (first, second) = (schedule().turn(0), schedule().turn(1));
        assert_eq!(first, schedule());
        let (one, other) = (&first.rounds[0][0], &second.rounds[0][0]);
        assert_ne!(one.marks, other.marks);
        assert_eq!(one.form(), other.form());
        assert_eq!(other.params["arguments"]["tags"][0], json!(other.marks[0]));
    }

    #[test]
    fn values_of_our_own_are_names_by_themselves() {
        let mark = mark(0, 0);
        assert!(mark.len() == 12 && mark.chars().all(|letter| letter.is_ascii_lowercase()), "{mark}");
        let params = json!({ "a": [mark, 1], "b": format!("{mark} and more"), "c": "wqueue" });
        assert_eq!(marks_in(params.as_object().unwrap()), [mark.clone(), mark]);
    }
}
