//! [`Observation`] in, [`Verdict`]s out: checks, one file each.

mod charge;
mod checks;
mod context;
mod secrets;
mod verdict;

pub use charge::Charge;
pub use checks::{all, leak};
pub use context::{Context, ToolFacts};
pub use secrets::Secrets;
pub use verdict::{Check, Verdict};

use crate::observe::Observation;
use crate::plan::Case;
use crate::run::Recording;

/// What every check says of one case; only what is not in order.
pub fn judge(case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Vec<Charge> {
    let broken = |check: &dyn Check| match check.judge(case, recording, seen, context) {
        Verdict::Broken(charge) => Some(*charge),
        Verdict::Holds | Verdict::Unknown(_) => None,
    };
    all().iter().filter_map(|check| broken(*check)).collect()
}
