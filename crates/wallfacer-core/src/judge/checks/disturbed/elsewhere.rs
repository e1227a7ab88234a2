//! Behind a load balancer, a session may be led to a process that does not know it. It must be refused there, or served, and
//! never be taken for the session of somebody else.

use super::{aftermath, disturbances};
use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Disturbance};
use crate::run::Recording;

pub struct KeepsProcessesApart;

impl Check for KeepsProcessesApart {
    fn name(&self) -> &'static str {
        "sessions-of-processes-are-apart"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let elsewhere = disturbances(case, recording).find_map(|(_, disturbance, taken)| match disturbance {
            Disturbance::Elsewhere { .. } => Some((taken, aftermath(taken)?)),
            _ => None,
        });
        let Some((taken, after)) = elsewhere else { return Verdict::Holds };
        let Some(shown) = &after.elsewhere else {
            let why = after.impossible.clone().or_else(|| after.refused.clone());
            return Verdict::Unknown(why.unwrap_or_else(|| "no second process was tried".to_owned()));
        };
        let cause = |part: &str| Cause::rule(self.name(), Some(part)).server_wide();
        let silent = taken.awaited && taken.outcome.is_none() && taken.closed.is_none();
        let charge = if shown.to_its_own && shown.to_ours && !shown.to_another {
            let message = "a session that one process of the server began is taken by a second process for the session of another \
                           client, and is shown what that has stored"
                .to_owned();
            let mut charge = Charge::new(self.name(), Kind::StateLeak, cause("taken for another"), message);
            charge.details = "A further session with the second process is not shown it. Draw the ids of sessions at random in each \
                              process, from a source that is not the same at each start."
                .to_owned();
            charge.references = vec![Reference { kind: ReferenceKind::Cwe, text: "CWE-488".to_owned() }];
            charge
        } else if silent && taken.kept_waiting <= taken.took / 2 {
            let message =
                "a request under a session that another process of the server began is never answered"
                    .to_owned();
            let mut charge = Charge::new(
                self.name(),
                Kind::Hang { ms: taken.took.as_millis() as u64 },
                cause("never answered"),
                message,
            );
            charge.details =
                "Refuse with 404 what is not known: then a client begins a new session.".to_owned();
            charge
        } else {
            return Verdict::Holds;
        };
        Verdict::Broken(Box::new(charge))
    }
}
