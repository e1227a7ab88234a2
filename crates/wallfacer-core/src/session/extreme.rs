//! How extreme a request is in; the same extreme in a request that asks for nothing out.

use std::fmt;

use serde_json::{Map, Value};

use crate::plan::{Case, Intent, Step, Subject};
use crate::target::Era;

/// What a reader may have too much of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extreme {
    /// Bytes of its parameters.
    Large(usize),
    /// Levels that its parameters are nested.
    Deep(usize),
}

impl Extreme {
    pub fn measure(self) -> usize {
        match self {
            Extreme::Large(measure) | Extreme::Deep(measure) => measure,
        }
    }

    pub fn halved(self) -> Extreme {
        match self {
            Extreme::Large(bytes) => Extreme::Large(bytes / 2),
            Extreme::Deep(levels) => Extreme::Deep(levels / 2),
        }
    }

    /// A request that asks for nothing, and is as extreme.
    pub fn request(self, era: Era, seed: u64) -> Case {
        let method = match era {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        let (name, padding) = match self {
            Extreme::Large(bytes) => ("large request", Value::from("x".repeat(bytes))),
            Extreme::Deep(levels) => {
                ("deep request", (0..levels).fold(Value::Null, |inner, _| Value::Array(vec![inner])))
            }
        };
        let params = Map::from_iter([("padding".to_owned(), padding)]);
        let steps = vec![Step::Call { method: method.to_owned(), params }];
        let intent = Intent::Frame(name.to_owned());
        Case { subject: Subject::Server, intent, steps, seed, claim: None, measure: None }
    }
}

impl fmt::Display for Extreme {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Extreme::Large(bytes) => write!(out, "{bytes} bytes"),
            Extreme::Deep(levels) => write!(out, "{levels} nested levels"),
        }
    }
}

/// Levels that the parameters are nested, without recursion.
pub fn depth(params: &Map<String, Value>) -> usize {
    let mut deepest = 0;
    let mut open: Vec<(usize, &Value)> = params.values().map(|value| (1, value)).collect();
    while let Some((level, value)) = open.pop() {
        deepest = deepest.max(level);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (level + 1, item))),
            Value::Object(members) => open.extend(members.values().map(|member| (level + 1, member))),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_request_is_as_deep_as_it_was_measured() {
        let case = Extreme::Deep(200).request(Era::Legacy, 0);
        let (_, params) = case.single_call().unwrap();
        assert_eq!(depth(params), 201);
    }

    #[test]
    fn depth_counts_the_longest_way_down() {
        let params = json!({ "a": 1, "b": { "c": [[2]] } });
        assert_eq!(depth(params.as_object().unwrap()), 4);
    }
}
