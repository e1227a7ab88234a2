//! A page of another origin must not reach a server on the user's machine. Proven by what it stored there.

use super::{all_told, answer, disturbances};
use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Disturbance, marks_in};
use crate::run::Recording;
use crate::target::Severity;

pub struct RefusesForeignPages;

impl Check for RefusesForeignPages {
    fn name(&self) -> &'static str {
        "foreign-pages-are-refused"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, _: &Context) -> Verdict {
        let foreign = disturbances(case, recording).find_map(|(place, disturbance, _)| match disturbance {
            Disturbance::Foreign { request } => Some((place, marks_in(&request.params))),
            _ => None,
        });
        let Some((place, marks)) = foreign else { return Verdict::Holds };
        let completed =
            |place: usize| seen.steps.get(place).is_some_and(|step| step.answer == Answer::Completed);
        let read = recording.steps.get(place + 1).map(answer).unwrap_or_default().to_lowercase();
        let took_effect = marks.iter().any(|mark| read.contains(mark.as_str()));
        if !(completed(place) && completed(place + 1) && took_effect) {
            return Verdict::Holds;
        }
        let message = "a web page of another origin can make the user's browser call tools: what such a request stored is there"
            .to_owned();
        let cause = Cause::rule(self.name(), None).server_wide();
        let kind = Kind::Conformance { rule: self.name().to_owned() };
        let mut charge = Charge::new(self.name(), kind, cause, message);
        charge.severity = Some(Severity::High);
        charge.details = "The request came with an Origin and a Host that are not the server's, as after DNS rebinding. Refuse \
                          with 403 what does not come from where it should."
            .to_owned();
        charge.references = vec![
            Reference { kind: ReferenceKind::Spec, text: "basic/transports#security-warning".to_owned() },
            Reference { kind: ReferenceKind::Cwe, text: "CWE-346".to_owned() },
        ];
        Verdict::Broken(Box::new(charge.with("calls", all_told(case, recording, &[place, place + 1]))))
    }
}
