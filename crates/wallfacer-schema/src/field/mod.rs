//! Realistic values and attacks for each kind of field that the lexicon knows.

pub(crate) mod attacks;
pub mod samples;
