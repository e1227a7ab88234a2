//! Interprets a [`Recording`](crate::run::Recording) as an [`Observation`]: frames, exits and silences as facts. Pure
//! from here on.

mod answer;
mod effects;
mod examination;

pub use answer::{Answer, Observation, Seen, observe, read_outcome, see};
pub use effects::{
    BadNoise, Behaviour, Contact, Done, Effects, Executed, Noise, Place, Places, Tokens, Touch, Whose, gather,
};
pub use examination::Examination;
