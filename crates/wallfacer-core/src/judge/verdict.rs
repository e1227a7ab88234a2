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
