//! Judges an [`Assertion`] about one call, and gives a [`Verdict`].

mod assertion;
mod budget;
mod context;
mod equal;
mod list;
mod number;
mod show;
mod verdict;

pub(crate) use assertion::{Outcome, judge_all};
pub(crate) use budget::{BYTES_PER_STEP, Budget, Unknown};
pub(crate) use context::Scope;
pub use context::{Context, Known};
pub(crate) use equal::{compare, equal};
pub(crate) use show::show;
pub use verdict::Verdict;

use crate::assertion::Assertion;

/// What one assertion says about one call.
pub fn evaluate(assertion: &Assertion, context: &Context<'_>) -> Verdict {
    judge_all(std::slice::from_ref(assertion), context)
}
