//! A message that comes in two pieces, with a pause between them, must be answered like any other.

use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Step};
use crate::run::Recording;

pub struct ReadsHalves;

impl Check for ReadsHalves {
    fn name(&self) -> &'static str {
        "reads-messages-in-pieces"
    }

    fn judge(&self, case: &Case, _: &Recording, seen: &Observation, _: &Context) -> Verdict {
        let is_half = |step: &Step| matches!(step, Step::Raw(frame) if frame.bytes.last() != Some(&b'\n'));
        let is_rest = |step: &Step| matches!(step, Step::Raw(frame) if frame.id.is_some());
        let place = case
            .steps
            .windows(3)
            .position(|steps| is_half(&steps[0]) && matches!(steps[1], Step::Pause(_)) && is_rest(&steps[2]));
        let Some(rest) = place.and_then(|place| seen.steps.get(place + 2)) else { return Verdict::Holds };
        if !matches!(rest.answer, Answer::Malformed | Answer::Failed { .. } | Answer::Rejected { .. }) {
            return Verdict::Holds;
        }
        let message = "a message that comes in two pieces is not understood".to_owned();
        let cause = Cause::rule(self.name(), None).server_wide();
        let mut charge = Charge::new(self.name(), Kind::ProtocolError, cause, message);
        charge.details = "A pipe gives what is there, which may be a part of a line or several lines. Read on until a line is whole."
            .to_owned();
        Verdict::Broken(Box::new(charge))
    }
}
