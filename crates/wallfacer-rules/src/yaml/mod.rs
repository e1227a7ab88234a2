//! Reads YAML text as a tree of [`Node`]s, each with its place, and prints the tree as text again.

mod mask;
mod print;
mod read;
mod scalar;
mod tree;

pub(crate) use print::print;
pub(crate) use read::read;
pub(crate) use scalar::resolve;
pub(crate) use tree::{Data, Entry, Key, Node};
