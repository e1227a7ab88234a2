//! The sessions of the legacy era over HTTP, and the events that a client may ask for again.

use crate::session::{Session, lock};
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// More than any test opens; the oldest are not dropped, since a client would take that for a fault.
const MOST_SESSIONS: usize = 4096;
/// What is kept of one stream for a client that comes back, and how many streams of a session are kept.
const MOST_EVENTS: usize = 256;
const MOST_STREAMS: usize = 64;

#[derive(Default)]
pub struct Sessions {
    open: Mutex<BTreeMap<String, Arc<HttpSession>>>,
}

#[derive(Default)]
pub struct HttpSession {
    pub session: Arc<Session>,
    pub log: Arc<EventLog>,
    closed: AtomicBool,
}

impl HttpSession {
    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }
}

impl Sessions {
    /// The id of the new session; none when there are too many.
    pub fn open(&self, session: Arc<HttpSession>) -> Option<String> {
        let mut open = lock(&self.open);
        let id = random_id();
        (open.len() < MOST_SESSIONS).then(|| {
            open.insert(id.clone(), session);
            id
        })
    }

    pub fn find(&self, id: &str) -> Option<Arc<HttpSession>> {
        lock(&self.open).get(id).cloned()
    }

    pub fn close(&self, id: &str) {
        if let Some(session) = lock(&self.open).remove(id) {
            session.closed.store(true, Ordering::SeqCst);
        }
    }
}

/// The standard library's hash keys are its only source of chance, and a good one.
pub fn random_id() -> String {
    format!("{:016x}{:016x}", RandomState::new().hash_one(0), RandomState::new().hash_one(1))
}

/// What was sent on the streams of a session, by stream and place.
#[derive(Default)]
pub struct EventLog {
    streams: Mutex<Streams>,
    grown: Condvar,
}

#[derive(Default)]
struct Streams {
    next: u64,
    kept: BTreeMap<u64, Stream>,
}

#[derive(Default)]
struct Stream {
    next: u64,
    events: VecDeque<(u64, Vec<u8>)>,
    complete: bool,
}

/// What a client that comes back has missed.
pub struct Missed {
    /// Event ids and messages.
    pub events: Vec<(String, Vec<u8>)>,
    pub complete: bool,
}

impl EventLog {
    pub fn open_stream(&self) -> u64 {
        let mut streams = lock(&self.streams);
        let number = streams.next;
        streams.next += 1;
        streams.kept.insert(number, Stream::default());
        if streams.kept.len() > MOST_STREAMS {
            streams.kept.pop_first();
        }
        number
    }

    /// Keeps a message and gives its event id. Empty messages prime the client with an id and are not repeated.
    pub fn add(&self, stream: u64, message: &[u8]) -> String {
        let mut streams = lock(&self.streams);
        let place = match streams.kept.get_mut(&stream) {
            Some(kept) => {
                let place = kept.next;
                kept.next += 1;
                if !message.is_empty() {
                    kept.events.push_back((place, message.to_vec()));
                }
                if kept.events.len() > MOST_EVENTS {
                    kept.events.pop_front();
                }
                place
            }
            None => 0,
        };
        self.grown.notify_all();
        event_id(stream, place)
    }

    pub fn complete(&self, stream: u64) {
        if let Some(kept) = lock(&self.streams).kept.get_mut(&stream) {
            kept.complete = true;
        }
        self.grown.notify_all();
    }

    /// What came after this event on its own stream, waiting a while if there is nothing yet.
    /// None: no stream that is still known had such an event.
    pub fn after(&self, last: &str, patience: Duration) -> Option<Missed> {
        let (stream, place) = parse_event_id(last)?;
        let is_idle = |streams: &mut Streams| {
            streams.kept.get(&stream).is_some_and(|kept| !kept.complete && kept.next == place + 1)
        };
        let streams = lock(&self.streams);
        let waited = self.grown.wait_timeout_while(streams, patience, is_idle);
        let kept = &waited.unwrap_or_else(PoisonError::into_inner).0.kept;
        let kept = kept.get(&stream).filter(|kept| place < kept.next)?;
        let missed = kept.events.iter().filter(|(at, _)| *at > place);
        Some(Missed {
            events: missed.map(|(at, message)| (event_id(stream, *at), message.clone())).collect(),
            complete: kept.complete,
        })
    }
}

fn event_id(stream: u64, place: u64) -> String {
    format!("s{stream}-{place}")
}

fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (stream, place) = id.strip_prefix('s')?.split_once('-')?;
    Some((stream.parse().ok()?, place.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::EventLog;
    use std::time::Duration;

    #[test]
    fn only_the_events_of_the_same_stream_are_repeated() {
        let log = EventLog::default();
        let (one, two) = (log.open_stream(), log.open_stream());
        let first = log.add(one, b"");
        log.add(two, b"other");
        log.add(one, b"mine");
        log.complete(one);
        let missed = log.after(&first, Duration::ZERO).expect("the stream is known");
        assert_eq!(missed.events, [("s0-1".to_owned(), b"mine".to_vec())]);
        assert!(missed.complete);
        assert!(log.after("s9-0", Duration::ZERO).is_none());
    }
}
