//! What the first calls of a server taught: which arguments each tool took, and what was returned. Every test that calls the
//! server later begins with it, so that none has to find out again.

use std::collections::BTreeMap;

use serde_json::Value;

use super::case::Step;
use super::knowledge::{Common, Knowledge};

/// Calls of one tool that are made again first.
const MOST_CALLS: usize = 2;

/// What is known of all tools of a server.
#[derive(Debug, Clone, Default)]
pub struct FirstCalls {
    pub(super) tools: BTreeMap<String, Taught>,
    pub(super) common: Common,
}

/// What is known of one tool.
#[derive(Debug, Clone)]
pub(super) struct Taught {
    pub knowledge: Knowledge,
    /// Calls that succeeded, each behind what must come first.
    pub calls: Vec<(Vec<Step>, Step)>,
}

impl Taught {
    pub fn new(knowledge: Knowledge, prelude: &[Step], good: impl Iterator<Item = Step>) -> Taught {
        let calls = good.take(MOST_CALLS).map(|step| (prelude.to_vec(), step)).collect();
        Taught { knowledge, calls }
    }
}

impl FirstCalls {
    /// The arguments that each tool took.
    pub fn worked(&self) -> impl Iterator<Item = (String, Value)> {
        self.tools.iter().flat_map(|(tool, taught)| {
            let of = |(_, step): &(Vec<Step>, Step)| {
                let (_, params) = step.request()?;
                Some((tool.clone(), params.get("arguments")?.clone()))
            };
            taught.calls.iter().rev().filter_map(of)
        })
    }

    /// The tools that took a call.
    pub fn reached(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter(|(_, taught)| !taught.calls.is_empty()).map(|(tool, _)| tool.as_str())
    }
}
