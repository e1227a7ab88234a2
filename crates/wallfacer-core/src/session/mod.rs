//! Ties the steps together: the only place where what was seen decides what is done next.

mod against;
mod attempt;
mod behave;
mod campaign;
mod check;
mod confirm;
mod differential;
mod equipment;
mod examine;
mod extreme;
mod foothold;
mod foresee;
mod fuzz;
mod injection;
mod minimise;
mod narrow;
mod pair;
mod property;
mod proving;
mod replay;
mod sequence;
mod shard;
mod shared;
mod suspicion;
mod trial;

pub use against::against;
pub use behave::{BehaveError, BehaveOptions, Behaved, Keep, behave};
pub use check::{CheckOptions, check};
pub use differential::{Taught, differential, learn};
pub use examine::examine;
pub use foresee::{Foreseen, foresee};
pub use fuzz::{FuzzError, FuzzOptions, fuzz};
pub use injection::inject;
pub use minimise::{Minimised, minimise};
pub use property::{PropertyOptions, RuleSet, property};
pub use replay::{Replay, Replayed, replay};
