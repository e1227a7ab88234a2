//! The watch over one life: which call is in flight, and what has been seen since the last one.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use wallfacer_process::Process;
use wallfacer_process::jail::Changes;
use wallfacer_process::sink::Sink;
use wallfacer_process::trace::Recorder;

use super::standing::Standing;
use super::traced::{Traced, since};

/// What a server has sent before it answered is on record within this, unless it never stops sending.
const SETTLE_PATIENCE: Duration = Duration::from_millis(200);

/// Held beside the connection of a life.
#[derive(Debug)]
pub struct Vigil {
    pub standing: Standing,
    pub(super) watch: Watching,
    /// Calls begun so far.
    calls: u64,
    /// Files that were other than in the beginning when last looked at.
    known: Changes,
}

/// What sees.
#[derive(Debug, Default)]
pub(super) struct Watching {
    /// The call in flight; zero for none.
    pub in_flight: Arc<AtomicU64>,
    /// Set where every call into the system is seen.
    pub recorder: Option<Arc<Recorder>>,
    pub sink: Option<Arc<Sink>>,
}

impl Vigil {
    pub(super) fn new(standing: Standing, watch: Watching) -> Self {
        Self { standing, watch, calls: 0, known: Changes::default() }
    }

    /// Of a life that is not ours to watch.
    pub fn none(remarks: Vec<String>) -> Self {
        Self::new(Standing::open(remarks), Watching::default())
    }

    /// Whether what each step does is told.
    pub fn is_kept(&self) -> bool {
        self.watch.recorder.is_some()
    }

    /// From here on what the server does is done for the next call. Before its bytes are written.
    pub fn begin(&mut self) {
        self.calls += 1;
        self.watch.in_flight.store(self.calls, Ordering::SeqCst);
    }

    /// The call is over: what was seen since the last one.
    pub fn settle(&mut self, process: Option<&Process>) -> Traced {
        let Watching { in_flight, recorder, sink } = &self.watch;
        // False for a server that never stops sending; the rest is then found in the next step.
        let _settled = sink.as_ref().is_none_or(|sink| sink.settle(SETTLE_PATIENCE));
        let call = Some(in_flight.swap(0, Ordering::SeqCst)).filter(|&call| call != 0);
        let waiting = recorder.as_ref().map(|recorder| recorder.pending()).unwrap_or_default();
        let recorded = recorder.as_ref().map(|recorder| recorder.take()).unwrap_or_default();
        let seen = sink.as_ref().map(|sink| sink.take()).unwrap_or_default();
        let changes = process.filter(|_| recorder.is_some()).and_then(Process::changes);
        let lost = recorded.lost.background + recorded.lost.calls.values().sum::<u64>() + seen.lost.flows;
        let changes = changes.map(|now| {
            let news = since(&self.known, &now);
            self.known = now;
            news
        });
        Traced {
            call,
            events: recorded.events,
            waiting,
            flows: seen.flows,
            changes: changes.unwrap_or_default(),
            lost,
        }
    }

    /// The sink that the server's network is, where there is one: a listener can be planted there.
    pub fn sink(&self) -> Option<&Sink> {
        self.watch.sink.as_deref()
    }
}
