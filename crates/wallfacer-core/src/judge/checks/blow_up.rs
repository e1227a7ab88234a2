//! Twice the input must not take many times the time or the memory. Three doublings tell what grows with the input from
//! what runs away.

use std::time::Duration;

use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Aim, Case, Injection};
use crate::run::{Recording, Taken};

/// An answer that takes less is quick enough, whatever it grows with.
const LONG: Duration = Duration::from_millis(500);
/// What is quicker than this is mostly the way there and back.
const FLOOR: Duration = Duration::from_millis(2);
/// Memory that one doubling may bring, whatever it grows with; and what is nothing beside what a runtime holds anyway.
const MUCH: f64 = 48.0 * MEBIBYTE;
const LITTLE: f64 = 2.0 * MEBIBYTE;
const MEBIBYTE: f64 = 1_048_576.0;
/// From one call to the next it may double, and some more for luck.
const FACTOR: f64 = 2.5;

/// What is twice as much may take a little less, for some of it was there before.
const DOUBLES: f64 = 1.5;

pub struct NoBlowUp;

impl Check for NoBlowUp {
    fn name(&self) -> &'static str {
        "no-blow-up"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, _: &Context) -> Verdict {
        let Some(injection) = case.intent.injection().filter(|injection| injection.aim.is_measured()) else {
            return Verdict::Holds;
        };
        // Whoever waits uses no time of the processor; where that is not known, what was waited for may be the network.
        let waits = |taken: &Taken| {
            taken.stock.is_empty() && taken.traced.as_ref().is_some_and(|traced| traced.waits_for_network())
        };
        if recording.steps.iter().any(waits)
            || seen.steps.iter().any(|step| matches!(step.answer, Answer::Gone { .. }))
        {
            return Verdict::Holds;
        }
        let times = costs(recording, seen);
        let silent = seen.steps.last().is_some_and(|step| step.answer == Answer::Silent);
        let held: Vec<u64> = recording.steps.iter().filter_map(peak).collect();
        if injection.aim == Aim::Inflate {
            return self.unpacks(injection, &held);
        }
        let (what, weakness, told) = if takes_too_long(counted(&times, silent)) {
            let told = times.iter().map(|time| format!("{} ms", time.as_millis()));
            ("time", "CWE-1333", told.collect::<Vec<_>>().join(", "))
        } else if holds_too_much(&held) {
            ("memory", "CWE-409", told(&held))
        } else {
            return Verdict::Holds;
        };
        let at = &injection.at;
        let cause = Cause::rule(self.name(), Some(at));
        let message =
            format!("the {what} of a call runs away with the size of `{at}`; it was given {}", injection.way);
        let mut charge = Charge::new(self.name(), Kind::ResourceGrowth, cause, message);
        charge.way = format!("`{at}`");
        charge.references = vec![Reference { kind: ReferenceKind::Cwe, text: weakness.to_owned() }];
        Verdict::Broken(Box::new(charge.with(&format!("{what}, each for twice the input"), told)))
    }
}

impl NoBlowUp {
    fn unpacks(&self, injection: &Injection, held: &[u64]) -> Verdict {
        if !holds_all(held) {
            return Verdict::Holds;
        }
        let Injection { at, way, .. } = injection;
        let cause = Cause::rule(self.name(), Some(&format!("packed {at}")));
        let message = format!("what is packed in `{at}` is unpacked without a limit; it was given {way}");
        let mut charge = Charge::new(self.name(), Kind::ResourceGrowth, cause, message);
        charge.way = format!("`{at}`");
        charge.references = vec![Reference { kind: ReferenceKind::Cwe, text: "CWE-409".to_owned() }];
        Verdict::Broken(Box::new(charge.with("memory, each for what unpacks to twice as much", told(held))))
    }
}

fn told(held: &[u64]) -> String {
    let told = held.iter().map(|bytes| format!("{:.0} MiB", *bytes as f64 / MEBIBYTE));
    told.collect::<Vec<_>>().join(", ")
}

/// What each call took: no more than the time of the processor, where that is known, for on a busy machine an answer takes
/// long for other reasons too.
fn costs(recording: &Recording, seen: &Observation) -> Vec<Duration> {
    let used: Vec<Option<Duration>> =
        recording.steps.iter().map(|taken| taken.stock.last().map(|(_, sample)| sample.cpu)).collect();
    let cost = |(index, took): (usize, Duration)| {
        let before = index.checked_sub(1).and_then(|before| *used.get(before)?);
        match (before, used.get(index).copied().flatten()) {
            (Some(before), Some(after)) => took.min(after.saturating_sub(before)),
            _ => took,
        }
    };
    seen.steps.iter().map(|step| step.took).enumerate().map(cost).collect()
}

/// The most that the server has held up to the end of a step.
fn peak(taken: &Taken) -> Option<u64> {
    taken.stock.last().map(|(_, sample)| sample.peak_bytes)
}

/// How long was waited in vain says little of how long it would have taken, so it counts only where there is not enough
/// else.
fn counted(times: &[Duration], silent: bool) -> &[Duration] {
    match times.split_last() {
        Some((_, answered)) if silent && answered.len() > 1 && answered.last() >= Some(&LONG) => answered,
        _ => times,
    }
}

fn takes_too_long(times: &[Duration]) -> bool {
    let mut times: Vec<f64> = times.iter().map(Duration::as_secs_f64).collect();
    // The first call of a fresh server also loads what all calls need; the next one tells what it would have taken.
    if let [first, second, _, ..] = &mut times[..]
        && *first >= FACTOR * *second
    {
        *first = *second;
    }
    runs_away(&times, FLOOR.as_secs_f64(), LONG.as_secs_f64())
}

/// What each doubling added, for what a server holds at its start says nothing.
fn holds_too_much(held: &[u64]) -> bool {
    let added: Vec<f64> = held.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64).collect();
    added.len() > 1 && runs_away(&added, LITTLE, MUCH)
}

/// Whether each archive brought about twice what the one before did, and the last of them much: what was sent was small.
fn holds_all(held: &[u64]) -> bool {
    let added: Vec<f64> = held.windows(2).map(|pair| pair[1].saturating_sub(pair[0]) as f64).collect();
    let doubles = added.windows(2).all(|pair| pair[0] >= LITTLE && pair[1] >= DOUBLES * pair[0]);
    added.len() > 1 && doubles && added.last().is_some_and(|last| *last >= MUCH)
}

/// Whether each doubling cost more than it may.
fn runs_away(costs: &[f64], floor: f64, much: f64) -> bool {
    let (Some(first), Some(last)) = (costs.first(), costs.last()) else { return false };
    let doublings = costs.len() - 1;
    let rises = costs.windows(2).last().is_some_and(|pair| pair[1] >= FACTOR * pair[0]);
    doublings > 0 && *last >= much && rises && last / first.max(floor) >= FACTOR.powi(doublings as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(list: &[u64]) -> bool {
        takes_too_long(&list.iter().map(|ms| Duration::from_millis(*ms)).collect::<Vec<_>>())
    }

    fn mebibytes(list: &[u64]) -> bool {
        holds_too_much(&list.iter().map(|number| number << 20).collect::<Vec<_>>())
    }

    #[test]
    fn what_a_first_call_loads_hides_nothing_and_adds_nothing() {
        assert!(times(&[400, 3, 46, 2_000]));
        assert!(!times(&[2_000, 3, 6, 12]));
        assert!(!times(&[400, 200, 300, 600]));
    }

    #[test]
    fn what_unpacks_is_held_where_memory_doubles_with_it() {
        let holds = |list: &[u64]| holds_all(&list.iter().map(|number| number << 20).collect::<Vec<_>>());
        assert!(holds(&[40, 56, 88, 152]));
        // It stops at a limit, holds little, or grows for other reasons.
        assert!(!holds(&[40, 56, 56, 56]));
        assert!(!holds(&[40, 41, 42, 44]));
        assert!(!holds(&[40, 90, 91, 150]));
        assert!(!holds(&[40, 104]));
    }

    #[test]
    fn waiting_in_vain_does_not_hide_what_the_answers_before_tell() {
        let times = [80, 320, 1_300, 3_000].map(Duration::from_millis);
        assert!(takes_too_long(counted(&times, true)));
        let short = [400, 900, 3_000].map(Duration::from_millis);
        assert!(!takes_too_long(counted(&short, true)));
    }

    #[test]
    fn memory_counts_by_what_each_doubling_adds() {
        assert!(mebibytes(&[60, 60, 61, 220]));
        assert!(mebibytes(&[60, 63, 75, 125]));
        assert!(!mebibytes(&[60, 80, 120, 200]));
        assert!(!mebibytes(&[60, 60, 60, 80]));
        assert!(!mebibytes(&[60, 300, 300, 300]));
        assert!(!mebibytes(&[60, 300]));
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
