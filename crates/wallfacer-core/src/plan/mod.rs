//! [`Catalogue`](crate::catalogue::Catalogue) in, [`Case`]s out: what to try, in which order, and why.

mod case;
mod frame;
mod payload;

pub use case::{Case, Intent, Step, Subject};
pub use frame::RawFrame;
pub use payload::{compact, expand};
