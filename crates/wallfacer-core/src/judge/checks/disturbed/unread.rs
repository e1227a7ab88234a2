//! A client that reads nothing for a while must be answered once it reads again.

use super::{aftermath, disturbances};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Disturbance};
use crate::run::Recording;

pub struct WaitsForReaders;

impl Check for WaitsForReaders {
    fn name(&self) -> &'static str {
        "waits-for-readers"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let unread = disturbances(case, recording).find_map(|(_, disturbance, taken)| match disturbance {
            Disturbance::Unread { times, ms, .. } => Some((*times, *ms, taken, aftermath(taken)?.unanswered)),
            _ => None,
        });
        let Some((times, ms, taken, unanswered)) = unread.filter(|(.., unanswered)| *unanswered > 0) else {
            return Verdict::Holds;
        };
        if taken.closed.is_some() {
            return Verdict::Holds;
        }
        if taken.kept_waiting > taken.took / 2 {
            return Verdict::Unknown("the machine was too busy to give the server its time".to_owned());
        }
        let message = format!(
            "{unanswered} of {times} requests are never answered when the client reads nothing for {:.1} s",
            ms as f64 / 1_000.0
        );
        let cause = Cause::rule(self.name(), None).server_wide();
        let kind = Kind::Hang { ms: taken.took.as_millis() as u64 };
        let mut charge = Charge::new(self.name(), kind, cause, message);
        charge.details = "A pipe takes some 64 KiB. Whoever writes more must wait until it is read, and must not throw away \
                          what does not fit."
            .to_owned();
        Verdict::Broken(Box::new(charge))
    }
}
