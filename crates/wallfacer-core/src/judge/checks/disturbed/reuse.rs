//! A request that is refused must not spoil the connection for the one behind it.

use super::{aftermath, disturbances};
use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Disturbance};
use crate::run::Recording;
use crate::wire::Outcome;

pub struct KeepsConnections;

impl Check for KeepsConnections {
    fn name(&self) -> &'static str {
        "connections-outlive-a-refusal"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let reused = disturbances(case, recording).find_map(|(_, disturbance, taken)| match disturbance {
            Disturbance::Reuse { .. } => Some((taken, aftermath(taken)?)),
            _ => None,
        });
        let Some((taken, after)) = reused else { return Verdict::Holds };
        if let Some(why) = &after.impossible {
            return Verdict::Unknown(why.clone());
        }
        if after.answered_alone != Some(true) || taken.closed.is_some() {
            return Verdict::Unknown(
                "the request is not answered on a connection of its own either".to_owned(),
            );
        }
        let (part, what) = match &taken.outcome {
            // Who closes a connection may do so at any time.
            Some(Outcome::Reply(_) | Outcome::Lost(_)) => return Verdict::Holds,
            Some(Outcome::Refused { status, .. }) => ("refused", format!("is answered with HTTP {status}")),
            Some(Outcome::Broken { faults, .. }) => {
                ("broken", format!("is not answered as it should be: {faults}"))
            }
            None if taken.kept_waiting > taken.took / 2 => {
                return Verdict::Unknown("the machine was too busy to give the server its time".to_owned());
            }
            None => ("missing", "is never answered".to_owned()),
        };
        let message = format!("after a request was refused, the next one on the same connection {what}");
        let cause = Cause::rule(self.name(), Some(part)).server_wide();
        let mut charge = Charge::new(self.name(), Kind::ProtocolError, cause, message);
        charge.details = "On a connection of its own the same request is answered. Read the body of a request also where it is \
                          refused, or close the connection and say so; what is left of it is taken for the next request."
            .to_owned();
        charge.references = vec![Reference { kind: ReferenceKind::Cwe, text: "CWE-444".to_owned() }];
        Verdict::Broken(Box::new(charge))
    }
}
