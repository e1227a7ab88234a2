//! Reads a tree of YAML as the rules that are meant; everything wrong on the way is put down with its place.

mod assertion;
mod data;
mod fields;
mod fixture;
mod generate;
mod kinds;
mod metadata;
mod quote;
mod reader;
mod rule;
mod selector;
mod sequence;

pub(crate) use fields::{Fields, Keys};
pub(crate) use metadata::metadata;
pub(crate) use reader::{LATEST, Reader};
pub(crate) use rule::{body, check_name, rule};
pub(crate) use selector::{Selector, selector};
pub(crate) use sequence::sequence;
