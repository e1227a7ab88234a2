//! A server must go when its client does. What stays is left running on the user's machine, one more with each session.

use std::time::Duration;

use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Disturbance, Step};
use crate::run::Recording;
use crate::target::Severity;

/// What clients give a server to leave.
const CLIENTS_WAIT: Duration = Duration::from_secs(5);

pub struct EndsWhenTold;

impl Check for EndsWhenTold {
    fn name(&self) -> &'static str {
        "ends-when-told"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let stays = case.steps.iter().zip(&recording.steps).find_map(|(step, taken)| {
            let what = match step {
                Step::CloseInput => "its input was closed",
                Step::Signal(15) => "SIGTERM",
                _ => return None,
            };
            let gone = taken.closed.as_ref().is_some_and(|closed| closed.ending.is_some());
            let busy = taken.kept_waiting > CLIENTS_WAIT / 2;
            (!gone && !busy && taken.took >= CLIENTS_WAIT).then_some(what)
        });
        let (part, message, left) = match stays {
            Some(what) => {
                let message =
                    format!("the server is still running {} s after {what}", CLIENTS_WAIT.as_secs());
                (what.to_owned(), message, String::new())
            }
            None => match self.left_behind(case, recording) {
                Some(left_behind) => left_behind,
                None => return Verdict::Holds,
            },
        };
        let cause = Cause::rule(self.name(), Some(&part)).server_wide();
        let mut charge = Charge::new(self.name(), Kind::ResourceGrowth, cause, message);
        charge.severity = Some(Severity::Low);
        charge.details =
            "Clients close the input of a server and expect it to end. Those that are killed can do nothing \
                          else, and what does not end then stays."
                .to_owned();
        charge.references =
            vec![Reference { kind: ReferenceKind::Spec, text: "basic/lifecycle#shutdown".to_owned() }];
        Verdict::Broken(Box::new(charge.with("still running", left)))
    }
}

impl EndsWhenTold {
    /// The server is gone, and what it had started is not.
    fn left_behind(&self, case: &Case, recording: &Recording) -> Option<(String, String, String)> {
        case.steps.iter().zip(&recording.steps).find_map(|(step, taken)| {
            let what = match step {
                Step::CloseInput => "its input was closed",
                Step::Signal(15) => "SIGTERM",
                Step::Disturb(disturbance) if **disturbance == Disturbance::KillLauncher => {
                    "the program that started it was killed and its input closed"
                }
                _ => return None,
            };
            let left = taken.aftermath.as_ref().map(|after| &after.left).filter(|left| !left.is_empty())?;
            let processes = match left.len() {
                1 => "1 process is".to_owned(),
                more => format!("{more} processes are"),
            };
            let message = format!("{processes} still running {} s after {what}", CLIENTS_WAIT.as_secs());
            Some((format!("left behind after {what}"), message, left.join("\n")))
        })
    }
}
