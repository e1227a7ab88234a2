//! Every request must be answered in time. The charge is only a suspicion: slow is not hung, and the session finds out.
//! A call that waits for the network is not charged, nor one that the machine left no time for: that it waits says nothing
//! of the server.

use std::collections::BTreeMap;

use super::crash::silent_end;
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Disturbance, Step};
use crate::run::{Recording, Taken};
use crate::world::Traced;

/// Requests of one call to the same place after which it is waiting for another answer than it gets.
const ASKS_AGAIN: usize = 3;
/// Where the server was kept from working for more than this part of the time, its silence says nothing.
const BUSY: f64 = 0.75;

pub struct NoHang;

impl Check for NoHang {
    fn name(&self) -> &'static str {
        "no-hang"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, _: &Context) -> Verdict {
        let silent = seen.steps.iter().position(|step| step.answer == Answer::Silent);
        let Some(index) = silent else { return Verdict::Holds };
        // Whom a service keeps waiting is told by a check of its own.
        let services = |step: &Step| matches!(step, Step::Disturb(disturbance) if matches!(**disturbance, Disturbance::Services(_)));
        if case.steps.iter().any(services) {
            return Verdict::Holds;
        }
        // What is dead does not hang.
        if silent_end(recording, seen).is_some() {
            return Verdict::Holds;
        }
        let taken = recording.steps.get(index);
        if taken.is_some_and(|taken| taken.kept_waiting > taken.took.mul_f64(BUSY)) {
            return Verdict::Unknown("the machine was too busy to give the server its time".to_owned());
        }
        let traced = taken.and_then(|step| step.traced.as_ref());
        if traced.is_some_and(Traced::waits_for_network) {
            return Verdict::Unknown("the call waits for the network".to_owned());
        }
        if let Some(host) = taken.and_then(keeps_asking) {
            return Verdict::Unknown(format!(
                "the call keeps asking `{host}`, which the sandbox answers, and not as the service does"
            ));
        }
        let ms = seen.steps[index].took.as_millis() as u64;
        let what = match case.steps.get(index) {
            Some(Step::Probe) => "does not answer any more",
            _ => "gives no answer",
        };
        let (cause, message) = match case.in_flight() {
            0 | 1 => (Cause::silence(), format!("the server {what}")),
            calls => (
                Cause::rule(self.name(), Some("calls in flight together")),
                format!("the server leaves calls unanswered when {calls} are in flight at once"),
            ),
        };
        Verdict::Broken(Box::new(Charge::new(self.name(), Kind::Hang { ms }, cause, message)))
    }
}

/// The service that a call asks for the same again and again, as who waits for something to be done there does.
fn keeps_asking(taken: &Taken) -> Option<&str> {
    let mut times: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for fetched in taken.fetched.iter().flatten() {
        let path = fetched.path.split('?').next().unwrap_or_default();
        *times.entry((fetched.host.as_str(), path)).or_default() += 1;
    }
    times.into_iter().find(|(_, times)| *times >= ASKS_AGAIN).map(|((host, _), _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;
    use crate::observe::observe;
    use crate::plan::Intent;
    use crate::target::Version;
    use std::time::Duration;

    fn judged(kept_waiting: u64) -> Verdict {
        let took = Duration::from_secs(10);
        let kept_waiting = Duration::from_secs(kept_waiting);
        let silent = Taken { awaited: true, kept_waiting, ..Taken::unanswered("tools/call", took) };
        let recording = Recording { steps: vec![silent], stderr: None };
        let case = Case::tool("wait", serde_json::json!({}), Intent::Valid, 0);
        let context = Context::new(&Catalogue::default(), Version::V2025_11_25);
        NoHang.judge(&case, &recording, &observe(&recording), &context)
    }

    #[test]
    fn a_server_that_had_the_time_and_is_silent_is_suspected() {
        assert!(matches!(judged(0), Verdict::Broken(_)));
        assert!(matches!(judged(5), Verdict::Broken(_)));
    }

    #[test]
    fn nothing_is_said_of_a_server_that_the_machine_gave_no_time() {
        assert!(matches!(judged(9), Verdict::Unknown(_)));
    }
}
