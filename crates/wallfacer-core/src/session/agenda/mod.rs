//! Decides what is done next: which tools are called, how much time there is, and whose turn it is.

mod budget;
mod selection;
mod turns;

pub use budget::Budget;
pub use selection::{Selection, Wishes};
pub use turns::Turns;
