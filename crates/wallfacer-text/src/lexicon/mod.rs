//! The one lexicon of what names mean: what a field holds, and what a tool does. Generator, injections, suggestions and the
//! guard against destructive calls all ask here, so that `repo_path` is the same thing to each of them.

mod field;
mod verb;
mod words;

pub use field::FieldKind;
pub use verb::{Action, actions, does, is_verb};
pub use words::words;
