//! Counts what all who ask servers have done so far: calls that were answered, servers that were started and what for.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Starts that are remembered until somebody asks for them.
const MAX_REMEMBERED: usize = 1_000;

/// Kept by everybody of a run together.
#[derive(Debug, Default)]
pub struct Ledger {
    calls: AtomicU64,
    lives: AtomicU64,
    starts: Mutex<Vec<Start>>,
}

/// A server that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Start {
    /// The world that it lives in, and what it was started for.
    pub purpose: String,
    /// How long it had to wait until others were started, and how long its own start took.
    pub waited: Duration,
    pub took: Duration,
}

impl Ledger {
    pub fn add_calls(&self, calls: u64) {
        self.calls.fetch_add(calls, Ordering::Relaxed);
    }

    /// Calls that were answered so far.
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Servers that were started where nobody writes down how.
    pub fn add_lives(&self, lives: u64) {
        self.lives.fetch_add(lives, Ordering::Relaxed);
    }

    /// Servers that were started so far.
    pub fn lives(&self) -> u64 {
        self.lives.load(Ordering::Relaxed)
    }

    pub fn add_start(&self, start: Start) {
        self.add_lives(1);
        let mut starts = self.starts();
        if starts.len() < MAX_REMEMBERED {
            starts.push(start);
        }
    }

    /// The starts since this was last asked.
    pub fn take_starts(&self) -> Vec<Start> {
        std::mem::take(&mut *self.starts())
    }

    fn starts(&self) -> std::sync::MutexGuard<'_, Vec<Start>> {
        // A worker that panicked ends the run anyway.
        self.starts.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
