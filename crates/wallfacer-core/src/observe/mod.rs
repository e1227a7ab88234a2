//! [`Recording`](crate::run::Recording) in, [`Observation`] out: frames, exits and silences as facts.
//! Pure from here on.

mod answer;
mod examination;

pub use answer::{Answer, Observation, Seen, observe, see};
pub use examination::Examination;
