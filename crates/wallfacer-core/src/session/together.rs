//! Suspicions in, those out that show on two fresh servers which they share: one after another, then in the reverse order.
//! Of any two each came first once, so none owes what it does to another; and that takes two servers, not two for each.

use std::collections::BTreeMap;
use std::time::Instant;

use super::attempt::attempt;
use super::suspicion::Suspicion;
use crate::findings::{FindingId, Origin};
use crate::judge::{Charge, Context};
use crate::plan::Aim;
use crate::run::Runner;
use crate::wire::ConnectError;

/// Servers that all are tried on.
pub(super) const SERVERS: u32 = 2;

/// Whether what is suspected shows by what its own call does, whatever else was called.
pub(super) fn shows_by_its_own_deed(suspicion: &Suspicion) -> bool {
    let injection = suspicion.case.intent.injection();
    injection.is_some_and(|injection| match injection.aim {
        Aim::Execute { .. }
        | Aim::Pass { .. }
        | Aim::Reach { .. }
        | Aim::Hand { .. }
        | Aim::Connect { .. } => true,
        // What is changed stays so, and what is measured is disturbed.
        Aim::Change { .. } | Aim::Grow | Aim::Inflate => false,
    })
}

/// Those with the same calls before them, in the order of the first of each.
pub(super) fn by_prelude(suspicions: Vec<Suspicion>) -> Vec<Vec<Suspicion>> {
    let mut groups: Vec<Vec<Suspicion>> = Vec::new();
    for suspicion in suspicions {
        let same = |group: &&mut Vec<Suspicion>| group[0].case.prelude == suspicion.case.prelude;
        match groups.iter_mut().find(same) {
            Some(group) => group.push(suspicion),
            None => groups.push(vec![suspicion]),
        }
    }
    groups
}

/// What is held against each of them where it showed both times.
pub(super) async fn seen_together(
    group: &[Suspicion],
    server: Option<&str>,
    runner: &mut Runner,
    context: &Context,
    until: Option<Instant>,
) -> Result<Vec<Option<Charge>>, ConnectError> {
    let mut shown: BTreeMap<usize, (u32, Charge)> = BTreeMap::new();
    let patience = runner.patience().clone();
    let forth: Vec<usize> = (0..group.len()).collect();
    let back: Vec<usize> = forth.iter().rev().copied().collect();
    for order in [forth, back] {
        runner.rest().await;
        for index in order {
            if until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            let Suspicion { case, charge, .. } = &group[index];
            let id = |charge: &Charge| -> FindingId {
                Origin::new(server, &charge.kind, &case.subject, &charge.cause).id()
            };
            let wanted = id(charge);
            let charges = attempt(runner, case, &patience, context).await?.judgement.charges;
            if let Some(charge) = charges.into_iter().find(|charge| id(charge) == wanted) {
                let times = shown.get(&index).map_or(0, |(times, _)| *times);
                shown.insert(index, (times + 1, charge));
            }
        }
    }
    let mut each_time = |index: usize| shown.remove(&index).filter(|(times, _)| *times == SERVERS);
    Ok((0..group.len()).map(|index| each_time(index).map(|(_, charge)| charge)).collect())
}
