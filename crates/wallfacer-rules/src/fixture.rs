//! A call and its answer written down beside a rule, with what the rule should say about it.

use crate::evaluate::Verdict;
use serde_json::Value;
use std::time::Duration;

/// What a rule is tried on without any server.
#[derive(Debug, Clone, PartialEq)]
pub struct Fixture {
    pub name: String,
    pub expect: Expect,
    /// If left out, what the rule itself sends.
    pub input: Option<Value>,
    pub response: Value,
    /// The tool as a server would list it; for a rule about every tool, the one it is expanded for.
    pub tool: Option<Value>,
    /// The field that a rule about fields is expanded for.
    pub field: Option<String>,
    pub effects: Option<Value>,
    pub steps: Value,
    pub canary: Option<Value>,
    pub marker: Option<Value>,
    pub latency: Option<Duration>,
    /// Whether all that a rule may look at can be written down; before version 4 the tool could not.
    pub can_be_whole: bool,
}

/// One answer per call of a sequence, in the order of the calls.
#[derive(Debug, Clone, PartialEq)]
pub struct SequenceFixture {
    pub name: String,
    pub expect: Expect,
    pub responses: Vec<Value>,
    pub canary: Option<Value>,
    pub marker: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Pass,
    Fail,
    Unknown,
}

impl Expect {
    pub fn name(self) -> &'static str {
        match self {
            Expect::Pass => "pass",
            Expect::Fail => "fail",
            Expect::Unknown => "unknown",
        }
    }

    pub(crate) fn is_met_by(self, verdict: &Verdict) -> bool {
        self.name() == verdict.word()
    }
}
