//! Proves several injections on the same two fresh servers: one after another, then in the reverse order. Of any two each
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
    second: Option<&mut Runner>,
) -> Result<Vec<Confirmed>, ConnectError> {
    let shown = match second {
        Some(second) => {
            let forth = in_order(proof, runner, false);
            let back = in_order(proof, second, true);
            let (forth, back) = tokio::join!(forth, back);
            [forth?, back?]
        }
        None => {
            let forth = in_order(proof, runner, false).await?;
            runner.rest().await;
            [forth, in_order(proof, runner, true).await?]
        }
    };
    let mut reduced: BTreeSet<Cause> = BTreeSet::new();
    let mut confirmed = Vec::new();
    for (index, suspicion) in proof.suspicions.iter().enumerate() {
        let charges = shown.iter().filter_map(|shown| shown.get(&index)).collect::<Vec<&Charge>>();
        let [charge, _] = charges[..] else {
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
            case = reduce(proof, suspicion, runner).await?.unwrap_or(case);
        }
        let reproduced = Reproduced { k: SERVERS, n: SERVERS };
        confirmed.push(Confirmed::Finding { charge: Box::new(charge.clone()), case, reproduced });
    }
    Ok(confirmed)
}

fn is_over(proof: &Proof) -> bool {
    proof.until.is_some_and(|until| Instant::now() >= until)
}

/// What shows on one fresh server, by the place in the batch.
async fn in_order(
    proof: &Proof,
    runner: &mut Runner,
    backwards: bool,
) -> Result<BTreeMap<usize, Charge>, ConnectError> {
    let mut shown = BTreeMap::new();
    let mut order: Vec<usize> = (0..proof.suspicions.len()).collect();
    if backwards {
        order.reverse();
    }
    for index in order {
        if is_over(proof) {
            break;
        }
        let suspicion = &proof.suspicions[index];
        shown.extend(show(suspicion, &suspicion.case, runner).await?.map(|charge| (index, charge)));
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
