//! What a [`Finding`] is, when two failures are one bug, what of it may be shown, and where it is stored. Pure but for
//! the corpus, which is a folder.

mod address;
mod baseline;
mod bug;
mod cause;
mod corpus;
mod diff;
mod disclosure;
mod encodings;
mod escapes;
mod finding;
mod given;
mod id;
mod inputs;
mod mark;
mod merge;
mod moment;
mod origin;
mod payload;
mod redaction;
mod repro;
mod restore;
#[cfg(test)]
mod schema;
mod search;
mod secrets;
mod stack;
mod substitution;
mod wording;

pub use address::{Missing, asked_for, stored_target, typed_target};
pub use baseline::{Acceptance, BASELINE_NAME, Baseline, BaselineError};
pub use bug::{Bug, BugMark, STAYS_HEALTHY, says_the_same};
pub use cause::Cause;
pub use corpus::{Corpus, CorpusError, Listing, Unreadable, read_finding, read_findings};
pub use diff::{Diff, Tried, diff};
pub use encodings::{LAYERS, pieces};
pub use escapes::{unbroken, unescape};
pub(crate) use finding::stored_target;
pub use finding::{Evidence, Finding, Reproduced, ServerName, Sighting, VARIABLE};
pub use given::Given;
pub use id::{FindingId, NotAnId};
pub use inputs::{InputStore, InputsError, KnownInputs};
pub use mark::Key;
pub use merge::merge;
pub use moment::rfc3339;
pub use origin::Origin;
pub use payload::is_planted;
pub use redaction::Redaction;
pub use repro::{NotReplayable, Repro};
pub use restore::restore;
#[cfg(test)]
pub(crate) use schema::published;
pub use secrets::{Secrets, replay_variable};

pub use crate::kind::{ABOUT, About, Kind, Reference, ReferenceKind};
pub use stack::top_frame;
