//! Shows text that a server wrote so that nothing in it acts: not on a terminal, not in the log of a CI system, not where
//! Markdown is rendered.
//!
//! Every other crate asks here which characters act and how they are shown; nobody else has a list of them.

mod command;
mod json;
mod letter;
pub mod lexicon;
mod markdown;
mod page;
mod shown;

pub use json::json;
pub use letter::acts;
pub use markdown::markdown;
pub use page::page;
pub use shown::{shortened, shown};
