//! Finds out whether a call that was not answered at once is answered at all: alone on a fresh server, with all of its
//! time; and while that is waited for, on a second one with twice the time.

use std::time::Duration;

use super::idle::Crew;
use super::job::World;
use super::{Failed, Lab};
use crate::plan::Case;
use crate::run::{Recording, Runner, Taken};
use crate::wire::ConnectError;

/// A call that is answered by then was only in bad company.
const SOON: Duration = Duration::from_millis(700);
/// How many times the limit the second server is waited for: a hang is only one if twice the time does not help.
const STRETCH: u32 = 2;

/// What came of it.
#[derive(Debug)]
pub struct Settled {
    pub case: Case,
    pub recording: Recording,
    /// Whether a second fresh server did not answer in twice the time either; none where nobody asked one.
    pub silent_again: Option<bool>,
}

impl Settled {
    /// Whether it was left without an answer.
    pub fn is_silent(&self) -> bool {
        self.recording.steps.iter().any(Taken::is_silent)
    }

    /// How long the answer took.
    pub fn took(&self) -> Duration {
        self.recording.steps.iter().map(|taken| taken.took).sum()
    }
}

pub(super) fn perform(lab: &Lab, world: World, case: &Case, crew: &mut Crew) -> Result<Settled, Failed> {
    let Crew { runner, runtime, stop, .. } = crew;
    let mut second = lab.runner(world);
    let looked = runtime.block_on(stop.unless(look(lab, case, runner, &mut second)));
    let _or_its_keeper = runtime.block_on(stop.unless(second.rest()));
    lab.add_lives(second.lives);
    let (recording, silent_again) = looked??;
    Ok(Settled { case: case.clone(), recording, silent_again })
}

async fn look(
    lab: &Lab,
    case: &Case,
    runner: &mut Runner,
    second: &mut Runner,
) -> Result<(Recording, Option<bool>), ConnectError> {
    let (whole, twice) = (lab.patience().clone(), lab.patience().stretched(STRETCH));
    runner.rest().await;
    // The time that a start takes is no time that the call takes.
    runner.life().await?;
    let mut first = Box::pin(runner.perform(case, &whole));
    if !lab.is_parallel() {
        return Ok((first.await?, None));
    }
    tokio::select! {
        recording = &mut first => return Ok((recording?, None)),
        () = tokio::time::sleep(SOON) => {}
    }
    let mut again = Box::pin(second.perform(case, &twice));
    let (recording, again) = tokio::select! {
        recording = &mut first => {
            let recording = recording?;
            if !recording.steps.iter().any(Taken::is_silent) {
                return Ok((recording, None));
            }
            (recording, again.await?)
        }
        again = &mut again => (first.await?, again?),
    };
    let silent = again.steps.iter().any(Taken::is_silent);
    Ok((recording, Some(silent)))
}
