//! Runs a [`Case`](crate::plan::Case) and gives its [`Recording`]. The only step that waits on the server. Nothing is
//! interpreted here, so that a check needs no server.

mod call;
mod held_up;
mod life;
mod patience;
mod recording;
mod runner;

pub use call::{Call, execute};
pub use life::Life;
pub use patience::Patience;
pub use recording::{Mark, Recording, Taken};
pub use runner::{Foreman, Runner, Unexplained};
