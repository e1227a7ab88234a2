//! Failures in, [`Finding`]s out: when two failures are one bug, what of them may be shown, and where they are kept.
//! Pure but for the corpus, which is a folder.

mod cause;
mod disclosure;
mod finding;
mod id;
mod kind;
mod merge;
mod origin;
mod payload;
mod redaction;
mod repro;
mod secrets;
mod stack;
mod wording;

pub use cause::Cause;
pub use finding::{Evidence, Finding, Reference, ReferenceKind, Reproduced, ServerName};
pub use id::{FindingId, NotAnId};
pub use kind::Kind;
pub use merge::merge;
pub use origin::Origin;
pub use redaction::{Redaction, restore};
pub use repro::{NotReplayable, Repro};
pub use secrets::{Secrets, replay_variable};
pub use wording::Given;
