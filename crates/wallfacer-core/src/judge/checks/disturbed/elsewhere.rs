//! What is stored in one session is shown to no other client. Behind a load balancer, a session may be led to a process that does not know it. It must be refused there, or served, and
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
            Disturbance::Elsewhere { .. } => Some((false, taken, aftermath(taken)?)),
            Disturbance::Nameless { .. } => Some((true, taken, aftermath(taken)?)),
            _ => None,
        });
        let Some((nameless, taken, after)) = elsewhere else { return Verdict::Holds };
        let Some(shown) = &after.elsewhere else {
            let why = after.impossible.clone().or_else(|| after.refused.clone());
            return Verdict::Unknown(why.unwrap_or_else(|| "nothing of that was tried".to_owned()));
        };
        let cause = |part: &str| Cause::rule(self.name(), Some(part)).server_wide();
        let silent = taken.awaited && taken.outcome.is_none() && taken.closed.is_none();
        let to_one_alone = shown.to_its_own && shown.to_ours && !shown.to_another;
        let charge = if nameless && to_one_alone {
            let message =
                "a request that names no session is shown what another client has stored in its own"
                    .to_owned();
            let mut charge = Charge::new(self.name(), Kind::StateLeak, cause("without a session"), message);
            charge.details =
                "A further session is not shown it. Refuse with 400 what names no session.".to_owned();
            charge.references = vec![Reference { kind: ReferenceKind::Cwe, text: "CWE-488".to_owned() }];
            charge
        } else if nameless {
            return Verdict::Holds;
        } else if to_one_alone {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::observe::observe;
    use crate::plan::{Intent, Request, Step};
    use crate::run::{Aftermath, Elsewhere, Taken};
    use crate::target::Version;
    use std::time::Duration;

    fn judged(elsewhere: Option<Elsewhere>) -> Verdict {
        let request = || Request::tool("list", serde_json::json!({}));
        let disturbance = Disturbance::Elsewhere { plant: request(), request: request() };
        let case = Case {
            steps: vec![Step::Disturb(Box::new(disturbance))],
            ..Case::tool("list", serde_json::json!({}), Intent::Example, 0)
        };
        let aftermath = Some(Box::new(Aftermath { elsewhere, ..Aftermath::default() }));
        let taken = Taken { aftermath, ..Taken::unanswered("tools/call", Duration::ZERO) };
        let recording = Recording { steps: vec![taken], stderr: None };
        let context = Context::new(&Catalogue::default(), Version::V2025_11_25);
        KeepsProcessesApart.judge(&case, &recording, &observe(&recording), &context)
    }

    #[test]
    fn what_only_one_session_is_shown_must_not_be_shown_to_that_of_another_process() {
        let shown = |to_another, to_ours| Some(Elsewhere { to_its_own: true, to_another, to_ours });
        assert!(matches!(judged(shown(false, true)), Verdict::Broken(_)));
        assert!(matches!(judged(shown(false, false)), Verdict::Holds));
        // It is shared by all.
        assert!(matches!(judged(shown(true, true)), Verdict::Holds));
        assert!(matches!(judged(None), Verdict::Unknown(_)));
    }
}
