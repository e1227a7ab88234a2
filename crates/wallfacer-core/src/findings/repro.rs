//! What is stored of a [`Case`] to run it again. Payloads are kept in their short form, so that a thousand huge ones
//! fit into memory and a corpus from elsewhere cannot fill it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::plan::Case;

/// A file holds the case within a few objects of its own, and is read to a depth of 128.
const MAX_DEPTH: usize = 100;

/// How a finding is shown to be true once more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Repro {
    Replayable {
        /// What is replayed. Long repetitions stand as recipes, secrets as `<redacted:NAME>`.
        #[cfg_attr(test, schemars(with = "serde_json::Map<String, Value>"))]
        case: Value,
        /// The size of the payload before it was made smaller.
        original_bytes: u64,
    },
    NotReplayable {
        reason: String,
    },
}

/// Why a finding cannot be run again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotReplayable(pub String);

impl Repro {
    /// What is kept of a case that was made as small as it is; `original` is what it was made from.
    pub fn new(case: &Case, original: &Case) -> Repro {
        let short = serde_json::to_value(case).expect("a case has only text for keys");
        if depth(&short) > MAX_DEPTH {
            let reason = "its payload is nested deeper than a file can hold".to_owned();
            return Repro::NotReplayable { reason };
        }
        Repro::Replayable { case: short, original_bytes: bytes(original) }
    }

    /// The case, in full.
    pub fn case(&self) -> Result<Case, NotReplayable> {
        match self {
            Repro::Replayable { case, .. } => {
                Case::deserialize(case).map_err(|error| NotReplayable(error.to_string()))
            }
            Repro::NotReplayable { reason } => Err(NotReplayable(reason.clone())),
        }
    }

    /// The same for a case that was made smaller; what it was first made from stays.
    pub fn with_case(&self, case: &Case) -> Repro {
        match (Repro::new(case, case), self) {
            (Repro::Replayable { case, .. }, Repro::Replayable { original_bytes, .. }) => {
                Repro::Replayable { case, original_bytes: *original_bytes }
            }
            (made, _) => made,
        }
    }

    /// The bytes that the case sends, about; none where it cannot be sent.
    pub fn sent_bytes(&self) -> u64 {
        self.case().map_or(0, |case| bytes(&case))
    }

    /// The tool that the case is about, if it is about one.
    pub fn tool(&self) -> Option<&str> {
        match self {
            Repro::Replayable { case, .. } => case.get("subject")?.get("tool")?.as_str(),
            Repro::NotReplayable { .. } => None,
        }
    }

    /// The bytes of what is stored; none where nothing is.
    pub fn stored_bytes(&self) -> Option<u64> {
        match self {
            Repro::Replayable { case, .. } => Some(case.to_string().len() as u64),
            Repro::NotReplayable { .. } => None,
        }
    }
}

/// The bytes that a case sends, about: parameters as JSON, raw frames as they are.
fn bytes(case: &Case) -> u64 {
    use crate::plan::Step;
    let step = |step: &Step| match (step, step.request()) {
        (_, Some((_, params))) => serde_json::to_vec(params).map_or(0, |text| text.len()),
        (Step::Rounds(schedule), None) => {
            schedule.asks().map(|ask| serde_json::to_vec(&ask.params).map_or(0, |text| text.len())).sum()
        }
        (Step::Raw(frame), None) => frame.bytes.len(),
        _ => 0,
    };
    case.steps.iter().map(|each| step(each) as u64).sum()
}

/// How deep a value is nested, walked without recursion.
fn depth(value: &Value) -> usize {
    let mut open = vec![(value, 1)];
    let mut deepest = 0;
    while let Some((value, depth)) = open.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => open.extend(members.values().map(|member| (member, depth + 1))),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Intent;
    use serde_json::json;

    fn case(arguments: Value) -> Case {
        Case::tool("search", arguments, Intent::Valid, 7)
    }

    #[test]
    fn a_huge_payload_is_kept_in_few_bytes_and_comes_back_whole() {
        let huge = case(json!({ "q": "x".repeat(10 << 20) }));
        let repro = Repro::new(&huge, &huge);
        assert!(repro.stored_bytes().unwrap() < 300);
        assert_eq!(repro.case().unwrap(), huge);
        assert!(matches!(repro, Repro::Replayable { original_bytes, .. } if original_bytes > 10 << 20));
    }

    #[test]
    fn deep_nesting_comes_back_and_what_no_file_can_hold_says_so() {
        let lists = (0..1_000).fold(json!(1), |inner, _| json!([inner]));
        let deep = case(json!({ "tree": lists }));
        assert_eq!(Repro::new(&deep, &deep).case().unwrap(), deep);
        let uneven = (0..1_000).fold(json!(1), |inner, _| json!([inner, 2]));
        let reason = Repro::new(&case(uneven.clone()), &case(uneven)).case().unwrap_err();
        assert_eq!(reason.to_string(), "its payload is nested deeper than a file can hold");
    }

    #[test]
    fn a_recipe_that_would_fill_our_memory_is_not_followed() {
        let mut repro = Repro::new(&case(json!({})), &case(json!({})));
        let Repro::Replayable { case, .. } = &mut repro else { panic!("replayable") };
        case["steps"][0]["call"]["params"]["arguments"] = json!({ "$repeat": "x", "times": 1_u64 << 50 });
        assert!(repro.case().unwrap_err().to_string().contains("larger than 256 MiB"));
    }
}
