//! What a server did to its world while one step was taken.

use wallfacer_process::jail::{Change, Changes};
use wallfacer_process::{sink, trace};

/// What was seen of a life since the step before.
#[derive(Debug, Clone, Default)]
pub struct Traced {
    /// The number of the step's call. What carries it belongs to the call; what carries `None` happened in the
    /// background, between the steps or while nothing was asked; what carries another came late of an earlier call.
    pub call: Option<u64>,
    /// In the order in which they came to an end.
    pub events: Vec<trace::Event>,
    /// What is asked for and not back yet: a call that is silent waits for this.
    pub waiting: Vec<trace::Event>,
    /// What was sent out, over the network of the sandbox.
    pub flows: Vec<sink::Flow>,
    /// Files that are other than at the step before, as the sandbox keeps them.
    pub changes: Vec<Change>,
    /// What was not kept, because there was too much of it: not zero means that not all was seen.
    pub lost: u64,
}

impl Traced {
    /// Whether the step's call waits for the network: then its silence is no hang.
    pub fn waits_for_network(&self) -> bool {
        let reaches = |event: &trace::Event| {
            matches!(event.kind, trace::Kind::Connect { .. } | trace::Kind::Send { .. })
        };
        self.flows.iter().any(|flow| flow.open && flow.call == self.call)
            || self.waiting.iter().any(|event| event.call == self.call && reaches(event))
    }
}

/// What is in `now` and was not, or was other, in `before`. A file that was changed again, and is as long as before, is
/// not told apart: that it was opened is seen by the trace.
pub(super) fn since(before: &Changes, now: &Changes) -> Vec<Change> {
    let known = |change: &&Change| {
        before
            .changes
            .binary_search_by(|known| known.path.cmp(&change.path))
            .is_ok_and(|index| before.changes[index] == **change)
    };
    now.changes.iter().filter(|change| !known(change)).cloned().collect()
}
