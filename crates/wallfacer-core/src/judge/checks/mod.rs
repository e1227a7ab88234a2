//! The checks, one file each; this is the list.

mod accepted_invalid;
mod behaviour;
mod blow_up;
pub(super) mod clients;
mod crash;
mod deed;
mod disturbed;
mod drift;
mod ends_when_told;
mod growth;
mod hang;
mod health;
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
pub use health::{about_culprits, broken, health_call, health_case, spoiled};
pub use injection::proof;
pub use internal_error::NAME as NO_INTERNAL_ERROR;
pub use protocol::startup_noise;
pub use secret_leak::leak;
pub use sequence::{Failure, sequence_charge};

use super::verdict::{Check, Concern};

/// Every check that judges one case, the gravest first, with what it is about.
pub fn all() -> &'static [(Concern, &'static dyn Check)] {
    &[
        (Concern::Answers, &crash::NoCrash),
        (Concern::Answers, &hang::NoHang),
        (Concern::Answers, &health::StaysHealthy),
        (Concern::Injection, &injection::NoInjection),
        (Concern::Answers, &secret_leak::KeepsSecrets),
        (Concern::Behaviour, &behaviour::KeepsWhatIsPlanted),
        (Concern::Behaviour, &behaviour::LeavesSecretsAlone),
        (Concern::Behaviour, &behaviour::OnlyReads),
        (Concern::Behaviour, &behaviour::StaysInside),
        (Concern::Behaviour, &behaviour::TakesNothingAway),
        (Concern::Behaviour, &behaviour::ChangesOnce),
        (Concern::Answers, &clients::TakesClients),
        (Concern::Answers, &clients::AnswersInCompany),
        (Concern::Answers, &clients::KeepsWhatIsWritten),
        (Concern::Answers, &clients::KeepsSessionsApart),
        (Concern::Answers, &disturbed::KeepsWhatIsStored),
        (Concern::Answers, &disturbed::RefusesForeignPages),
        (Concern::Answers, &disturbed::KeepsProcessesApart),
        (Concern::Answers, &disturbed::BearsServices),
        (Concern::Answers, &disturbed::HidesSessionIds),
        (Concern::Answers, &disturbed::TakesInstances),
        (Concern::Answers, &disturbed::WaitsForReaders),
        (Concern::Answers, &disturbed::ReadsHalves),
        (Concern::Answers, &disturbed::KeepsConnections),
        (Concern::Answers, &protocol::KeepsToTheProtocol),
        (Concern::Answers, &internal_error::NoInternalError),
        (Concern::Answers, &schema_violation::KeepsItsOutputSchema),
        (Concern::Answers, &learned::KeepsItsForm),
        (Concern::Answers, &drift::KeepsItsDeclaration),
        (Concern::Answers, &growth::NoGrowth),
        (Concern::Answers, &ends_when_told::EndsWhenTold),
        (Concern::Answers, &disturbed::StopsWhenCancelled),
        (Concern::Answers, &disturbed::KnowsStaleSessions),
        (Concern::Answers, &disturbed::BearsSlowClients),
        (Concern::Answers, &disturbed::TellsProgress),
        (Concern::Answers, &disturbed::ListsTheSame),
        (Concern::Injection, &blow_up::NoBlowUp),
        (Concern::Answers, &accepted_invalid::RefusesInvalid),
        (Concern::Rules, &property::KeepsItsRule),
    ]
}
