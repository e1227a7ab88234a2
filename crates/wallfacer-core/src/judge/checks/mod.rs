//! The checks, one file each; this is the list.

mod accepted_invalid;
mod crash;
mod hang;
mod internal_error;
mod protocol;
mod reply;
mod schema_violation;

use super::verdict::Check;

/// Every check that judges one case, the gravest first.
pub fn all() -> &'static [&'static dyn Check] {
    &[
        &crash::NoCrash,
        &hang::NoHang,
        &protocol::KeepsToTheProtocol,
        &internal_error::NoInternalError,
        &schema_violation::KeepsItsOutputSchema,
        &accepted_invalid::RefusesInvalid,
    ]
}
