//! What a server holds must not go on growing with the number of calls.

use wallfacer_process::Sample;
use wallfacer_text::lexicon::{Action, does};

use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Step};
use crate::run::Recording;

/// The part of the calls before which a server may still be warming up.
const WARM_UP: f64 = 0.3;
/// Fewer looks than this are too few to tell growth from chance.
const FEWEST: usize = 8;
const FEWEST_CALLS: u32 = 200;
/// Memory of each call that is more than what an allocator or a collector leaves lying for a while.
const MEMORY_PER_CALL: f64 = 8.0 * 1024.0;
/// Files and processes of each call; one in four calls that leaves one is enough.
const THINGS_PER_CALL: f64 = 0.25;
/// Of the steps from look to look so many must go up: a collector that runs now and then does not hide a leak.
const RISING: f64 = 0.75;
/// The second half of the time must bring at least so much of what the first half brought: a cache fills up, a leak goes on.
const GOES_ON: f64 = 0.6;
/// What grows is looked at again over so many calls; files and processes have limits of the machine's own.
const PROVING_CALLS: u32 = 800;
const PROVING_CALLS_FOR_MEMORY: u32 = 1_600;
/// What a collector may leave lying before it is at work for the first time: only beyond that, memory is seen to be kept.
const GARBAGE: f64 = 64.0 * 1024.0 * 1024.0;

/// Tools of whose business it is to leave something behind.
const STORES: [Action; 5] = [Action::Creates, Action::Changes, Action::Writes, Action::Fetches, Action::Runs];

/// What is counted, how much of it each call must add, and where it stands.
type Measure = (&'static str, f64, fn(&Sample) -> f64);

pub struct NoGrowth;

impl Check for NoGrowth {
    fn name(&self) -> &'static str {
        "no-growth"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let many = case.steps.iter().zip(&recording.steps).find_map(|(step, taken)| match step {
            Step::Many { times, .. } => Some((*times, &taken.stock)),
            _ => None,
        });
        let Some((times, stock)) = many else { return Verdict::Holds };
        let made = stock.last().map_or(0, |(calls, _)| *calls);
        let warm = (f64::from(made) * WARM_UP) as u32;
        if made < FEWEST_CALLS {
            return Verdict::Unknown("too few calls were answered to see growth".to_owned());
        }
        let stock: Vec<&(u32, Sample)> = stock.iter().filter(|(calls, _)| *calls >= warm).collect();
        if stock.len() < FEWEST {
            return Verdict::Unknown("the process could not be looked at often enough".to_owned());
        }
        let measures: [Measure; 5] = [
            ("processes", THINGS_PER_CALL, |sample| sample.processes as f64),
            ("open files", THINGS_PER_CALL, |sample| sample.open_files as f64),
            ("threads", THINGS_PER_CALL, |sample| sample.threads as f64),
            ("temporary files", THINGS_PER_CALL, |sample| sample.temporary_files as f64),
            ("memory", MEMORY_PER_CALL, |sample| sample.rss_bytes as f64),
        ];
        // Who is told to write a file is not to blame for it.
        let stores =
            case.tool_name().is_some_and(|tool| STORES.iter().any(|action| does(tool, *action).is_some()));
        let measures = measures.into_iter().filter(|(what, ..)| !(stores && *what == "temporary files"));
        let grown = measures.into_iter().find_map(|(what, least, measure)| {
            let points: Vec<(u32, f64)> =
                stock.iter().map(|(calls, sample)| (*calls, measure(sample))).collect();
            grows(&points, least).map(|rate| (what, rate))
        });
        let Some((what, rate)) = grown else { return Verdict::Holds };
        if what == "memory" && made < times && rate * f64::from(made - warm) < GARBAGE {
            return Verdict::Unknown("too few calls were answered to tell growth from garbage".to_owned());
        }
        let message = match what {
            "memory" => {
                format!("memory grows with each call, by about {:.0} KiB, and goes on growing", rate / 1024.0)
            }
            _ => format!("{what} grow with each call, by about {rate:.1}, and go on growing"),
        };
        let cause = Cause::rule(self.name(), Some(what));
        let mut charge = Charge::new(self.name(), Kind::ResourceGrowth, cause, message);
        charge.calls = Some(times.max(proving_calls(what, rate)));
        Verdict::Broken(Box::new(charge))
    }
}

/// The calls that a proof takes. They do not depend on those before, so that a proof asks for no longer one when it is
/// tried again.
fn proving_calls(what: &str, rate: f64) -> u32 {
    match what {
        "memory" => beyond_garbage(rate).max(PROVING_CALLS_FOR_MEMORY),
        _ => PROVING_CALLS,
    }
}

/// The calls after which so much of each is more than garbage, when those of the beginning do not count.
fn beyond_garbage(rate: f64) -> u32 {
    (GARBAGE / rate / (1.0 - WARM_UP)).ceil() as u32
}

/// How much comes with each call, where it is much, and goes on.
fn grows(points: &[(u32, f64)], least: f64) -> Option<f64> {
    let (first, last) = (points.first()?, points.last()?);
    let middle = &points[points.len() / 2];
    let rate = |from: &(u32, f64), to: &(u32, f64)| (to.1 - from.1) / f64::from((to.0 - from.0).max(1));
    let rising = points.windows(2).filter(|pair| pair[1].1 > pair[0].1).count();
    let steady = rising as f64 >= RISING * (points.len() - 1) as f64;
    let all = rate(first, last);
    (steady && all >= least && rate(middle, last) >= GOES_ON * rate(first, middle)).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(measure: impl Fn(u32) -> f64) -> Vec<(u32, f64)> {
        (4..=16).map(|look| (look * 25, measure(look * 25))).collect()
    }

    #[test]
    fn what_is_kept_of_each_call_grows() {
        assert!(grows(&points(|calls| f64::from(calls) * 65_536.0), MEMORY_PER_CALL).is_some());
        assert!(grows(&points(f64::from), THINGS_PER_CALL).is_some());
    }

    #[test]
    fn a_cache_that_fills_up_does_not_grow_for_ever() {
        assert!(grows(&points(|calls| f64::from(calls.min(200)) * 65_536.0), MEMORY_PER_CALL).is_none());
    }

    #[test]
    fn a_collector_at_work_is_not_growth() {
        let sawtooth = points(|calls| f64::from(calls % 75) * 65_536.0 + f64::from(calls) * 1_000.0);
        assert!(grows(&sawtooth, MEMORY_PER_CALL).is_none());
    }

    #[test]
    fn what_a_collector_may_leave_lying_is_not_yet_growth() {
        assert_eq!(beyond_garbage(64.0 * 1024.0), 1_463);
        let heap = |calls: u32| f64::from(calls.min(2_000)) * 16.0 * 1024.0;
        let over = |all: u32| -> Vec<(u32, f64)> {
            (0..=20).map(|look| all * 3 / 10 + look * all * 7 / 200).map(|at| (at, heap(at))).collect()
        };
        let rate = grows(&over(1_600), MEMORY_PER_CALL).expect("so many calls cannot tell");
        assert!(grows(&over(beyond_garbage(rate)), MEMORY_PER_CALL).is_none());
    }

    #[test]
    fn a_little_that_stays_is_not_growth() {
        assert!(grows(&points(|calls| f64::from(calls) * 100.0), MEMORY_PER_CALL).is_none());
    }
}
