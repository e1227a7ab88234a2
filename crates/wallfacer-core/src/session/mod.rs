//! Ties the steps together: the only place where what was seen decides what is done next.

mod check;
mod confirm;
mod examine;
mod fuzz;
mod shard;

pub use check::{CheckOptions, check};
pub use examine::examine;
pub use fuzz::{FuzzError, FuzzOptions, fuzz};
