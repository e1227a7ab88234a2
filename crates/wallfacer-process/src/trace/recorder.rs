//! Keeps events within a bound. A target can make events without end; what does not fit is counted, never silently left
//! out.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::event::{Event, Outcome};

/// About half a million opens between two [`Recorder::take`]s; the oldest of them give way to newer ones.
const MAX_BACKGROUND_BYTES: usize = 64 << 20;

/// Of one call the *first* events are kept: what a call did before it began to flood is what it was made to do.
const MAX_CALL_BYTES: usize = 32 << 20;

/// Of all calls between two takes; beyond it the oldest calls' events go first.
const MAX_CALLS_BYTES: usize = 128 << 20;

/// Where a [`Tracer`](super::Tracer) writes, and whoever drives the target reads.
#[derive(Debug)]
pub struct Recorder {
    /// Zero: none.
    in_flight: Arc<AtomicU64>,
    kept: Mutex<Kept>,
    limits: Limits,
}

/// What was recorded since it was last asked for.
#[derive(Debug, Default)]
pub struct Recording {
    /// In the order in which they came to an end.
    pub events: Vec<Event>,
    pub lost: Lost,
}

/// How many events were not kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lost {
    pub background: u64,
    /// By call.
    pub calls: BTreeMap<u64, u64>,
}

impl Lost {
    pub fn is_none(&self) -> bool {
        self.background == 0 && self.calls.is_empty()
    }
}

#[derive(Debug)]
struct Limits {
    background: usize,
    call: usize,
    calls: usize,
}

#[derive(Debug, Default)]
struct Kept {
    /// Asked for and not back yet, by thread.
    pending: BTreeMap<u32, Event>,
    background: Shelf,
    calls: Shelf,
    /// The call that the last event of a call belonged to, and how much of it is kept.
    current: (u64, usize),
    sequence: u64,
    lost: Lost,
}

/// Events in order, with the sum of their weights.
#[derive(Debug, Default)]
struct Shelf {
    events: VecDeque<(u64, Event)>,
    bytes: usize,
}

impl Recorder {
    /// `in_flight` holds the number of the call in flight, zero for none. Whoever drives the target sets it *before*
    /// writing the request.
    pub fn new(in_flight: Arc<AtomicU64>) -> Self {
        let limits =
            Limits { background: MAX_BACKGROUND_BYTES, call: MAX_CALL_BYTES, calls: MAX_CALLS_BYTES };
        Self { in_flight, kept: Mutex::default(), limits }
    }

    /// All that came to an end since this was last called.
    pub fn take(&self) -> Recording {
        let mut kept = self.kept();
        kept.current = (0, 0);
        let [background, calls] = [std::mem::take(&mut kept.background), std::mem::take(&mut kept.calls)];
        let lost = std::mem::take(&mut kept.lost);
        drop(kept);
        let mut events = Vec::from(background.events);
        events.extend(calls.events);
        events.sort_by_key(|&(sequence, _)| sequence);
        Recording { events: events.into_iter().map(|(_, event)| event).collect(), lost }
    }

    /// What tasks wait for at this moment: a connection that is not answered, say.
    pub fn pending(&self) -> Vec<Event> {
        self.kept().pending.values().cloned().collect()
    }

    pub(super) fn call_in_flight(&self) -> Option<u64> {
        Some(self.in_flight.load(Ordering::SeqCst)).filter(|&call| call != 0)
    }

    /// Keeps an event whose outcome is not known yet.
    pub(super) fn begin(&self, event: Event) {
        self.kept().pending.insert(event.tid, event);
    }

    /// Takes back the event that this thread waits for.
    pub(super) fn resume(&self, tid: u32) -> Option<Event> {
        self.kept().pending.remove(&tid)
    }

    pub(super) fn record(&self, event: Event) {
        self.kept().add(event, &self.limits);
    }

    /// The thread is gone: what it waited for will not come.
    pub(super) fn give_up(&self, tid: u32) {
        let mut kept = self.kept();
        if let Some(mut event) = kept.pending.remove(&tid) {
            event.outcome = Outcome::Unfinished;
            kept.add(event, &self.limits);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn add(&mut self, event: Event, limits: &Limits) {
        self.sequence += 1;
        let Some(call) = event.call else {
            self.background.push(self.sequence, event);
            while self.background.bytes > limits.background && self.background.pop().is_some() {
                self.lost.background += 1;
            }
            return;
        };
        if self.current.0 != call {
            self.current = (call, 0);
        }
        self.current.1 += event.weight();
        if self.current.1 > limits.call {
            *self.lost.calls.entry(call).or_default() += 1;
            return;
        }
        self.calls.push(self.sequence, event);
        while self.calls.bytes > limits.calls {
            let Some(oldest) = self.calls.pop() else { break };
            *self.lost.calls.entry(oldest.call.unwrap_or(0)).or_default() += 1;
        }
    }
}

impl Shelf {
    fn push(&mut self, sequence: u64, event: Event) {
        self.bytes += event.weight();
        self.events.push_back((sequence, event));
    }

    fn pop(&mut self) -> Option<Event> {
        let (_, event) = self.events.pop_front()?;
        self.bytes = self.bytes.saturating_sub(event.weight());
        Some(event)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::event::Kind;
    use super::*;

    fn recorder(background: usize, call: usize, calls: usize) -> Recorder {
        let one = event(None, 0).weight();
        let limits = Limits { background: background * one, call: call * one, calls: calls * one };
        Recorder { limits, ..Recorder::new(Arc::default()) }
    }

    fn event(call: Option<u64>, tid: u32) -> Event {
        let kind = Kind::Fork { child: tid };
        Event { at: Instant::now(), pid: tid, tid, call, kind, outcome: Outcome::Done(0) }
    }

    fn threads(recording: &Recording) -> Vec<u32> {
        recording.events.iter().map(|event| event.tid).collect()
    }

    #[test]
    fn a_take_gives_everything_once_and_in_order() {
        let recorder = recorder(9, 9, 9);
        for (call, tid) in [(None, 1), (Some(7), 2), (None, 3), (Some(8), 4)] {
            recorder.record(event(call, tid));
        }
        let recording = recorder.take();
        assert_eq!(threads(&recording), [1, 2, 3, 4]);
        assert!(recording.lost.is_none());
        assert!(recorder.take().events.is_empty());
    }

    #[test]
    fn the_oldest_of_the_background_gives_way_and_is_counted() {
        let recorder = recorder(2, 9, 9);
        recorder.record(event(Some(1), 100));
        (1..=5).for_each(|tid| recorder.record(event(None, tid)));
        let recording = recorder.take();
        assert_eq!(threads(&recording), [100, 4, 5]);
        assert_eq!(recording.lost, Lost { background: 3, calls: BTreeMap::new() });
    }

    #[test]
    fn a_call_that_floods_keeps_its_first_events_and_harms_no_other_call() {
        let recorder = recorder(9, 2, 9);
        recorder.record(event(Some(1), 1));
        (10..=15).for_each(|tid| recorder.record(event(Some(2), tid)));
        recorder.record(event(Some(3), 3));
        let recording = recorder.take();
        assert_eq!(threads(&recording), [1, 10, 11, 3]);
        assert_eq!(recording.lost.calls, [(2, 4)].into());
    }

    #[test]
    fn beyond_the_limit_of_all_calls_the_oldest_calls_go() {
        let recorder = recorder(9, 2, 3);
        (1..=5_u32).for_each(|tid| recorder.record(event(Some(tid.into()), tid)));
        let recording = recorder.take();
        assert_eq!(threads(&recording), [3, 4, 5]);
        assert_eq!(recording.lost.calls, [(1, 1), (2, 1)].into());
    }

    #[test]
    fn what_a_thread_waits_for_is_seen_and_kept_when_the_thread_dies() {
        let recorder = recorder(9, 9, 9);
        recorder.begin(event(Some(1), 5));
        assert_eq!(recorder.pending().len(), 1);
        recorder.give_up(5);
        assert!(recorder.pending().is_empty());
        assert_eq!(recorder.take().events[0].outcome, Outcome::Unfinished);
    }
}
