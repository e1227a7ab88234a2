//! What a field is for, guessed from its name and description; realistic values and attacks for each kind.

pub(crate) mod attacks;
pub(crate) mod kind;
pub(crate) mod samples;
mod words;
