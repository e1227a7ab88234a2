//! What a session says while it works. Terminal, log and document are equal listeners; the engine knows none of them.

use serde::Serialize;

use crate::findings::{Finding, FindingId};
use crate::target::Shown;
use crate::wire::Server;

/// One thing that happened.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    Connecting {
        target: &'a Shown,
    },
    Connected {
        name: Option<&'a str>,
        version: Option<&'a str>,
        protocol: &'a str,
        era: &'a str,
        startup_ms: u64,
        #[serde(skip)]
        server: &'a Server,
    },
    /// One of the server's lists has been read.
    Listed {
        what: &'a str,
        entries: usize,
        broken: usize,
    },
    /// A request was made only to measure the way there and back.
    Measured {
        round: usize,
        rounds: usize,
        took_us: u64,
    },
    /// Cases of one phase are about to be performed.
    RoundBegun {
        phase: &'a str,
        cases: usize,
    },
    RoundDone {
        phase: &'a str,
        /// All calls of the run so far.
        calls: u64,
        suspicions: usize,
        /// What is suspected, in words.
        #[serde(skip)]
        suspected: &'a [String],
    },
    /// A valid call of a tool succeeded for the first time.
    ToolReached {
        tool: &'a str,
    },
    /// A server was started.
    ServerStarted {
        /// The world that it lives in, and what for.
        purpose: &'a str,
        /// How long it waited for others that were being started, and how long its own start took.
        waited_ms: u64,
        took_ms: u64,
    },
    /// A kind of test is over.
    TestDone {
        test: &'a str,
        /// How long it had calls to make, but none under way.
        idle_ms: u64,
    },
    /// How far a run is, told now and then.
    Working {
        /// Calls that were answered so far.
        calls: u64,
        reached: usize,
        tools: usize,
        suspicions: usize,
        /// What is left of the budget, where there is one.
        left_ms: Option<u64>,
    },
    /// A bug is proven.
    FindingMade {
        id: &'a str,
        kind: &'a str,
        place: &'a str,
        /// Findings told before that this one stands for: their cause is one of the whole server.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        replaces: &'a [FindingId],
        #[serde(skip)]
        finding: &'a Finding,
    },
    /// The server has been ended, or the session left.
    Closed {
        left_behind: usize,
    },
}

impl<'a> Event<'a> {
    /// A bug is proven, and known as what it is.
    pub fn finding_made(finding: &'a Finding) -> Event<'a> {
        Event::finding_widened(finding, &[])
    }

    /// A bug is proven, and explains others too.
    pub fn finding_widened(finding: &'a Finding, replaces: &'a [FindingId]) -> Event<'a> {
        let (id, kind, place) = (finding.id.as_str(), finding.kind.name(), finding.place());
        Event::FindingMade { id, kind, place, replaces, finding }
    }
}

/// Whoever wants to know.
pub trait Listener {
    fn hear(&mut self, event: &Event<'_>);
}

impl<L: Listener> Listener for Vec<L> {
    fn hear(&mut self, event: &Event<'_>) {
        self.iter_mut().for_each(|listener| listener.hear(event));
    }
}

impl Listener for Box<dyn Listener> {
    fn hear(&mut self, event: &Event<'_>) {
        self.as_mut().hear(event);
    }
}
