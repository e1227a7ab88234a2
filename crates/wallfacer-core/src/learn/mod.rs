//! Learns what the answers of a tool look like: a shape that later answers are held against, the file that it is
//! written to, and the places where two answers differ.

mod answers;
mod canonical;
mod differ;
mod file;
mod shape;

pub use answers::{Answers, Sight, answer};
pub use canonical::{meaning, sorted};
pub use differ::{Difference, differences};
pub use file::{BadLearned, Entry, FILE_NAME, Form, Learned};
pub use shape::Shape;
