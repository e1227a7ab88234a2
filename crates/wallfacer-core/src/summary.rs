//! What a run of fuzzing comes to.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::findings::Finding;
use crate::observe::Answer;
use crate::target::Shown;
use crate::wire::Server;

/// Everything that a report needs.
#[derive(Debug)]
pub struct Fuzzed {
    pub target: Shown,
    pub server: Server,
    pub seed: u64,
    pub took: Duration,
    /// Servers that were started.
    pub lives: u64,
    pub summary: Summary,
    pub tools: BTreeMap<String, ToolSummary>,
    /// Reproduced each time.
    pub findings: Vec<Finding>,
    /// Reproduced not each time.
    pub flaky: Vec<Finding>,
    pub notes: Vec<Note>,
    pub not_tested: Vec<NotTested>,
}

/// Calls by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    pub calls: u64,
    pub completed: u64,
    pub tool_errors: u64,
    pub rejected: u64,
    pub failed: u64,
    pub malformed: u64,
    pub silent: u64,
    pub gone: u64,
}

/// The same for one tool, with how often what should work did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ToolSummary {
    #[serde(flatten)]
    pub calls: Summary,
    pub valid_calls: u64,
    pub valid_completed: u64,
}

/// Worth knowing, not wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Note {
    pub tool: Option<String>,
    pub text: String,
}

/// What was not tested, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct NotTested {
    pub what: String,
    pub why: String,
}

impl Summary {
    pub fn count(&mut self, answer: &Answer) {
        self.calls += 1;
        let place = match answer {
            Answer::Completed => &mut self.completed,
            Answer::ToolError => &mut self.tool_errors,
            Answer::Rejected { .. } => &mut self.rejected,
            Answer::Failed { .. } => &mut self.failed,
            Answer::Malformed => &mut self.malformed,
            Answer::Silent => &mut self.silent,
            Answer::Gone { .. } => &mut self.gone,
            Answer::NotAwaited => return,
        };
        *place += 1;
    }
}
