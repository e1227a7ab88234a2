//! Proves several injections, or other things that one answer shows, on the same two fresh servers: one after another, then in the reverse order. Of any two each
//! came first once, so none owes what it does to another; and that takes two servers, not two for each.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde_json::Value;

use super::{Confirmed, Proof, Suspicion};
use crate::findings::{Cause, Reproduced};
use crate::judge::Charge;
use crate::plan::{Case, Step};
use crate::run::Runner;
use crate::session::lab::attempt;
use crate::wire::ConnectError;

/// Servers that all are tried on.
const SERVERS: u32 = 2;
/// Arguments that are left out, one after another, to see whether it takes them.
const MAX_REDUCTIONS: usize = 12;

/// What each suspicion of the batch comes to. What did not show both times is looked into alone.
pub(super) async fn prove(
    proof: &Proof,
    runner: &mut Runner,
    mut second: Option<&mut Runner>,
) -> Result<Vec<Confirmed>, ConnectError> {
    let all = proof.suspicions.iter().map(|suspicion| suspicion.case.clone()).enumerate().collect();
    let shown = both_ways(proof, runner, second.as_deref_mut(), &all).await?;
    let mut reduced: BTreeSet<Cause> = BTreeSet::new();
    let mut smaller: BTreeMap<usize, Case> = BTreeMap::new();
    let mut confirmed = Vec::new();
    for (index, suspicion) in proof.suspicions.iter().enumerate() {
        let Some(charge) = shown.get(&index) else {
            confirmed.push(match proof.suspicions.len() {
                1 => {
                    let mut inquiry = proof.inquiry(suspicion, runner, &mut []);
                    inquiry.look_into(suspicion).await?
                }
                _ if is_over(proof) => Confirmed::OutOfTime,
                _ => Confirmed::Alone,
            });
            continue;
        };
        let mut case = suspicion.case.clone();
        // A second one of the same cause is shown by the first.
        if reduced.insert(charge.cause.clone()) && !is_over(proof) {
            match suspicion.case.intent.injection() {
                Some(_) => case = reduce(proof, suspicion, runner).await?.unwrap_or(case),
                // What a rule asks for is what it is about.
                None if suspicion.case.claim.is_some() => {}
                None => smaller.extend(shrink(proof, suspicion, runner).await?.map(|small| (index, small))),
            }
        }
        let reproduced = Reproduced { k: SERVERS, n: SERVERS };
        confirmed.push(Confirmed::Finding { charge: Box::new(charge.clone()), case, reproduced });
    }
    // What was found small must hold on fresh servers too; else the case as it was is the honest one.
    if !smaller.is_empty() {
        let mut shown = both_ways(proof, runner, second, &smaller).await?;
        for (index, small) in smaller {
            if let (Some(again), Confirmed::Finding { charge, case, .. }) =
                (shown.remove(&index), &mut confirmed[index])
            {
                (**charge, *case) = (again, small);
            }
        }
    }
    Ok(confirmed)
}

/// A smaller case on the server that is there; none where there is none.
async fn shrink(
    proof: &Proof,
    suspicion: &Suspicion,
    runner: &mut Runner,
) -> Result<Option<Case>, ConnectError> {
    let mut inquiry = proof.inquiry(suspicion, runner, &mut []);
    let (case, charge) = (&suspicion.case, &suspicion.charge);
    let Some(schema) = inquiry.schema else { return Ok(None) };
    let wanted = inquiry.id(case, charge);
    let smallest = inquiry.shrink(case, &wanted, charge, schema, false).await?;
    Ok(Some(smallest).filter(|smallest| smallest != case))
}

fn is_over(proof: &Proof) -> bool {
    proof.until.is_some_and(|until| Instant::now() >= until)
}

/// What shows on both of two fresh servers, by the place in the batch.
async fn both_ways(
    proof: &Proof,
    runner: &mut Runner,
    second: Option<&mut Runner>,
    cases: &BTreeMap<usize, Case>,
) -> Result<BTreeMap<usize, Charge>, ConnectError> {
    runner.rest().await;
    let (mut forth, back) = match second {
        Some(second) => {
            second.rest().await;
            let (forth, back) =
                tokio::join!(in_order(proof, runner, cases, false), in_order(proof, second, cases, true));
            (forth?, back?)
        }
        None => {
            let forth = in_order(proof, runner, cases, false).await?;
            runner.rest().await;
            (forth, in_order(proof, runner, cases, true).await?)
        }
    };
    forth.retain(|index, _| back.contains_key(index));
    Ok(forth)
}

/// What shows on one fresh server, by the place in the batch.
async fn in_order(
    proof: &Proof,
    runner: &mut Runner,
    cases: &BTreeMap<usize, Case>,
    backwards: bool,
) -> Result<BTreeMap<usize, Charge>, ConnectError> {
    let mut shown = BTreeMap::new();
    let mut order: Vec<(&usize, &Case)> = cases.iter().collect();
    if backwards {
        order.reverse();
    }
    for (index, case) in order {
        if is_over(proof) {
            break;
        }
        let charge = show(&proof.suspicions[*index], case, runner).await?;
        shown.extend(charge.map(|charge| (*index, charge)));
    }
    Ok(shown)
}

/// The charge, where a case brings it about.
async fn show(
    suspicion: &Suspicion,
    case: &Case,
    runner: &mut Runner,
) -> Result<Option<Charge>, ConnectError> {
    let patience = runner.patience().clone();
    let tried = attempt(runner, case, &patience, &suspicion.context).await?;
    let wanted = (suspicion.charge.check, &suspicion.charge.cause);
    Ok(tried.judgement.charges.into_iter().find(|charge| (charge.check, &charge.cause) == wanted))
}

/// The same with no more than it takes: without what came first, and with fewer arguments; none where all is needed. A
/// server that lives on is used again, so what is left must hold on a fresh one.
async fn reduce(
    proof: &Proof,
    suspicion: &Suspicion,
    runner: &mut Runner,
) -> Result<Option<Case>, ConnectError> {
    let mut small = suspicion.case.clone();
    if !small.prelude.is_empty() {
        let alone = Case { prelude: Vec::new(), ..small.clone() };
        runner.rest().await;
        if show(suspicion, &alone, runner).await?.is_some() {
            small = alone;
        }
    }
    for key in spare_arguments(suspicion) {
        let smaller = without(&small, &key);
        if is_over(proof) {
            break;
        }
        if show(suspicion, &smaller, runner).await?.is_some() {
            small = smaller;
        }
    }
    if small == suspicion.case {
        return Ok(None);
    }
    runner.rest().await;
    Ok(show(suspicion, &small, runner).await?.map(|_| small))
}

/// Arguments that are neither required nor the one that carries the payload.
fn spare_arguments(suspicion: &Suspicion) -> Vec<String> {
    let case = &suspicion.case;
    let (Some(injection), Some(arguments)) = (case.intent.injection(), case.arguments()) else {
        return Vec::new();
    };
    let Some(tool) = case.subject.tool().and_then(|tool| suspicion.context.tools.get(tool)) else {
        return Vec::new();
    };
    let required = tool.listed["inputSchema"]["required"].as_array();
    let is_required = |key: &str| required.is_some_and(|names| names.iter().any(|name| name == key));
    let is_needed = |key: &str| is_required(key) || injection.argument() == key;
    let spare = arguments.as_object().into_iter().flatten().map(|(key, _)| key.clone());
    spare.filter(|key| !is_needed(key)).take(MAX_REDUCTIONS).collect()
}

/// A call with one argument less.
fn without(case: &Case, key: &str) -> Case {
    let mut case = case.clone();
    for step in &mut case.steps {
        let Step::Call { params, .. } = step else { continue };
        if let Some(arguments) = params.get_mut("arguments").and_then(Value::as_object_mut) {
            arguments.remove(key);
        }
    }
    case
}
