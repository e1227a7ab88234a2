//! Ties the steps together: the only place where what was seen decides what is done next.

mod campaign;
mod check;
mod confirm;
mod examine;
mod fuzz;
mod minimise;
mod replay;
mod shard;
mod shared;
mod suspicion;
mod trial;

pub use check::{CheckOptions, check};
pub use examine::examine;
pub use fuzz::{FuzzError, FuzzOptions, fuzz};
pub use minimise::{Minimised, minimise};
pub use replay::{Replay, Replayed, replay};
