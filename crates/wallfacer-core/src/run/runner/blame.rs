//! Finds out which call a server died of, or fell silent under, by making the calls in question again one by one.

use std::collections::VecDeque;

use super::{Foreman, Runner};
use crate::plan::{Case, Step};
use crate::run::recording::{Recording, Taken};
use crate::wire::{ConnectError, Outcome};

/// How long after its answer a server may die of it.
pub const LATE_DEATH_MS: u64 = 300;
/// How often a late death is hunted in vain; a server that dies of nothing in particular would keep us for ever.
const MAX_VAIN_HUNTS: usize = 2;

impl Runner {
    /// Makes the calls in question again, one by one. True when one of them, or of the earlier ones, explains what
    /// happened. What the server that is left was asked goes into `finished`.
    pub(super) async fn blame(
        &mut self,
        cases: &[Case],
        suspects: &[usize],
        earlier: &VecDeque<usize>,
        finished: &mut VecDeque<usize>,
        foreman: &mut dyn Foreman,
    ) -> Result<bool, ConnectError> {
        let mut explained = false;
        for index in suspects {
            if foreman.wants(*index, &cases[*index]) {
                explained |= self.perform_again(cases, *index, finished, foreman).await?;
            } else {
                explained = true;
            }
        }
        if explained {
            return Ok(true);
        }
        let late = self.blame_late(cases, earlier, foreman).await?;
        self.rest().await;
        finished.clear();
        Ok(late)
    }

    /// A server may answer first and die after. What was answered last is made again, half of it at a time, until one
    /// call is left that the server does not outlive.
    pub(super) async fn blame_late(
        &mut self,
        cases: &[Case],
        finished: &VecDeque<usize>,
        foreman: &mut dyn Foreman,
    ) -> Result<bool, ConnectError> {
        if self.vain_hunts >= MAX_VAIN_HUNTS {
            return Ok(false);
        }
        let mut suspects: Vec<usize> = finished.iter().copied().collect();
        while suspects.len() > 1 {
            let later = suspects.split_off(suspects.len() / 2);
            let dies = self.dies_of(cases, &suspects).await?;
            suspects = if dies { suspects } else { later };
        }
        let Some(index) = suspects.first() else { return Ok(false) };
        self.rest().await;
        let mut case = cases[*index].clone();
        case.steps.extend([Step::Pause(LATE_DEATH_MS), Step::Probe]);
        let recording = self.perform(&case, &self.patience.clone()).await?;
        let dies = recording.steps.iter().any(Taken::is_fatal);
        if dies {
            foreman.take(*index, &case, recording);
        } else {
            self.vain_hunts += 1;
        }
        Ok(dies)
    }

    /// Whether a fresh server ends, now or soon after, when it is asked all of this.
    async fn dies_of(&mut self, cases: &[Case], asked: &[usize]) -> Result<bool, ConnectError> {
        self.rest().await;
        let patience = self.patience.clone();
        for index in asked {
            let recording = self.perform(&cases[*index], &patience).await?;
            if recording.steps.iter().any(Taken::is_fatal) {
                return Ok(true);
            }
        }
        Ok(self.died_late().await.is_some())
    }

    /// How the server ended, where it dies now that all is answered, of something that it was asked.
    pub(super) async fn died_late(&mut self) -> Option<Recording> {
        // How a server fares that is not ours is only seen when it is asked again.
        let life = self.life.as_mut().filter(|life| life.connection.process().is_some())?;
        let closed = life.take(&Step::Pause(LATE_DEATH_MS), &self.patience).await.closed?;
        let death = self.death(closed);
        self.kill();
        death
    }
}

/// Alone too it was fatal, or was answered in a way that nobody could match to it among others.
pub(super) fn explains_silence(taken: &Taken) -> bool {
    taken.is_fatal() || matches!(taken.outcome, Some(Outcome::Broken { .. }))
}

/// The server went away.
pub(super) fn is_death(taken: &Taken) -> bool {
    taken.closed.is_some() || matches!(taken.outcome, Some(Outcome::Lost(_)))
}
