//! A question put to every case, and its answer. Not knowing is an answer, and never counts as a pass.

use super::charge::Charge;
use super::context::Context;
use crate::observe::Observation;
use crate::plan::Case;
use crate::run::Recording;

#[derive(Debug)]
pub enum Verdict {
    Holds,
    Broken(Box<Charge>),
    Unknown(String),
}

/// Judges one case by itself.
pub trait Check: Sync {
    fn name(&self) -> &'static str;

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict;
}

/// What a check is about, so that each test takes up what it looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Concern {
    /// How requests are answered, and whether the server outlives them.
    Answers,
    /// What calls do to the world, beside what is said of them.
    Behaviour,
    /// What a payload makes the server do.
    Injection,
    /// What rules say.
    Rules,
}
