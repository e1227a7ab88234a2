//! What a server did to its world while one step was taken.

use wallfacer_process::jail::{Change, Changes};
use wallfacer_process::trace::{Address, Family};
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
        let reaches = |event: &trace::Event| match &event.kind {
            trace::Kind::Connect { .. } => true,
            trace::Kind::Send { socket, messages } => match socket {
                // Threads of one process wake each other over a pair of these.
                Some(socket) => matches!(socket.family, Family::Inet | Family::Inet6),
                None => messages.iter().any(|message| matches!(message.to, Some(Address::Inet(_)))),
            },
            _ => false,
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

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use wallfacer_process::trace::{Event, Kind, Outcome, Socket, Transport};

    use super::*;

    fn sending(family: Family) -> Traced {
        let socket = Some(Socket { family, transport: Transport::Stream });
        let kind = Kind::Send { socket, messages: Vec::new() };
        let event =
            Event { at: Instant::now(), pid: 1, tid: 1, call: Some(1), kind, outcome: Outcome::Unfinished };
        Traced { call: Some(1), waiting: vec![event], ..Traced::default() }
    }

    #[test]
    fn who_wakes_another_thread_does_not_wait_for_the_network() {
        assert!(sending(Family::Inet).waits_for_network());
        assert!(!sending(Family::Unix).waits_for_network());
    }
}
