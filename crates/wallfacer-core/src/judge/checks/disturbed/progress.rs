//! What a call tells of its progress must rise, name the token that the client gave, and end with the answer.

use super::{aftermath, disturbances};
use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Disturbance};
use crate::run::{Progress, Recording};
use crate::target::Severity;

pub struct TellsProgress;

impl Check for TellsProgress {
    fn name(&self) -> &'static str {
        "progress-rises-until-the-answer"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let told = disturbances(case, recording).find_map(|(_, disturbance, taken)| match disturbance {
            Disturbance::Progress { .. } => Some(&aftermath(taken)?.progress),
            _ => None,
        });
        let Some((part, message)) = told.and_then(|told| wrong(told)) else { return Verdict::Holds };
        let cause = Cause::rule(self.name(), Some(part));
        let kind = Kind::Conformance { rule: self.name().to_owned() };
        let mut charge = Charge::new(self.name(), kind, cause, message);
        charge.severity = Some(Severity::Low);
        charge.references =
            vec![Reference { kind: ReferenceKind::Spec, text: "basic/utilities/progress".to_owned() }];
        Verdict::Broken(Box::new(charge))
    }
}

fn wrong(told: &[Progress]) -> Option<(&'static str, String)> {
    if told.iter().any(|each| each.ours && each.late) {
        return Some(("late", "progress of a call is still told after the call was answered".to_owned()));
    }
    if told.iter().any(|each| !each.ours && !each.late) {
        return Some((
            "another token",
            "progress is told under a token that the call did not give".to_owned(),
        ));
    }
    let values: Vec<Option<f64>> = told.iter().filter(|each| each.ours).map(|each| each.value).collect();
    if values.contains(&None) {
        return Some(("no number", "progress of a call is told without a number".to_owned()));
    }
    let fallen = values.windows(2).find(|pair| pair[1] <= pair[0])?;
    let (before, after) = (fallen[0]?, fallen[1]?);
    Some(("does not rise", format!("progress of a call does not rise: {before} is followed by {after}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_rises_under_its_own_token_and_ends_with_the_answer() {
        let told = |value: f64| Progress { ours: true, value: Some(value), late: false };
        let part = |told: &[Progress]| wrong(told).map(|(part, _)| part);
        assert_eq!(part(&[]), None);
        assert_eq!(part(&[told(0.0), told(0.5), told(1.0)]), None);
        assert_eq!(part(&[told(1.0), told(1.0)]), Some("does not rise"));
        assert_eq!(part(&[told(1.0), Progress { late: true, ..told(2.0) }]), Some("late"));
        assert_eq!(part(&[Progress { ours: false, ..told(1.0) }]), Some("another token"));
        assert_eq!(part(&[Progress { value: None, ..told(1.0) }]), Some("no number"));
    }
}
