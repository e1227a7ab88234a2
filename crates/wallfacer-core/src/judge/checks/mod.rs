//! The checks, one file each; this is the list.

mod accepted_invalid;
mod behaviour;
mod blow_up;
mod crash;
mod deed;
mod drift;
mod growth;
mod hang;
mod injection;
mod internal_error;
mod learned;
mod property;
mod protocol;
pub(super) mod reply;
mod schema_violation;
mod secret_leak;
mod sequence;

pub use behaviour::{Business, Said};
pub use crash::ended_as_told;
pub use injection::proof;
pub use internal_error::NAME as NO_INTERNAL_ERROR;
pub use protocol::startup_noise;
pub use secret_leak::leak;
pub use sequence::{Failure, sequence_charge};

use super::verdict::Check;

/// Every check that judges one case, the gravest first.
pub fn all() -> &'static [&'static dyn Check] {
    &[
        &crash::NoCrash,
        &hang::NoHang,
        &injection::NoInjection,
        &secret_leak::KeepsSecrets,
        &behaviour::KeepsWhatIsPlanted,
        &behaviour::LeavesSecretsAlone,
        &behaviour::OnlyReads,
        &behaviour::StaysInside,
        &behaviour::TakesNothingAway,
        &behaviour::ChangesOnce,
        &protocol::KeepsToTheProtocol,
        &internal_error::NoInternalError,
        &schema_violation::KeepsItsOutputSchema,
        &learned::KeepsItsForm,
        &drift::KeepsItsDeclaration,
        &growth::NoGrowth,
        &blow_up::NoBlowUp,
        &accepted_invalid::RefusesInvalid,
        &property::KeepsItsRule,
    ]
}
