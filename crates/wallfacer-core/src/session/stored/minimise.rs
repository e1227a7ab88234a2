//! Makes the case of a stored finding as small as it goes within the budget. Each try has a fresh server.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use wallfacer_schema::{Schema, Shrinker};

use super::trial::{Likeness, Trial};
use crate::event::{Event, Listener};
use crate::findings::{Finding, FindingId, Reproduced};
use crate::plan::{Case, Step};
use crate::session::prove::{Constraint, Narrow, may_leave_out_steps};
use crate::target::Destructive;
use crate::wire::{ConnectError, Connector};

/// Tries, however much time there is.
const MAX_TRIES: u32 = 1_000;
/// How often a case must fail before and after it is made smaller.
const PROOFS: u32 = 2;

/// What came of it.
#[derive(Debug)]
pub enum Minimised {
    /// The smallest case that was found; it may be the one from before.
    Done {
        case: Case,
        tries: u32,
        /// Whether there was nothing left to try.
        complete: bool,
    },
    /// It does not fail each time, so nothing smaller could be told from luck.
    NotReproduced(Reproduced),
    NotReplayable {
        why: String,
    },
}

/// Makes the case of a finding, whose secrets were put back, as small as it goes.
pub async fn minimise(
    connector: Connector,
    other: Option<Connector>,
    finding: &Finding,
    destructive: &Destructive,
    budget: Duration,
    listener: &mut dyn Listener,
) -> Result<Minimised, ConnectError> {
    let mut case = match finding.repro.case() {
        Ok(case) => case,
        Err(why) => return Ok(Minimised::NotReplayable { why: why.to_string() }),
    };
    listener.hear(&Event::Connecting { target: &connector.target().shown() });
    let trial = Trial::open(connector, other, finding).await?;
    if let Some(why) = trial.obstacle(&mut case, destructive) {
        return Ok(Minimised::NotReplayable { why });
    }
    let mut press = Press { trial, wanted: None, until: Instant::now() + budget, tries: 0 };
    let k = press.prove(&case).await?;
    if k < PROOFS {
        press.trial.close().await;
        return Ok(Minimised::NotReproduced(Reproduced { k, n: PROOFS }));
    }
    let smallest = press.press(case.clone()).await?;
    let complete = !press.is_over();
    // What was found small must hold; else the case as it was is the honest one.
    let holds = smallest == case || press.prove(&smallest).await? == PROOFS;
    let tries = press.tries;
    press.trial.close().await;
    Ok(Minimised::Done { case: if holds { smallest } else { case }, tries, complete })
}

struct Press<'a> {
    trial: Trial<'a>,
    /// The origin that every try must have; that of the first proof.
    wanted: Option<FindingId>,
    until: Instant,
    tries: u32,
}

impl Press<'_> {
    fn is_over(&self) -> bool {
        self.tries >= MAX_TRIES || Instant::now() >= self.until
    }

    /// In how many of a few tries the case fails.
    async fn prove(&mut self, case: &Case) -> Result<u32, ConnectError> {
        let mut k = 0;
        for _ in 0..PROOFS {
            k += u32::from(self.fails(case).await?);
        }
        Ok(k)
    }

    async fn fails(&mut self, case: &Case) -> Result<bool, ConnectError> {
        self.tries += 1;
        let charges = self.trial.charges(case).await?;
        let mut same = charges.iter().filter(|(likeness, _)| matches!(likeness, Likeness::Same));
        let ids: Vec<FindingId> = same.by_ref().map(|(_, charge)| self.trial.id(case, charge)).collect();
        let wanted = match &self.wanted {
            Some(wanted) => wanted.clone(),
            None => match ids.first() {
                Some(first) => self.wanted.insert(first.clone()).clone(),
                None => return Ok(false),
            },
        };
        Ok(ids.contains(&wanted))
    }

    /// Fewer steps, then less in each.
    async fn press(&mut self, case: Case) -> Result<Case, ConnectError> {
        if case.claim.as_ref().is_some_and(|claim| claim.sequence().is_some()) {
            return match may_leave_out_steps(&self.trial.finding.kind) {
                true => self.leave_out(case).await,
                false => Ok(case),
            };
        }
        if case.claim.is_some() {
            return self.narrow(case).await;
        }
        let mut case = self.without_prelude(case).await?;
        case = self.shorten(case).await?;
        for index in 0..case.steps.len() {
            case = self.lighten(case, index).await?;
        }
        Ok(case)
    }

    /// Leaves out steps of a sequence that it does not need to fail.
    async fn leave_out(&mut self, mut case: Case) -> Result<Case, ConnectError> {
        let steps = case.claim.as_ref().and_then(|claim| claim.sequence()).map_or(0, |it| it.steps.len());
        for index in 0..steps {
            let mut shorter = case.clone();
            let news = shorter.claim.as_mut().is_some_and(|claim| claim.left_out.insert(index));
            if news && !self.is_over() && self.fails(&shorter).await? {
                case = shorter;
            }
        }
        Ok(case)
    }

    /// Makes the arguments of a rule's calls smaller, within what the rule could have sent.
    async fn narrow(&mut self, case: Case) -> Result<Case, ConnectError> {
        let narrow = Narrow::of(&case, &self.trial.context);
        let Some(narrow) = &narrow else { return Ok(case) };
        let Some(mut shrinker) = narrow.shrinker(&case) else { return Ok(case) };
        let mut smallest = case.clone();
        while !self.is_over()
            && let Some(proposal) = shrinker.next()
        {
            let smaller = narrow.case(&case, proposal);
            let fails = match &smaller {
                Some(smaller) => self.fails(smaller).await?,
                None => false,
            };
            shrinker.keep(fails);
            smallest = smaller.filter(|_| fails).unwrap_or(smallest);
        }
        Ok(smallest)
    }

    /// Leaves out what came first, where it is not needed.
    async fn without_prelude(&mut self, case: Case) -> Result<Case, ConnectError> {
        let alone = Case { prelude: Vec::new(), ..case.clone() };
        let shorter = alone != case && self.fails(&alone).await?;
        Ok(if shorter { alone } else { case })
    }

    /// Leaves out steps, many at a time and then fewer.
    async fn shorten(&mut self, mut case: Case) -> Result<Case, ConnectError> {
        let mut size = case.steps.len() / 2;
        while size > 0 {
            let mut start = 0;
            while start < case.steps.len() && !self.is_over() {
                let mut shorter = case.clone();
                shorter.steps.drain(start..(start + size).min(case.steps.len()));
                match !shorter.steps.is_empty() && self.fails(&shorter).await? {
                    true => case = shorter,
                    false => start += size,
                }
            }
            size /= 2;
        }
        Ok(case)
    }

    /// Makes what one call sends smaller. Raw frames stay as they are: with less of one, silence would mean nothing.
    async fn lighten(&mut self, case: Case, index: usize) -> Result<Case, ConnectError> {
        let Some(sent) = payload(&case.steps[index]) else { return Ok(case) };
        let schema = self.schema(&case.steps[index]);
        let learned = case.measure.is_some();
        let constraint = Constraint::of(&self.trial.finding.kind, &case.intent, learned, &sent, &schema);
        let mut shrinker = Shrinker::new(&schema, sent, constraint.class());
        let mut smallest = case.clone();
        while !self.is_over()
            && let Some(proposal) = shrinker.next()
        {
            let kept = constraint.is_kept_by(&proposal, &schema);
            let lighter = with_payload(&case, index, proposal);
            let fails = kept && self.fails(&lighter).await?;
            shrinker.keep(fails);
            if fails {
                smallest = lighter;
            }
        }
        Ok(smallest)
    }

    /// The schema that a call's payload goes by; anything is allowed where none is declared.
    fn schema(&self, step: &Step) -> Schema {
        let name = match step {
            Step::Call { method, params } if method == "tools/call" => {
                params.get("name").and_then(Value::as_str)
            }
            _ => None,
        };
        let tools = &self.trial.catalogue.tools.entries;
        let tool = name.and_then(|name| tools.iter().find(|tool| tool.name == name));
        let declared = tool.and_then(|tool| Schema::compile(tool.input_schema()).ok());
        declared.unwrap_or_else(|| Schema::compile(&json!({})).expect("an empty schema allows anything"))
    }
}

/// What of a call is made smaller: the arguments of a tool, else all parameters.
fn payload(step: &Step) -> Option<Value> {
    match step {
        Step::Call { method, params } if method == "tools/call" => params.get("arguments").cloned(),
        Step::Call { params, .. } => Some(Value::Object(params.clone())),
        _ => None,
    }
}

fn with_payload(case: &Case, index: usize, payload: Value) -> Case {
    let mut case = case.clone();
    if let Step::Call { method, params } = &mut case.steps[index] {
        match payload {
            payload if method == "tools/call" => drop(params.insert("arguments".to_owned(), payload)),
            Value::Object(smaller) => *params = smaller,
            // Parameters are an object or nothing.
            _ => params.clear(),
        }
    }
    case
}
