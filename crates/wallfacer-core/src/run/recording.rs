//! What was seen of one case, before anyone says what it means.

use std::time::Duration;

use wallfacer_process::Stderr;

use crate::wire::{Closed, Outcome, Strays};

/// The steps of a case as they were taken, up to the one that ended it.
#[derive(Debug)]
pub struct Recording {
    pub steps: Vec<Taken>,
    /// The end of what the server wrote to stderr; kept only where it went away or fell silent.
    pub stderr: Option<Stderr>,
}

/// One step as it was taken.
#[derive(Debug)]
pub struct Taken {
    /// The method of a request, or the kind of step in words.
    pub method: String,
    /// Whether an answer was waited for.
    pub awaited: bool,
    /// How the request was settled; none when it never was.
    pub outcome: Option<Outcome>,
    /// Set when the server went away instead.
    pub closed: Option<Closed>,
    pub took: Duration,
    /// What came meanwhile and answers nothing.
    pub strays: Strays,
}

impl Taken {
    /// Whether the server went away, or left us without an answer.
    pub fn is_fatal(&self) -> bool {
        self.closed.is_some()
            || self.awaited && self.outcome.is_none()
            || matches!(self.outcome, Some(Outcome::Lost(_)))
    }
}
