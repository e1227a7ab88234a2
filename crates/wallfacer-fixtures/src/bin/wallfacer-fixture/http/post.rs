//! Answers one POSTed message with a JSON body or an event stream, whichever fits.
//!
//! A reply alone is a JSON body. Whatever comes before it, a notification or a request of ours, opens a stream.

use super::connection::Connection;
use super::event::event;
use super::sessions::EventLog;
use crate::message;
use crate::outlet::Outlet;
use crate::session::lock;
use crate::version::Version;
use serde_json::Value;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How often a response that never comes looks whether the client has gone.
const GLANCE: Duration = Duration::from_millis(50);

pub struct Post {
    connection: Arc<Connection>,
    manner: Manner,
    state: Mutex<State>,
}

/// By which era's rules the answer is given.
pub enum Manner {
    /// No event ids; a client that disconnects has cancelled; errors have statuses.
    Modern,
    /// A client may come back for what it missed. The log is of its session; `initialize` has none yet.
    Legacy { version: Version, log: Option<Arc<EventLog>> },
}

enum State {
    Nothing,
    /// The only line so far, which may turn out to be all there is.
    Held {
        status: u16,
        line: Vec<u8>,
        dribble: bool,
    },
    Streaming {
        number: u64,
    },
    /// The stream was ended early; the rest goes to the log alone.
    Suspended {
        number: u64,
    },
    /// No answer will ever come.
    Withheld,
}

impl Post {
    pub fn new(connection: &Arc<Connection>, manner: Manner) -> Post {
        Post { connection: Arc::clone(connection), manner, state: Mutex::new(State::Nothing) }
    }

    /// Completes the answer. `awaited`: the message was a request, which must not end in a bare 202.
    pub fn finish(&self, awaited: bool, headers: &[(&str, &str)]) -> io::Result<()> {
        let mut state = lock(&self.state);
        if let (State::Nothing, true) = (&*state, awaited) {
            *state = self.open_stream()?;
        }
        match &*state {
            State::Nothing => self.connection.respond(202, headers, b""),
            State::Held { status, line, dribble } => {
                let headers = [&[("content-type", "application/json")], headers].concat();
                match dribble {
                    false => self.connection.respond(*status, &headers, line),
                    true => {
                        self.connection.begin(&headers)?;
                        line.iter().try_for_each(|byte| self.connection.chunk(&[*byte]))?;
                        self.connection.end()
                    }
                }
            }
            State::Streaming { number } => {
                self.complete(*number);
                self.connection.end()
            }
            State::Suspended { number } => {
                self.complete(*number);
                Ok(())
            }
            State::Withheld => Ok(()),
        }
    }

    fn log(&self) -> Option<&EventLog> {
        match &self.manner {
            Manner::Legacy { log, .. } => log.as_deref(),
            Manner::Modern => None,
        }
    }

    /// Whether clients of this version know the empty event that gives them an id to come back with.
    fn primes(&self) -> bool {
        matches!(self.manner, Manner::Legacy { version: Version::November2025, log: Some(_) })
    }

    fn complete(&self, number: u64) {
        if let Some(log) = self.log() {
            log.complete(number);
        }
    }

    fn open_stream(&self) -> io::Result<State> {
        self.connection.begin(&[
            ("content-type", "text/event-stream"),
            ("cache-control", "no-store"),
            ("x-accel-buffering", "no"),
        ])?;
        let number = self.log().map_or(0, EventLog::open_stream);
        if self.primes() {
            self.event(number, b"")?;
        }
        Ok(State::Streaming { number })
    }

    fn event(&self, number: u64, line: &[u8]) -> io::Result<()> {
        let id = self.log().map(|log| log.add(number, line));
        self.connection.chunk(&event(None, id.as_deref(), line))
    }

    /// Puts a line where the state wants it; `held` says whether it may still become a JSON body.
    fn put(&self, line: &[u8], held: Option<u16>, dribble: bool) -> io::Result<()> {
        let mut state = lock(&self.state);
        match (&*state, held) {
            (State::Nothing, Some(status)) => {
                *state = State::Held { status, line: line.to_vec(), dribble };
                return Ok(());
            }
            (State::Nothing, None) => *state = self.open_stream()?,
            (State::Held { line: first, .. }, _) => {
                let opened = self.open_stream()?;
                if let State::Streaming { number } = opened {
                    self.event(number, first)?;
                }
                *state = opened;
            }
            (State::Streaming { .. } | State::Suspended { .. } | State::Withheld, _) => {}
        }
        match (&*state, self.log()) {
            (State::Streaming { number }, _) => self.event(*number, line),
            (State::Suspended { number }, Some(log)) => {
                log.add(*number, line);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

// A client that has gone away needs no answer, so failed writes are let go.
impl Outlet for Post {
    fn line(&self, bytes: &[u8]) {
        let _ = self.put(bytes, Some(200), false);
    }

    fn dribble(&self, bytes: &[u8]) {
        let _ = self.put(bytes, Some(200), true);
    }

    fn send(&self, message: &Value) {
        let held = message.get("method").is_none().then(|| status(message, &self.manner));
        let _ = self.put(message.to_string().as_bytes(), held, false);
    }

    fn is_open(&self) -> bool {
        matches!(self.manner, Manner::Legacy { .. }) || self.connection.is_open()
    }

    fn hold(&self) {
        *lock(&self.state) = State::Withheld;
        self.connection.spoil();
        while self.connection.is_open() {
            thread::sleep(GLANCE);
        }
    }

    fn suspend(&self) {
        let mut state = lock(&self.state);
        if let (State::Nothing, true) = (&*state, self.primes())
            && let Ok(State::Streaming { number }) = self.open_stream()
        {
            let _ = self.connection.end();
            *state = State::Suspended { number };
        }
    }
}

/// In 2026-07-28 a refusal shows in the status too; before, every JSON-RPC answer is a 200.
fn status(message: &Value, manner: &Manner) -> u16 {
    match (manner, message["error"]["code"].as_i64()) {
        (Manner::Modern, Some(message::METHOD_NOT_FOUND)) => 404,
        (Manner::Modern, Some(_)) => 400,
        _ => 200,
    }
}
