//! Judges an [`Observation`] by every check, one file each, and gives their [`Verdict`]s.

mod blame;
mod charge;
mod checks;
mod context;
mod disagreement;
mod history;
mod observations;
mod response;
mod secrets;
mod upstream;
mod verdict;
mod watched;

pub use blame::{Blame, blame, blame_of, excuse, lacks_program, may_be_of_world};
pub use charge::Charge;
pub use checks::clients::{
    DEADLOCK, IN_COMPANY, MISSING, Reply as ClientReply, TURNED_AWAY, is_counter, replies, risen,
};
pub use checks::reply::is_complete;
pub use checks::{
    Failure, about_culprits, all, broken, ended_as_told, health_call, health_case, leak, proof,
    sequence_charge, spoiled, startup_noise,
};
pub use context::{Context, Output, ToolFacts};
pub use disagreement::{Disagreement, Reply, disagreements, listed_disagreements};
pub use history::{Act, Anomaly, Done, Operation, Shown, anomalies};
pub use observations::{left_running, observations};
pub use response::{response, unanswered};
pub use secrets::{Given, Owner, Secrets};
pub use verdict::{Check, Concern, Verdict};
pub use watched::Watched;

use crate::findings::Kind;
use crate::observe::Observation;
use crate::plan::Case;
use crate::run::Recording;
use checks::NO_INTERNAL_ERROR;

/// What every check says of one case.
#[derive(Debug, Default)]
pub struct Judgement {
    /// What is not in order.
    pub charges: Vec<Charge>,
    /// Why the rule of the case says nothing, where it does not.
    pub unknown: Option<String>,
    /// What the world of the server lacked for the case to test anything, where its error says so.
    pub lacking: Option<String>,
}

/// What every check says of one case; only what is not in order.
pub fn judge(case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Vec<Charge> {
    weigh(case, recording, seen, context).charges
}

/// The same, with what cannot be said.
pub fn weigh(case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Judgement {
    let mut judgement = Judgement::default();
    for (concern, check) in all() {
        match check.judge(case, recording, seen, context) {
            Verdict::Broken(charge) if concerns(case, &charge) => {
                judgement.charges.push(Charge { concern: *concern, ..*charge });
            }
            Verdict::Unknown(why) if case.claim.is_some() => judgement.unknown = Some(why),
            Verdict::Unknown(why) if check.name() == NO_INTERNAL_ERROR => judgement.lacking = Some(why),
            Verdict::Broken(_) | Verdict::Holds | Verdict::Unknown(_) => {}
        }
    }
    judgement
}

/// A rule is about what it says. Beside it only what makes its question meaningless is told.
fn concerns(case: &Case, charge: &Charge) -> bool {
    let always = matches!(
        charge.kind,
        Kind::Crash | Kind::Hang { .. } | Kind::ProtocolError | Kind::PropertyFailure { .. }
    );
    always || case.claim.is_none()
}
