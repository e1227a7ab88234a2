//! Runs a [`Case`](crate::plan::Case) and gives its [`Recording`]. The only step that waits on the server. Nothing is
//! interpreted here, so that a check needs no server.

mod aftermath;
mod call;
mod disturbed;
mod gate;
mod held_up;
mod history;
mod ledger;
mod life;
mod patience;
mod recording;
mod reserve;
mod runner;
mod together;

pub use aftermath::{Aftermath, Elsewhere, Meanwhile, Progress};
pub use call::{Call, execute};
pub use gate::{Gate, Turn, Urgency};
pub use history::{Asked, History, Refused};
pub use ledger::{Ledger, Start};
pub use life::Life;
pub use patience::Patience;
pub use recording::{Fetched, Mark, Recording, Taken};
pub use reserve::Reserve;
pub use runner::{Foreman, LATE_DEATH_MS, Runner, Unexplained};
