//! The same call a second time must change nothing more, where a tool says so. Seen by files that are other than after
//! the first call; a file that was written again and is as long as before counts as the same.

use super::{declared, named, with_files};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Observation, Place, Touch};
use crate::plan::Case;
use crate::run::Recording;
use crate::world::Traced;
use wallfacer_process::jail::Effect;

pub struct ChangesOnce;

impl Check for ChangesOnce {
    fn name(&self) -> &'static str {
        "changes-once"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, context: &Context) -> Verdict {
        let says = declared(case, context).and_then(|declared| declared.idempotent.as_ref());
        let (Some(says), Some(watched)) = (says, &context.watched) else { return Verdict::Holds };
        let twice = case.steps.windows(2).zip(recording.steps.windows(2));
        let again = twice.filter(|(steps, _)| steps[0] == steps[1]).map(|(_, taken)| &taken[1]);
        let changed = |traced: &Traced| {
            let other = traced.changes.iter().filter(|change| change.effect != Effect::Touched);
            let noted = other.filter(|change| !watched.noise.is_write(&change.path));
            let touches = noted
                .map(|change| Touch { path: change.path.clone(), place: watched.places.of(&change.path) });
            touches.filter(|touch| touch.place != Place::Temporary).collect::<Vec<_>>()
        };
        let more: Vec<Touch> = again.filter_map(|taken| taken.traced.as_ref()).flat_map(changed).collect();
        if more.is_empty() {
            return Verdict::Holds;
        }
        let message =
            format!("it says {says}, and the same call a second time changed {}", named(watched, &more));
        let cause = Cause::rule(self.name(), None);
        let mut charge = Charge::new(self.name(), Kind::UndeclaredBehaviour, cause, message);
        charge.severity = Some(crate::target::Severity::Medium);
        Verdict::Broken(Box::new(with_files(charge, &more)))
    }
}
