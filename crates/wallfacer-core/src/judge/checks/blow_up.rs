//! Twice the input must not take many times the time. Three doublings tell what grows with the input from what runs away.

use std::time::Duration;

use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Aim, Case};
use crate::run::Recording;

/// An answer that takes less is quick enough, whatever it grows with.
const LONG: Duration = Duration::from_millis(500);
/// What is quicker than this is mostly the way there and back.
const FLOOR: Duration = Duration::from_millis(2);
/// From one call to the next the time may double, and some more for luck.
const FACTOR: f64 = 2.5;

pub struct NoBlowUp;

impl Check for NoBlowUp {
    fn name(&self) -> &'static str {
        "no-blow-up"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, _: &Context) -> Verdict {
        let Some(injection) = case.intent.injection().filter(|injection| injection.aim == Aim::Grow) else {
            return Verdict::Holds;
        };
        let waits = |taken: &crate::run::Taken| {
            taken.traced.as_ref().is_some_and(|traced| traced.waits_for_network())
        };
        if recording.steps.iter().any(waits)
            || seen.steps.iter().any(|step| matches!(step.answer, Answer::Gone { .. }))
        {
            return Verdict::Holds;
        }
        let times: Vec<Duration> = seen.steps.iter().map(|step| step.took).collect();
        let silent = seen.steps.last().is_some_and(|step| step.answer == Answer::Silent);
        if !runs_away(counted(&times, silent)) {
            return Verdict::Holds;
        }
        let at = &injection.at;
        let cause = Cause::rule(self.name(), Some(at));
        let message =
            format!("the time of a call runs away with the size of `{at}`; it was given {}", injection.way);
        let mut charge = Charge::new(self.name(), Kind::ResourceGrowth, cause, message);
        charge.references = vec![Reference { kind: ReferenceKind::Cwe, text: "CWE-1333".to_owned() }];
        let told: Vec<String> = times.iter().map(|time| format!("{} ms", time.as_millis())).collect();
        Verdict::Broken(Box::new(charge.with("times, each for twice the input", told.join(", "))))
    }
}

/// How long was waited in vain says little of how long it would have taken, so it counts only where there is not enough
/// else.
fn counted(times: &[Duration], silent: bool) -> &[Duration] {
    match times.split_last() {
        Some((_, answered)) if silent && answered.len() > 1 && answered.last() >= Some(&LONG) => answered,
        _ => times,
    }
}

/// Whether each doubling cost more than it may.
fn runs_away(times: &[Duration]) -> bool {
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return false };
    let doublings = times.len() - 1;
    let grown = last.as_secs_f64() / (*first).max(FLOOR).as_secs_f64();
    let rises =
        times.windows(2).last().is_some_and(|pair| pair[1].as_secs_f64() >= FACTOR * pair[0].as_secs_f64());
    doublings > 0 && *last >= LONG && rises && grown >= FACTOR.powi(doublings as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(list: &[u64]) -> bool {
        runs_away(&list.iter().map(|ms| Duration::from_millis(*ms)).collect::<Vec<_>>())
    }

    #[test]
    fn waiting_in_vain_does_not_hide_what_the_answers_before_tell() {
        let times = [80, 320, 1_300, 3_000].map(Duration::from_millis);
        assert!(runs_away(counted(&times, true)));
        let short = [400, 900, 3_000].map(Duration::from_millis);
        assert!(!runs_away(counted(&short, true)));
    }

    #[test]
    fn squares_and_powers_run_away() {
        assert!(times(&[15, 60, 240, 960]));
        assert!(times(&[1, 1, 5_000]));
    }

    #[test]
    fn what_grows_with_the_input_or_is_quick_does_not() {
        assert!(!times(&[100, 200, 400, 800]));
        assert!(!times(&[1, 4, 16, 64]));
        assert!(!times(&[900, 950, 900, 990]));
        assert!(!times(&[5, 2_000, 2_000, 2_000]));
        assert!(!times(&[]));
    }
}
