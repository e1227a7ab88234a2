//! Tries one case and says what is held against the server: the one way in which a case is tried alone.

use std::time::{Duration, Instant};

use super::sequence::play;
use crate::judge::{Context, Judgement, weigh};
use crate::observe::{Observation, observe};
use crate::plan::{Case, Schedule, Step};
use crate::run::{Patience, Recording, Runner, Taken};
use crate::wire::ConnectError;

/// A stored case cannot keep us with more turns than this.
const MOST_TURNS: u32 = 100;
/// What calls in flight together do is a matter of luck, so one try of them is up to so many on fresh servers, within twice the
/// time of one request.
const CONCURRENT_TRIES: u32 = 8;
/// So is the moment in which a server is killed.
const LUCKY_TRIES: u32 = 3;
/// What is measured shows by how its cost grows; how long the dearest call would have taken is nothing to wait for.
const MEASURED: Duration = Duration::from_secs(4);

/// What came of one try.
#[derive(Debug)]
pub struct Attempt {
    pub recording: Recording,
    pub seen: Observation,
    pub judgement: Judgement,
    /// The case with the steps that were taken, where they were not known before.
    pub played: Option<Case>,
}

/// Tries a case on the server there is; a sequence always on a fresh one.
pub async fn attempt(
    runner: &mut Runner,
    case: &Case,
    patience: &Patience,
    context: &Context,
) -> Result<Attempt, ConnectError> {
    let claim = case.claim.as_ref();
    if let Some(sequence) = claim.and_then(|claim| claim.sequence()) {
        return play(runner, case, &sequence.clone(), patience, context).await;
    }
    if let Some(schedule) = case.schedule() {
        return in_turns(runner, case, schedule, patience, context).await;
    }
    let is_measured = case.intent.injection().is_some_and(|injection| injection.aim.is_measured());
    let measured = is_measured.then(|| patience.at_most(MEASURED.min(patience.plain())));
    let patience = measured.as_ref().unwrap_or(patience);
    let begun = Instant::now();
    let mut tries = match case.is_a_matter_of_luck() {
        true => LUCKY_TRIES,
        false if case.is_concurrent() => CONCURRENT_TRIES,
        false => 1,
    };
    loop {
        let recording = match case.steps.is_empty() {
            // What a server says of itself needs no server.
            true => Recording { steps: Vec::new(), stderr: None },
            false => runner.perform(case, patience).await?,
        };
        let seen = observe(&recording);
        let judgement = weigh(case, &recording, &seen, context);
        tries -= 1;
        let long = begun.elapsed() > patience.plain() * 2 && !case.is_a_matter_of_luck();
        if tries == 0 || long || !judgement.charges.is_empty() {
            return Ok(Attempt { recording, seen, judgement, played: None });
        }
        runner.rest().await;
    }
}

/// Tries what several clients do until something shows, with other values each time.
async fn in_turns(
    runner: &mut Runner,
    case: &Case,
    schedule: &Schedule,
    patience: &Patience,
    context: &Context,
) -> Result<Attempt, ConnectError> {
    let mut turn = 0;
    loop {
        let steps = vec![Step::Rounds(Box::new(schedule.turn(turn)))];
        let played = Case { steps, ..case.clone() };
        let recording = runner.perform(&played, patience).await?;
        let seen = observe(&recording);
        let judgement = weigh(&played, &recording, &seen, context);
        turn += 1;
        let fatal = recording.steps.iter().any(Taken::is_fatal);
        if turn >= schedule.times.min(MOST_TURNS) || fatal || !judgement.charges.is_empty() {
            return Ok(Attempt { recording, seen, judgement, played: Some(played) });
        }
    }
}
