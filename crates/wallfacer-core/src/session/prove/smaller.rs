//! Makes a case that fails smaller, as long as it fails alike.

use std::time::{Duration, Instant};

use serde_json::Value;
use wallfacer_schema::{Schema, Shrinker};

use super::constraint::Constraint;
use super::inquiry::Inquiry;
use super::narrow::Narrow;
use crate::findings::FindingId;
use crate::judge::Charge;
use crate::plan::{Case, Step};
use crate::run::Patience;
use crate::wire::ConnectError;

/// Proposals that are tried to make a case smaller.
const MAX_PROPOSALS: usize = 200;
/// Time for making one case smaller, at most; less where requests have little time themselves.
const MINIMISING: Duration = Duration::from_secs(15);
const MINIMISING_CALLS: u32 = 8;

impl Inquiry<'_> {
    /// When the making smaller of a case has to end.
    pub(super) fn minimising_until(&self) -> Instant {
        let time = MINIMISING.min(self.runner.patience().plain() * MINIMISING_CALLS);
        // Most of what is left is for the other suspicions.
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()) / 6);
        Instant::now() + left.map_or(time, |left| left.min(time))
    }

    /// Leaves out steps, many at a time and then fewer, as long as the same thing happens. So many at the beginning and at the
    /// end are kept.
    pub(super) async fn shorten(
        &mut self,
        script: Case,
        wanted: &FindingId,
        patience: &Patience,
        kept: (usize, usize),
    ) -> Result<Case, ConnectError> {
        self.shorten_part(script, wanted, patience, kept, |script| &mut script.steps).await
    }

    /// The same with what comes before the steps, which may be left out altogether.
    pub(super) async fn shorten_prelude(
        &mut self,
        script: Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<Case, ConnectError> {
        self.shorten_part(script, wanted, patience, (0, 0), |script| &mut script.prelude).await
    }

    async fn shorten_part(
        &mut self,
        mut script: Case,
        wanted: &FindingId,
        patience: &Patience,
        (first, last): (usize, usize),
        part: fn(&mut Case) -> &mut Vec<Step>,
    ) -> Result<Case, ConnectError> {
        let until = self.minimising_until();
        let mut size = part(&mut script).len().div_ceil(2);
        while size > 0 && Instant::now() < until {
            let mut start = first;
            while start < part(&mut script).len().saturating_sub(last) && Instant::now() < until {
                let mut shorter = script.clone();
                let steps = part(&mut shorter);
                let end = (start + size).min(steps.len() - last);
                steps.drain(start..end);
                if !shorter.steps.is_empty() && self.try_fresh(&shorter, wanted, patience).await?.is_some() {
                    script = shorter;
                } else {
                    start += size;
                }
            }
            size /= 2;
        }
        Ok(script)
    }

    /// The smallest case of the same origin that is found within the bounds, with what is held against the server then: the
    /// evidence must be that of the request which is shown.
    pub(super) async fn minimise(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        charge: &Charge,
        schema: &Schema,
        hang: bool,
    ) -> Result<(Case, Option<Charge>), ConnectError> {
        let smallest = self.shrink(case, wanted, charge, schema, hang).await?;
        // What was found small must hold once more; else the case as it was is the honest one.
        if smallest == *case {
            return Ok((smallest, None));
        }
        let whole = self.runner.patience().clone();
        let again = self.try_fresh(&smallest, wanted, &whole).await?;
        Ok(if again.is_some() { (smallest, again) } else { (case.clone(), None) })
    }

    /// The smallest case of the same origin on the server there is, which is still to be seen on a fresh one.
    pub(super) async fn shrink(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        charge: &Charge,
        schema: &Schema,
        hang: bool,
    ) -> Result<Case, ConnectError> {
        // What is silent was proven to be so for long; in smaller ones a brief look is enough to go on.
        let whole = self.runner.patience().clone();
        let glance = if hang { whole.glimpse() } else { whole };
        let Some(arguments) = case.arguments() else { return Ok(case.clone()) };
        let until = self.minimising_until();
        let constraint =
            Constraint::of(&charge.kind, &case.intent, charge.measure.is_some(), arguments, schema);
        let mut shrinker = Shrinker::new(schema, arguments.clone(), constraint.class());
        let mut smallest = case.clone();
        for _ in 0..MAX_PROPOSALS {
            let Some(proposal) = shrinker.next() else { break };
            let kept = constraint.is_kept_by(&proposal, schema);
            let smaller = with_arguments(case, proposal);
            // A server that lives on is used again; the smallest case is proven on a fresh one at the end.
            let fails = kept && self.try_on(&smaller, wanted, &glance).await?.is_some();
            shrinker.keep(fails);
            if fails {
                smallest = smaller;
            }
            if Instant::now() >= until {
                break;
            }
        }
        Ok(smallest)
    }

    /// The smallest case of a rule that still breaks it, with what is then held against the server.
    pub(super) async fn narrow(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        narrow: &Narrow,
        patience: &Patience,
    ) -> Result<(Case, Option<Charge>), ConnectError> {
        let Some(mut shrinker) = narrow.shrinker(case) else { return Ok((case.clone(), None)) };
        let until = self.minimising_until();
        let mut smallest = case.clone();
        for _ in 0..MAX_PROPOSALS {
            let Some(proposal) = shrinker.next().filter(|_| Instant::now() < until) else { break };
            let smaller = narrow.case(case, proposal);
            let fails = match &smaller {
                Some(smaller) => self.try_on(smaller, wanted, patience).await?.is_some(),
                None => false,
            };
            shrinker.keep(fails);
            smallest = smaller.filter(|_| fails).unwrap_or(smallest);
        }
        let again = self.try_fresh(&smallest, wanted, patience).await?;
        Ok(if again.is_some() { (smallest, again) } else { (case.clone(), None) })
    }
}

pub(super) fn with_arguments(case: &Case, arguments: Value) -> Case {
    let mut case = case.clone();
    if let Some(Step::Call { params, .. }) = case.steps.first_mut() {
        params.insert("arguments".to_owned(), arguments);
    }
    case
}
