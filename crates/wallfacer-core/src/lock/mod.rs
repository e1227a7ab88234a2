//! What a server declares and what it was seen to do in, [`Lock`] out: a file to commit, and what differs from it later.

mod compare;
mod drift;
mod file;

pub use compare::{Difference, Direction, compare};
pub use drift::drift;
pub use file::{BadLock, FILE_NAME, Lock, Locked};
