//! What became of the findings of earlier runs: still there, gone, or not tried. A run that does not come upon one of them
//! tries it again by itself, so that "gone" is never a guess.

use std::path::Path;
use std::time::{Duration, Instant};

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::{Finding, Reproduced};
use wallfacer_core::session::{Replay, replay, usual_budget};
use wallfacer_core::summary::{Became, Run, StoredFinding};

use super::checking::Asked;
use super::rerun::{Rerun, TrustArgs, prepare};
use crate::interruption::Watch;

/// The time for one of them, and for all at most: a part of the whole.
const EACH: Duration = Duration::from_secs(3);
const PART: u32 = 5;
/// What of a message is shown beside an id.
const ABOUT: usize = 100;

/// How much of the time is kept for so many findings.
pub fn share(whole: Duration, stored: usize) -> Duration {
    (EACH * u32::try_from(stored).unwrap_or(u32::MAX).min(PART * 100)).min(whole / PART)
}

/// Says of each stored finding what became of it. One that still fails is a finding of this run too.
pub fn look(
    run: &mut Run,
    stored: &[Finding],
    asked: &Asked<'_>,
    config: Option<&Path>,
    watch: &Watch,
    until: Option<Instant>,
) {
    let mut told = Vec::new();
    for finding in stored {
        let same = |other: &Finding| other.is_same_as(finding);
        let became = match run.findings.iter().chain(&run.flaky).any(same) {
            true => (Became::StillThere, String::new()),
            false => try_again(finding, run, asked, config, watch, until),
        };
        let about = format!("{} of {}: {}", finding.kind.name(), finding.place(), finding.message);
        let (became, why) = became;
        let about = wallfacer_core::wire::shortened(&about, ABOUT);
        told.push(StoredFinding { id: finding.id.to_string(), about, became, why });
    }
    run.tell_stored(told);
}

fn try_again(
    finding: &Finding,
    run: &mut Run,
    asked: &Asked<'_>,
    config: Option<&Path>,
    watch: &Watch,
    until: Option<Instant>,
) -> (Became, String) {
    let not = |why: &str| (Became::NotTried, why.to_owned());
    let left = until.map(|until| until.saturating_duration_since(Instant::now()));
    if left.is_some_and(|left| left.is_zero()) || watch.stop().is_told() {
        return not("there was no time left; `wallfacer replay` tries it alone");
    }
    if let Some(tool) = &finding.tool
        && asked.effort.selection.leaves_out(tool)
    {
        return not("its tool is left out");
    }
    let prepared = prepare(finding, asked.target, &TrustArgs::untrusting(), config);
    let Rerun { finding: restored, connector, other, destructive, .. } = match prepared {
        Ok(Ok(rerun)) => rerun,
        Ok(Err(why)) => return not(&why),
        Err(failure) => return not(&failure.message),
    };
    let mut deaf = Deaf;
    let usual = usual_budget(finding);
    let time = left.map_or(usual, |left| left.min(usual));
    let tried = replay(connector, other, &restored, &destructive, time, &mut deaf);
    let tried = super::runtime().map(|runtime| runtime.block_on(watch.stop().unless(tried)));
    let replayed = match tried {
        Ok(Ok(Ok(replayed))) => replayed,
        Ok(Ok(Err(error))) => return not(&error.to_string()),
        Ok(_) | Err(_) => return not("there was no time left; `wallfacer replay` tries it alone"),
    };
    let again =
        |reproduced, message: &str| Finding { reproduced, message: message.to_owned(), ..finding.clone() };
    match replayed.verdict {
        Replay::Fixed { .. } => (Became::Gone, String::new()),
        Replay::NotReplayable { why } => not(&why),
        Replay::StillFails { n, .. } => {
            run.findings.push(again(Reproduced { k: n, n }, &finding.message));
            (Became::StillThere, String::new())
        }
        Replay::Flaky(reproduced) => {
            run.flaky.push(again(reproduced, &finding.message));
            (Became::StillThere, String::new())
        }
    }
}

/// Nobody listens.
struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}
