//! What was seen of one call, before anyone says what it means.

use std::time::Duration;

use wallfacer_process::Stderr;

use crate::wire::{Closed, Outcome, Strays};

#[derive(Debug)]
pub struct Recording {
    pub method: String,
    /// How the request was settled; none when it never was.
    pub outcome: Option<Outcome>,
    /// Set when the server went away instead.
    pub closed: Option<Closed>,
    pub took: Duration,
    /// What came during the call and answers nothing.
    pub strays: Strays,
    /// The end of what the server wrote to stderr, where it is a process of ours.
    pub stderr: Option<Stderr>,
}
