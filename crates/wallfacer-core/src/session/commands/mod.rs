//! What each command does with a server: which probes are run on it, and what their results are put together to.

mod against;
mod behave;
mod check;
mod differential;
mod foresee;
mod fuzz;
mod inject;
mod property;
mod torture;

pub use against::against;
pub use behave::{BehaveError, Behaved, behave};
pub use check::{CheckOptions, check};
pub use differential::{Taught, differential, learn};
pub use foresee::{Foreseen, foresee};
pub use fuzz::fuzz;
pub use inject::inject;
pub use property::property;
pub use torture::torture;

use super::options::FuzzOptions;
use super::run::Limits;

impl From<&FuzzOptions> for Limits {
    fn from(options: &FuzzOptions) -> Limits {
        Limits {
            seed: options.seed,
            budget: options.budget,
            workers: options.workers,
            include: options.include.clone(),
            stop: options.stop.clone(),
        }
    }
}
