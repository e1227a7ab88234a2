//! Proves that a sequence fails, and leaves out the steps that it does not need to fail.

use std::time::{Duration, Instant};

use super::inquiry::{Confirmed, Inquiry, STRETCH, TRIES};
use crate::findings::{FindingId, Kind, Reproduced};
use crate::judge::Charge;
use crate::plan::Case;
use crate::run::Patience;
use crate::session::lab::attempt;
use crate::wire::ConnectError;

impl Inquiry<'_> {
    /// A sequence is tried again as a whole; then steps are left out that it does not need to fail.
    pub(super) async fn look_into_sequence(
        &mut self,
        case: &Case,
        charge: &Charge,
    ) -> Result<Confirmed, ConnectError> {
        let hang = matches!(charge.kind, Kind::Hang { .. });
        let patience = self.runner.patience().stretched(if hang { STRETCH } else { 1 });
        let wanted = self.id(case, charge);
        let (mut k, mut proven) = (0, None);
        for _ in 0..TRIES {
            if self.is_over_in(if hang { patience.plain() } else { Duration::ZERO }) {
                return Ok(Confirmed::OutOfTime);
            }
            if let Some(again) = self.replay_sequence(case, &wanted, &patience).await? {
                k += 1;
                proven = Some(again);
            }
        }
        let reproduced = Reproduced { k, n: TRIES };
        let Some((charge, mut played)) = proven else { return Ok(Confirmed::Never) };
        if reproduced.always() && self.minimise && may_leave_out_steps(&charge.kind) {
            let until = self.minimising_until();
            let steps = case.claim.as_ref().and_then(|claim| claim.sequence()).map_or(0, |it| it.steps.len());
            for index in 0..steps {
                let mut shorter = played.clone();
                shorter.claim.iter_mut().for_each(|claim| claim.left_out.extend([index]));
                if Instant::now() >= until {
                    break;
                }
                if let Some((_, shorter)) = self.replay_sequence(&shorter, &wanted, &patience).await? {
                    played = shorter;
                }
            }
        }
        Ok(Confirmed::Finding { charge: Box::new(charge), case: played, reproduced })
    }

    /// The charge that is wanted, with the case as it was played.
    async fn replay_sequence(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<Option<(Charge, Case)>, ConnectError> {
        let tried = attempt(self.runner, case, patience, self.context).await?;
        let charge = tried.judgement.charges.into_iter().find(|charge| self.id(case, charge) == *wanted);
        Ok(charge.zip(tried.played))
    }
}

/// Whether a sequence with fewer steps shows the same. What fails as a sequence may fail for want of a step: a thing that
/// nobody deletes is still there, on a correct server, too.
pub fn may_leave_out_steps(kind: &Kind) -> bool {
    !matches!(kind, Kind::SequenceFailure { .. } | Kind::StateLeak)
}
