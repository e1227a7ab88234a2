//! Who goes on with a session that is over must be told so by 404: then a client begins a new one. A session is over when the
//! server was started again, and when its client has ended it.

use super::{aftermath, disturbances};
use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Disturbance};
use crate::run::Recording;
use crate::target::Severity;
use crate::wire::Outcome;

pub struct KnowsStaleSessions;

impl Check for KnowsStaleSessions {
    fn name(&self) -> &'static str {
        "stale-sessions-are-not-found"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let stale = disturbances(case, recording).find_map(|(_, disturbance, taken)| match disturbance {
            Disturbance::Stale { .. } => Some((false, taken)),
            Disturbance::Ended { .. } => Some((true, taken)),
            _ => None,
        });
        let Some((ended, taken)) = stale else { return Verdict::Holds };
        if let Some(why) = aftermath(taken).and_then(|after| after.impossible.clone()) {
            return Verdict::Unknown(why);
        }
        let (status, severity, what) = match &taken.outcome {
            Some(Outcome::Refused { status: 404, .. }) | None => return Verdict::Holds,
            Some(Outcome::Refused { status, .. }) if *status >= 500 => {
                (status.to_string(), Severity::Medium, format!("is answered with HTTP {status}"))
            }
            Some(Outcome::Refused { status, .. }) => {
                (status.to_string(), Severity::Low, format!("is answered with HTTP {status}"))
            }
            Some(Outcome::Reply(_)) => {
                ("served".to_owned(), Severity::Low, "is served as if the session were there".to_owned())
            }
            Some(Outcome::Broken { .. } | Outcome::Lost(_)) => return Verdict::Holds,
        };
        let (part, when) = match ended {
            false => (status, "after a restart, a request under a session of before"),
            true => (
                format!("ended: {status}"),
                "after a client has ended its session with DELETE, a request under it",
            ),
        };
        let message = format!("{when} {what}, and not with HTTP 404");
        let cause = Cause::rule(self.name(), Some(&part)).server_wide();
        let kind = Kind::Conformance { rule: self.name().to_owned() };
        let mut charge = Charge::new(self.name(), kind, cause, message);
        charge.severity = Some(severity);
        charge.details =
            "Clients begin a new session when they are told 404, and give up on anything else.".to_owned();
        let text = "basic/transports#session-management".to_owned();
        charge.references = vec![Reference { kind: ReferenceKind::Spec, text }];
        Verdict::Broken(Box::new(charge))
    }
}
