//! A schema in, finite lists of values out: on the boundary, invalid in one way, adversarial.
//! All three walk the same way: each place of the schema offers candidates for itself, which are set into
//! an otherwise valid value and then judged as a whole.

mod adversarial;
mod boundary;
mod invalid;
mod walk;
mod workshop;

pub use adversarial::Adversarial;
pub use boundary::Boundary;
pub use invalid::Invalid;

pub(crate) use adversarial::list as adversarial;
pub(crate) use boundary::list as boundary;
pub(crate) use invalid::list as invalid;
