//! What several clients asked, when, and what each was answered.

use std::time::Duration;

use crate::wire::{Closed, Outcome};

/// The calls of a schedule as they went, in the order in which they were asked.
#[derive(Debug, Default)]
pub struct History {
    pub asked: Vec<Asked>,
    /// A client that was turned away while others were there, and what it was told.
    pub refused: Option<Refused>,
    /// Where answers were outstanding: whether the server still answered something else.
    pub still_answers: Option<bool>,
    /// How long answers that did not come were waited for, after the last that came.
    pub waited: Duration,
    /// Answers were still coming, and all of them together took too long.
    pub cut_short: bool,
    /// How long the machine kept the server from working while answers were outstanding.
    pub kept_waiting: Duration,
}

/// One call as it went.
#[derive(Debug)]
pub struct Asked {
    /// Its round, and its place in it.
    pub round: usize,
    pub place: usize,
    /// Since the beginning.
    pub asked: Duration,
    /// None where no answer came in time.
    pub answered: Option<Duration>,
    pub outcome: Option<Outcome>,
    pub closed: Option<Closed>,
}

/// A client that could not begin.
#[derive(Debug)]
pub struct Refused {
    pub client: usize,
    /// The HTTP status, where there was one.
    pub status: Option<u16>,
    pub why: String,
}
