//! What becomes of a server to which something happens in the middle of its work, by one question each.

mod cancelled;
mod elsewhere;
mod foreign;
mod halves;
mod instances;
mod lists;
mod progress;
mod reuse;
mod services;
mod session_ids;
mod slow_body;
mod stale;
mod survival;
mod unread;

pub use cancelled::StopsWhenCancelled;
pub use elsewhere::KeepsProcessesApart;
pub use foreign::RefusesForeignPages;
pub use halves::ReadsHalves;
pub use instances::TakesInstances;
pub use lists::ListsTheSame;
pub use progress::TellsProgress;
pub use reuse::KeepsConnections;
pub use services::BearsServices;
pub use session_ids::HidesSessionIds;
pub use slow_body::BearsSlowClients;
pub use stale::KnowsStaleSessions;
pub use survival::KeepsWhatIsStored;
pub use unread::WaitsForReaders;

use super::clients::said;
use crate::plan::{Case, Disk, Disturbance, Step};
use crate::run::{Aftermath, Recording, Taken};
use crate::wire::shortened;

/// What of a call and of its answer is told.
const SHOWN: usize = 300;

/// The disturbances of a case, with their places and what came of them.
fn disturbances<'a>(
    case: &'a Case,
    recording: &'a Recording,
) -> impl Iterator<Item = (usize, &'a Disturbance, &'a Taken)> {
    let steps = case.steps.iter().zip(&recording.steps).enumerate();
    steps.filter_map(|(place, (step, taken))| match step {
        Step::Disturb(disturbance) => Some((place, &**disturbance, taken)),
        _ => None,
    })
}

fn aftermath(taken: &Taken) -> Option<&Aftermath> {
    taken.aftermath.as_deref()
}

/// All that a step was answered; nothing where it was not.
fn answer(taken: &Taken) -> String {
    taken.outcome.as_ref().map(said).unwrap_or_default()
}

/// A step and its answer, for a person.
fn told(step: &Step, taken: &Taken) -> Option<String> {
    let doing = match step {
        Step::Disturb(disturbance) => match &**disturbance {
            Disturbance::Restart { killed: true } => {
                "SIGKILL, and started again with the same disk".to_owned()
            }
            Disturbance::Restart { killed: false } => {
                "ended as clients do, and started again with the same disk".to_owned()
            }
            Disturbance::Begin { request, .. } => {
                format!("{} is begun", called(&request.method, &request.params))
            }
            Disturbance::BesideAsks { request } => {
                format!("by a second process: {}", called(&request.method, &request.params))
            }
            Disturbance::Services(trouble) => format!("from here on each service {}", trouble.in_words()),
            Disturbance::Disk(disk) => match disk {
                Disk::Full => "from here on the disk is full".to_owned(),
                Disk::ReadOnly { .. } => {
                    "from here on the file that holds it, and its directory, are read-only".to_owned()
                }
                Disk::Vanished { .. } => "the file that holds it is removed".to_owned(),
                Disk::Well => "from here on the disk is as it was".to_owned(),
            },
            other => other.request().map(|request| called(&request.method, &request.params))?,
        },
        step => step.request().map(|(method, params)| called(method, params))?,
    };
    let answered = match (&taken.outcome, &taken.closed) {
        (Some(_), _) => format!("\n  → {}", shortened(&answer(taken), SHOWN)),
        (None, Some(_)) => "\n  → the server is gone".to_owned(),
        (None, None) if taken.awaited => "\n  → no answer".to_owned(),
        (None, None) => String::new(),
    };
    Some(format!("{doing}{answered}"))
}

fn called(method: &str, params: &serde_json::Map<String, serde_json::Value>) -> String {
    let name = params.get("name").and_then(serde_json::Value::as_str).unwrap_or(method);
    let arguments = params.get("arguments").map(ToString::to_string).unwrap_or_default();
    shortened(format!("{name} {arguments}").trim_end(), SHOWN)
}

/// The steps at these places and their answers, for a person.
fn all_told(case: &Case, recording: &Recording, places: &[usize]) -> String {
    let lines = places.iter().filter_map(|place| {
        let (step, taken) = (case.steps.get(*place)?, recording.steps.get(*place)?);
        told(step, taken)
    });
    lines.collect::<Vec<_>>().join("\n")
}
