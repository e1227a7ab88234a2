//! Failures in, [`Finding`]s out: when two failures are one bug, what of them may be shown, and where they are kept.
//! Pure but for the corpus, which is a folder.

mod cause;
mod finding;
mod id;
mod kind;
mod origin;
mod repro;
mod stack;
mod wording;

pub use cause::Cause;
pub use finding::{Evidence, Finding, Reference, ReferenceKind, Reproduced, ServerName};
pub use id::{FindingId, NotAnId};
pub use kind::Kind;
pub use origin::Origin;
pub use repro::{NotReplayable, Repro};
pub use wording::Given;
