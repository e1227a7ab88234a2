//! A client that sends its request slowly must not keep others waiting.

use std::time::Duration;

use super::{aftermath, disturbances};
use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Disturbance};
use crate::run::Recording;
use crate::target::Severity;

/// Who waits for this part of the pause, without the time that the machine took, waits for its end.
const UNTIL_ITS_END: f64 = 0.5;

pub struct BearsSlowClients;

impl Check for BearsSlowClients {
    fn name(&self) -> &'static str {
        "bears-slow-clients"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let slow = disturbances(case, recording).find_map(|(_, disturbance, taken)| match disturbance {
            Disturbance::SlowBody { ms, .. } => {
                Some((Duration::from_millis(*ms), aftermath(taken)?.meanwhile?))
            }
            _ => None,
        });
        let Some((pause, (waited, answered))) = slow else { return Verdict::Holds };
        if waited < pause.mul_f64(UNTIL_ITS_END) {
            return Verdict::Holds;
        }
        let pause = pause.as_secs_f64();
        let message = match answered {
            true => format!("while one client sends its request slowly, others wait: {pause:.1} s here"),
            false => {
                format!(
                    "while one client sends its request slowly, over {pause:.1} s, others are not answered"
                )
            }
        };
        let cause = Cause::rule(self.name(), None).server_wide();
        let kind = Kind::Hang { ms: waited.as_millis() as u64 };
        let mut charge = Charge::new(self.name(), kind, cause, message);
        charge.severity = Some(Severity::Low);
        charge.details =
            "One client that sends the half of a request and nothing more stops the server for all. Read requests side by \
             side, and give each a time limit."
                .to_owned();
        charge.references = vec![Reference { kind: ReferenceKind::Cwe, text: "CWE-400".to_owned() }];
        Verdict::Broken(Box::new(charge))
    }
}
