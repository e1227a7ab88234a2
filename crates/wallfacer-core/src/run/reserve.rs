//! Servers that are started before anybody asks for them, and wait to be spoken to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use tokio::sync::{Notify, watch};

use super::gate::{Gate, Turn, Urgency};
use super::ledger::{Ledger, Start};
use super::life::Life;
use crate::stop::Stop;
use crate::wire::{Connector, HeaderParams};

/// Servers of one world that wait at the same time.
const MOST_READY: usize = 2;

/// Servers of one world.
#[derive(Debug)]
pub struct Reserve {
    name: String,
    connector: Connector,
    headers: HeaderParams,
    gate: Arc<Gate>,
    ledger: Arc<Ledger>,
    stop: Stop,
    ready: Mutex<Vec<Life>>,
    arrived: Notify,
    /// Those that are on their way, and those who wait for one of them.
    starting: AtomicUsize,
    expected: AtomicUsize,
    /// One of them is there, or will not come.
    ended: Notify,
    over: watch::Sender<bool>,
    starters: Mutex<Vec<JoinHandle<()>>>,
}

impl Reserve {
    pub fn new(
        name: String,
        connector: Connector,
        headers: HeaderParams,
        gate: Arc<Gate>,
        ledger: Arc<Ledger>,
        stop: Stop,
    ) -> Reserve {
        Reserve {
            name,
            connector,
            headers,
            gate,
            ledger,
            stop,
            ready: Mutex::default(),
            arrived: Notify::new(),
            starting: AtomicUsize::new(0),
            expected: AtomicUsize::new(0),
            ended: Notify::new(),
            over: watch::Sender::new(false),
            starters: Mutex::default(),
        }
    }

    /// A server that nobody has spoken to, where one is there.
    pub fn take(&self) -> Option<Life> {
        loop {
            let life = lock(&self.ready).pop()?;
            let ended = life.connection.process().is_none_or(|process| process.ending().is_some());
            if !ended {
                return Some(life);
            }
        }
    }

    /// The same, as soon as one is there.
    pub async fn arrival(&self) -> Life {
        loop {
            let arrived = self.arrived.notified();
            if let Some(life) = self.take() {
                return life;
            }
            arrived.await;
        }
    }

    /// Waits as long as one is on its way that nobody else waits for; [`Reserve::arrival`] gives it.
    pub async fn while_one_comes(&self) {
        let expected =
            Expected { all: &self.expected, before: self.expected.fetch_add(1, Ordering::Relaxed) };
        loop {
            let ended = self.ended.notified();
            if self.starting.load(Ordering::Relaxed) <= expected.before {
                return;
            }
            ended.await;
        }
    }

    pub fn is_ready(&self) -> bool {
        !lock(&self.ready).is_empty()
    }

    /// Starts one for who will ask next, where a turn is free now and none is on its way.
    pub fn start_ahead(self: &Arc<Self>) {
        if self.starting.load(Ordering::Relaxed) == 0
            && !self.is_ready()
            && let Some(turn) = self.gate.try_turn()
        {
            self.start(Some(turn));
        }
    }

    /// Starts one for somebody who waits, where none is on its way.
    pub fn start_soon(self: &Arc<Self>) {
        if self.starting.load(Ordering::Relaxed) == 0 && !self.is_ready() {
            self.start(None);
        }
    }

    fn start(self: &Arc<Self>, turn: Option<Turn>) {
        if *self.over.borrow() {
            return;
        }
        self.starting.fetch_add(1, Ordering::Relaxed);
        let reserve = self.clone();
        let starter = std::thread::spawn(move || {
            reserve.start_here(turn);
            reserve.starting.fetch_sub(1, Ordering::Relaxed);
            reserve.ended.notify_waiters();
        });
        lock(&self.starters).push(starter);
    }

    /// Starts one on this thread. Who needs it tells why it does not start.
    fn start_here(&self, turn: Option<Turn>) {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        let begun = Instant::now();
        let starting = async {
            let _turn = match turn {
                Some(turn) => turn,
                None => self.gate.turn(Urgency::Soon).await,
            };
            let waited = begun.elapsed();
            let mut connector = self.connector.clone();
            (Life::start(&mut connector, &self.headers).await, waited)
        };
        let started = runtime.block_on(async {
            let mut over = self.over.subscribe();
            tokio::select! {
                started = self.stop.unless(starting) => started.ok(),
                _ = over.wait_for(|over| *over) => None,
            }
        });
        let Some((Ok(mut life), waited)) = started else { return };
        let took = begun.elapsed() - waited;
        self.ledger.add_start(Start { purpose: format!("{}, ahead", self.name), waited, took });
        let mut ready = lock(&self.ready);
        if life.connection.detach() && ready.len() < MOST_READY && !*self.over.borrow() {
            ready.push(life);
            self.arrived.notify_one();
        }
    }

    /// Ends all that wait, and starts no more.
    pub fn end(&self) {
        self.over.send_replace(true);
        for starter in std::mem::take(&mut *lock(&self.starters)) {
            let _panicked = starter.join();
        }
        lock(&self.ready).clear();
    }
}

/// Somebody who waits for a server that is on its way, and how many did so before.
struct Expected<'a> {
    all: &'a AtomicUsize,
    before: usize,
}

impl Drop for Expected<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}

fn lock<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    // A worker that panicked ends the run anyway.
    what.lock().unwrap_or_else(PoisonError::into_inner)
}
