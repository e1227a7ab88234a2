//! Tries one case and says what is held against the server: the one way in which a case is tried alone.

use super::sequence::play;
use crate::judge::{Context, Judgement, weigh};
use crate::observe::{Observation, observe};
use crate::plan::Case;
use crate::run::{Patience, Recording, Runner};
use crate::wire::ConnectError;

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
    let recording = match case.steps.is_empty() {
        // What a server says of itself needs no server.
        true => Recording { steps: Vec::new(), stderr: None },
        false => runner.perform(case, patience).await?,
    };
    let seen = observe(&recording);
    let judgement = weigh(case, &recording, &seen, context);
    Ok(Attempt { recording, seen, judgement, played: None })
}
