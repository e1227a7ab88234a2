//! The tests, one file or folder each. A probe proposes jobs and reads what was seen; it knows nothing of time, of servers,
//! of proof, or of other probes.

pub mod against;
pub mod behave;
pub mod differential;
pub mod fuzz;
pub mod inject;
pub mod rules;
pub mod torture;

mod notebook;

pub use notebook::Notebook;

use super::lab::{Done, Job};
use super::prove::Outcome;
use crate::event::Listener;

/// A kind of test.
pub trait Probe {
    /// What it is called in reports.
    fn name(&self) -> &'static str;

    /// Its part of the time, beside those of others.
    fn worth(&self) -> f64 {
        1.0
    }

    /// A job that can be done now, under a number of the probe's own; none while it waits for others of its jobs, or where
    /// there is nothing left. `computes` where there is room for one that does more than wait.
    fn propose(&mut self, computes: bool, listener: &mut dyn Listener) -> Option<(u64, Job)>;

    /// Reads what came of a job.
    fn read(&mut self, number: u64, done: Done, notebook: &mut Notebook, listener: &mut dyn Listener);

    /// Something that was suspected is settled.
    fn hear(&mut self, _outcome: &Outcome, _notebook: &mut Notebook) {}

    /// Whether nothing is left to do.
    fn is_done(&self) -> bool;

    /// Nothing more is done: tells what is left. `why` where the time was up before the plan was done.
    fn finish(&mut self, why: Option<&str>, notebook: &mut Notebook);
}
