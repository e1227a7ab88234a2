//! What is done with stored findings: tried again, or made smaller.

mod minimise;
mod replay;
mod trial;

pub use minimise::{Minimised, minimise};
pub use replay::{Replay, Replayed, replay, usual_budget};
