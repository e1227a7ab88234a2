//! What was found in, text out: one file per format. Nothing is printed here.

mod examination;
mod fuzzed;
mod json;

pub use examination::examination;
pub use fuzzed::{fuzzed, fuzzed_json};
pub use json::examination as examination_json;
