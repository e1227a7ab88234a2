//! A call that was taken back must not go on, and must not be answered.

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

/// An answer that comes sooner may have been on its way.
const ON_ITS_WAY: Duration = Duration::from_millis(500);
/// Who uses this part of a processor is at work.
const AT_WORK: f64 = 0.4;
/// A shorter time shows nothing.
const WATCHED: Duration = Duration::from_secs(1);

pub struct StopsWhenCancelled;

impl Check for StopsWhenCancelled {
    fn name(&self) -> &'static str {
        "stops-when-cancelled"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let cancelled = disturbances(case, recording).find_map(|(_, disturbance, taken)| match disturbance {
            Disturbance::Cancel { .. } => aftermath(taken),
            _ => None,
        });
        let Some(after) = cancelled else { return Verdict::Holds };
        let working = after.worked.is_some_and(|(worked, watched)| {
            watched >= WATCHED && worked.as_secs_f64() >= AT_WORK * watched.as_secs_f64()
        });
        let late = after.answered_after.filter(|late| *late >= ON_ITS_WAY);
        let (part, kind, message) = if after.still_running > 0 {
            let what = match after.still_running {
                1 => "a process that it started is still there".to_owned(),
                more => format!("{more} processes that it started are still there"),
            };
            ("processes stay", Kind::ResourceGrowth, format!("after the call was cancelled, {what}"))
        } else if working && late.is_none() {
            let message = "after the call was cancelled, the server goes on working on it".to_owned();
            ("goes on working", Kind::ResourceGrowth, message)
        } else if let Some(late) = late {
            let rule = "cancelled-calls-are-not-answered".to_owned();
            let message = format!(
                "the call is answered all the same, {:.1} s after it was cancelled",
                late.as_secs_f64()
            );
            ("is answered", Kind::Conformance { rule }, message)
        } else {
            return Verdict::Holds;
        };
        let cause = Cause::rule(self.name(), Some(part));
        let mut charge = Charge::new(self.name(), kind, cause, message);
        charge.severity = Some(Severity::Low);
        charge.references =
            vec![Reference { kind: ReferenceKind::Spec, text: "basic/utilities/cancellation".to_owned() }];
        Verdict::Broken(Box::new(charge))
    }
}
