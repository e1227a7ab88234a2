//! Each client starts a server of its own, so a second one must start while the first is there.

use super::{aftermath, disturbances};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Disturbance};
use crate::run::Recording;
use crate::target::Severity;
use crate::wire::shortened;

/// A server may say plainly that there is to be one of it; that is its right.
const PLAIN: [&str; 4] = ["already running", "another instance", "only one instance", "single instance"];
const SHOWN: usize = 300;

pub struct TakesInstances;

impl Check for TakesInstances {
    fn name(&self) -> &'static str {
        "takes-a-second-instance"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let mut second = disturbances(case, recording)
            .filter(|(_, disturbance, _)| **disturbance == Disturbance::Beside)
            .filter_map(|(_, _, taken)| aftermath(taken));
        let Some(second) = second.next() else { return Verdict::Holds };
        let Some(refused) = &second.refused else {
            return second.impossible.clone().map_or(Verdict::Holds, Verdict::Unknown);
        };
        let said = refused.to_lowercase();
        if PLAIN.iter().any(|words| said.contains(words)) {
            return Verdict::Unknown("it says that there can only be one of it".to_owned());
        }
        let message =
            format!("a second instance does not start while another one runs: {}", shortened(refused, SHOWN));
        let cause = Cause::rule(self.name(), None).server_wide();
        let mut charge = Charge::new(self.name(), Kind::Race, cause, message);
        charge.severity = Some(Severity::Medium);
        charge.details = "Both had the same files, locks and ports, as on the machine of somebody who uses two clients. Alone it \
                          starts with the same files."
            .to_owned();
        Verdict::Broken(Box::new(charge.with("start", refused.clone())))
    }
}
