//! What is remembered of one client between its messages.

use crate::message;
use crate::outlet::Outlet;
use crate::version::Version;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A client that never answers must not hold a thread for good.
const LONGEST_ASK: Duration = Duration::from_secs(30);
/// How often a waiting request looks whether its client is still there.
const GLANCE: Duration = Duration::from_millis(50);

/// What a client said of itself: once in `initialize`, or with every modern request.
#[derive(Debug, Clone)]
pub struct Client {
    pub version: Version,
    pub capabilities: Value,
    /// The least severe log message it wants; none where it wants none.
    pub log_level: Option<Level>,
}

impl Client {
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(Value::is_object)
    }
}

/// The eight severities of syslog, least severe first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level(usize);

impl Level {
    const NAMES: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];
    pub const DEBUG: Level = Level(0);
    pub const INFO: Level = Level(1);

    pub fn parse(name: &str) -> Option<Level> {
        Level::NAMES.iter().position(|known| *known == name).map(Level)
    }

    pub fn as_str(self) -> &'static str {
        Level::NAMES[self.0]
    }
}

/// One client: a process on the other end of the pipes, or a session over HTTP.
#[derive(Default)]
pub struct Session {
    client: Mutex<Option<Client>>,
    waiting: Mutex<BTreeMap<String, Sender<Value>>>,
    running: Mutex<BTreeMap<String, Arc<Cancellation>>>,
    asked: AtomicU64,
    stateless: bool,
}

impl Session {
    /// A session of one modern request, known to be modern by its HTTP header.
    pub fn stateless() -> Session {
        Session { stateless: true, ..Session::default() }
    }

    pub fn is_stateless(&self) -> bool {
        self.stateless
    }

    pub fn client(&self) -> Option<Client> {
        lock(&self.client).clone()
    }

    pub fn greet(&self, client: Client) {
        *lock(&self.client) = Some(client);
    }

    pub fn set_level(&self, level: Level) {
        if let Some(client) = lock(&self.client).as_mut() {
            client.log_level = Some(level);
        }
    }

    /// The client's answer to a request of ours, if we wait for one under exactly this id.
    pub fn answered(&self, id: &Value, message: Value) {
        if let Some(waiting) = lock(&self.waiting).remove(&id.to_string()) {
            // The asker may have given up meanwhile.
            let _ = waiting.send(message);
        }
    }

    pub fn fresh_id(&self) -> Value {
        json!(format!("ask-{}", self.asked.fetch_add(1, Ordering::Relaxed)))
    }

    /// Sends a request to the client and waits for the whole answer. None: cancelled, gone or out of time.
    pub fn ask(&self, id: &Value, method: &str, params: &Value, asker: &Asker) -> Option<Value> {
        let (sender, receiver) = mpsc::channel();
        lock(&self.waiting).insert(id.to_string(), sender);
        asker.outlet.send(&message::request(id, method, params));
        let deadline = Instant::now() + LONGEST_ASK;
        while Instant::now() < deadline && !asker.cancellation.is_set() && asker.outlet.is_open() {
            if let Ok(answer) = receiver.recv_timeout(GLANCE) {
                return Some(answer);
            }
        }
        lock(&self.waiting).remove(&id.to_string());
        None
    }

    /// From now on `cancel` reaches this request. None when too many are running already.
    pub fn start(&self, id: &Value) -> Option<Arc<Cancellation>> {
        /// More than any honest client has in flight, few enough for a small machine.
        const MOST_RUNNING: usize = 256;
        let mut running = lock(&self.running);
        if running.len() >= MOST_RUNNING {
            return None;
        }
        let cancellation = Arc::new(Cancellation::default());
        running.insert(id.to_string(), Arc::clone(&cancellation));
        Some(cancellation)
    }

    pub fn finish(&self, id: &Value) {
        lock(&self.running).remove(&id.to_string());
    }

    pub fn cancel(&self, id: &Value) {
        if let Some(cancellation) = lock(&self.running).get(&id.to_string()) {
            cancellation.set();
        }
    }
}

/// The request on whose behalf the client is asked something.
pub struct Asker<'a> {
    pub outlet: &'a dyn Outlet,
    pub cancellation: &'a Cancellation,
}

/// Whether the client has withdrawn a request.
#[derive(Debug, Default)]
pub struct Cancellation {
    withdrawn: Mutex<bool>,
    changed: Condvar,
}

impl Cancellation {
    pub fn is_set(&self) -> bool {
        *lock(&self.withdrawn)
    }

    fn set(&self) {
        *lock(&self.withdrawn) = true;
        self.changed.notify_all();
    }

    /// Waits out the time, or less when the request is withdrawn or the client goes away: then false.
    pub fn pause(&self, time: Duration, outlet: &dyn Outlet) -> bool {
        let deadline = Instant::now() + time;
        let mut withdrawn = lock(&self.withdrawn);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if *withdrawn || !outlet.is_open() {
                return false;
            }
            if left.is_zero() {
                return true;
            }
            withdrawn = self
                .changed
                .wait_timeout(withdrawn, left.min(GLANCE))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

/// A thread that panicked while holding a lock has left these plain values whole.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
