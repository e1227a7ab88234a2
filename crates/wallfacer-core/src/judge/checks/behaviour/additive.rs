//! A tool that says it destroys nothing must leave what was there. To move a file is not to lose it; what a call made
//! itself it may remove.

use super::{declared, deeds, lasts, named, with_files};
use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Observation, Touch};
use crate::plan::Case;
use crate::run::Recording;

pub struct TakesNothingAway;

impl Check for TakesNothingAway {
    fn name(&self) -> &'static str {
        "takes-nothing-away"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, context: &Context) -> Verdict {
        let Some(says) = declared(case, context).and_then(|declared| declared.additive.as_ref()) else {
            return Verdict::Holds;
        };
        let Some((watched, deeds)) = deeds(case, recording, context) else { return Verdict::Holds };
        let lost = deeds
            .iter()
            .flat_map(|(_, effects)| effects.deletes.iter().filter(|touch| lasts(touch, effects)));
        let lost: Vec<&Touch> = lost.collect();
        if lost.is_empty() {
            return Verdict::Holds;
        }
        let message =
            format!("it says {says}, and a call took away {}", named(watched, lost.iter().copied()));
        let cause = Cause::rule(self.name(), None);
        let charge = Charge::new(self.name(), Kind::UndeclaredBehaviour, cause, message);
        Verdict::Broken(Box::new(with_files(charge, lost)))
    }
}
