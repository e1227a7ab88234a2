//! Writes down what a server declares and what it was seen to do in a [`Lock`], a file to commit, and tells later what
//! differs from it.

mod compare;
mod drift;
mod file;

pub use compare::{Difference, Direction, Texts, compare};
pub use drift::drift;
pub use file::{BadLock, FILE_NAME, Lock, Locked};
