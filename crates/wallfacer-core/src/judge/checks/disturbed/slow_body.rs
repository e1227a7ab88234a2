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

/// Who is answered only once the whole request is there was kept waiting by it, unless this part of the time has another cause.
const BUSY: f64 = 0.5;

pub struct BearsSlowClients;

impl Check for BearsSlowClients {
    fn name(&self) -> &'static str {
        "bears-slow-clients"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let slow = disturbances(case, recording).find_map(|(place, disturbance, taken)| match disturbance {
            Disturbance::SlowBody { ms, .. } => {
                Some((place, Duration::from_millis(*ms), aftermath(taken)?.meanwhile.as_ref()?))
            }
            _ => None,
        });
        let Some((place, pause, meanwhile)) = slow else { return Verdict::Holds };
        // An answer that comes before the rest of the request was sent did not wait for it.
        if meanwhile.took < meanwhile.slow_for {
            return Verdict::Holds;
        }
        if meanwhile.kept_waiting > meanwhile.took.mul_f64(BUSY) {
            return Verdict::Unknown("the machine was too busy to give the server its time".to_owned());
        }
        let before = recording.steps[..place].iter().map(|step| step.took).max().unwrap_or_default();
        if before > meanwhile.took.mul_f64(BUSY) {
            return Verdict::Unknown("it takes as long when nobody is slow".to_owned());
        }
        let (pause, waited) = (pause.as_secs_f64(), meanwhile.took.as_secs_f64());
        let message = match meanwhile.answered {
            true => format!("while one client sends its request slowly, others wait: {waited:.1} s here"),
            false => {
                format!(
                    "while one client sends its request slowly, over {pause:.1} s, others are not answered"
                )
            }
        };
        let cause = Cause::rule(self.name(), None).server_wide();
        let kind = Kind::Hang { ms: meanwhile.took.as_millis() as u64 };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::observe::observe;
    use crate::plan::{Intent, Request, Step};
    use crate::run::{Aftermath, Meanwhile, Taken};
    use crate::target::Version;

    /// What is said of another client's wait while one sends its request over 2.5 s.
    fn judged(took: u64, kept_waiting: u64) -> Verdict {
        let request = Request::tool("wait", serde_json::json!({}));
        let steps = vec![Step::Disturb(Box::new(Disturbance::SlowBody { ms: 2_500, request }))];
        let case = Case { steps, ..Case::tool("wait", serde_json::json!({}), Intent::Example, 0) };
        let millis = Duration::from_millis;
        let (took, kept_waiting) = (millis(took), millis(kept_waiting));
        let meanwhile = Meanwhile { slow_for: millis(2_200), took, kept_waiting, answered: true };
        let aftermath = Some(Box::new(Aftermath { meanwhile: Some(meanwhile), ..Aftermath::default() }));
        let taken = Taken { aftermath, ..Taken::unanswered("slow client", took) };
        let recording = Recording { steps: vec![taken], stderr: None };
        let context = Context::new(&Catalogue::default(), Version::V2025_11_25);
        BearsSlowClients.judge(&case, &recording, &observe(&recording), &context)
    }

    #[test]
    fn who_is_answered_only_with_the_end_of_another_request_has_waited_for_it() {
        assert!(matches!(judged(2_203, 0), Verdict::Broken(_)));
        assert!(matches!(judged(2_203, 1_000), Verdict::Broken(_)));
        assert!(matches!(judged(2_190, 0), Verdict::Holds));
        assert!(matches!(judged(2_300, 1_400), Verdict::Unknown(_)));
    }
}
