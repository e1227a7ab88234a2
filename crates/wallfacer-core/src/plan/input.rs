//! Keeps the arguments whose answer was of a new kind, so that later cases can be made from them.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::payload;

/// Inputs of one tool that are kept; the first ones stay, for each was news when it came.
const MAX_INPUTS: usize = 256;
/// Larger inputs are not kept: what is new about them is mostly their size.
const MAX_BYTES: usize = 16 << 10;
/// Kinds of answers of one tool that are told apart; a tool that answers differently each time would fill memory.
const MAX_KINDS: usize = 4_096;

/// What a tool was once called with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    pub tool: String,
    #[serde(with = "payload::compacted")]
    pub arguments: Map<String, Value>,
}

/// The inputs of one tool that are worth changing, oldest first.
#[derive(Debug, Clone, Default)]
pub struct Inputs {
    kept: Vec<Map<String, Value>>,
    /// Those before this place were known when the run began.
    known: usize,
    /// The kinds of answers that came so far.
    kinds: BTreeSet<u64>,
}

impl Inputs {
    /// Adds what an earlier run kept.
    pub fn add_known(&mut self, arguments: Map<String, Value>) {
        if self.takes(&arguments) {
            self.kept.push(arguments);
            self.known = self.kept.len();
        }
    }

    /// Keeps the arguments where an answer of this kind is new.
    pub fn hear(&mut self, arguments: &Map<String, Value>, kind: u64) {
        let news = self.kinds.len() < MAX_KINDS && self.kinds.insert(kind);
        if news && self.takes(arguments) {
            self.kept.push(arguments.clone());
        }
    }

    /// Those that were known when the run began.
    pub fn known(&self) -> &[Map<String, Value>] {
        &self.kept[..self.known]
    }

    /// Those that came with the run.
    pub fn news(&self) -> &[Map<String, Value>] {
        &self.kept[self.known..]
    }

    pub fn all(&self) -> &[Map<String, Value>] {
        &self.kept
    }

    fn takes(&self, arguments: &Map<String, Value>) -> bool {
        let is_small = || serde_json::to_vec(arguments).is_ok_and(|text| text.len() <= MAX_BYTES);
        self.kept.len() < MAX_INPUTS && is_small() && !self.kept.contains(arguments)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn arguments(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn an_input_is_kept_for_the_first_answer_of_its_kind() {
        let mut inputs = Inputs::default();
        inputs.hear(&arguments(json!({ "q": 1 })), 7);
        inputs.hear(&arguments(json!({ "q": 2 })), 7);
        inputs.hear(&arguments(json!({ "q": 3 })), 8);
        assert_eq!(inputs.news(), [arguments(json!({ "q": 1 })), arguments(json!({ "q": 3 }))]);
    }

    #[test]
    fn what_was_known_is_no_news() {
        let mut inputs = Inputs::default();
        inputs.add_known(arguments(json!({ "q": 1 })));
        inputs.hear(&arguments(json!({ "q": 1 })), 7);
        assert!(inputs.news().is_empty());
        assert_eq!(inputs.known().len(), 1);
    }

    #[test]
    fn what_is_kept_has_bounds() {
        let mut inputs = Inputs::default();
        inputs.hear(&arguments(json!({ "q": "x".repeat(MAX_BYTES) })), 0);
        assert!(inputs.all().is_empty());
        (1..1_000).for_each(|kind| inputs.hear(&arguments(json!({ "q": kind })), kind));
        assert_eq!(inputs.all().len(), MAX_INPUTS);
    }
}
