//! Plays a sequence of a rule file step by step, on a server that nobody has spoken to: what an answer says goes into the
//! calls after it.

use serde_json::{Map, Value};
use wallfacer_rules::{Client, Context as Facts, Sequence, Step as Written, Steps, Verdict};

use super::attempt::Attempt;
use crate::findings::Kind;
use crate::judge::{Context, Failure, response, sequence_charge, unanswered, weigh};
use crate::observe::{observe, see};
use crate::plan::{Case, Step};
use crate::run::{Patience, Recording, Runner, Taken};
use crate::wire::ConnectError;

/// Calls of one sequence, repeated ones counted each: a file cannot keep us for ever.
const MAX_CALLS: usize = 100_000;

/// How a step went.
enum Went {
    Well,
    Wrong(Failure),
    /// Nothing can be said of what comes after. A server that is gone or silent is a finding by itself.
    Unknown(String),
}

/// Plays a sequence from its beginning.
pub(super) async fn play(
    runner: &mut Runner,
    case: &Case,
    sequence: &Sequence,
    patience: &Patience,
    context: &Context,
) -> Result<Attempt, ConnectError> {
    runner.rest().await;
    let left_out = case.claim.as_ref().map(|claim| claim.left_out.clone()).unwrap_or_default();
    let mut player =
        Player { runner, patience, context, bound: Steps::default(), sent: Vec::new(), taken: Vec::new() };
    let mut went = Went::Well;
    for (index, step) in sequence.steps.iter().enumerate().filter(|(index, _)| !left_out.contains(index)) {
        went = player.repeat(step, index).await?;
        if !matches!(went, Went::Well) {
            break;
        }
    }
    let is_gone = player.taken.iter().any(Taken::is_fatal);
    let stderr = player.runner.last_words().filter(|_| is_gone);
    player.clean_up(sequence, is_gone).await;
    let Player { sent, taken, runner, .. } = player;
    let recording = Recording { steps: taken, stderr };
    runner.rest().await;
    let played = Case { steps: sent, ..case.clone() };
    let seen = observe(&recording);
    let mut judgement = weigh(&played, &recording, &seen, context);
    match went {
        Went::Wrong(failure) => {
            // The time that ran out was the sequence's own.
            judgement.charges.retain(|charge| !matches!(charge.kind, Kind::Hang { .. }));
            judgement.charges.push(sequence_charge(sequence, &failure));
        }
        Went::Unknown(why) => judgement.unknown = Some(why),
        Went::Well => {}
    }
    Ok(Attempt { recording, seen, judgement, played: Some(played) })
}

struct Player<'a> {
    runner: &'a mut Runner,
    patience: &'a Patience,
    context: &'a Context,
    bound: Steps,
    sent: Vec<Step>,
    taken: Vec<Taken>,
}

impl Player<'_> {
    async fn repeat(&mut self, step: &Written, index: usize) -> Result<Went, ConnectError> {
        for _ in 0..step.repeat {
            if self.sent.len() >= MAX_CALLS {
                return Ok(Went::Unknown(format!("it makes more than {MAX_CALLS} calls")));
            }
            match self.take(step, index).await? {
                Went::Well => {}
                other => return Ok(other),
            }
        }
        Ok(Went::Well)
    }

    async fn take(&mut self, step: &Written, index: usize) -> Result<Went, ConnectError> {
        let input = match step.with.resolve(&self.context.known(self.bound.value())) {
            Ok(input) => input,
            Err(unresolved) if unresolved.is_unknown || step.precondition => {
                return Ok(Went::Unknown(unresolved.to_string()));
            }
            Err(unresolved) => {
                return Ok(Went::Wrong(Failure { index, why: unresolved.to_string(), answer: None }));
            }
        };
        let taken = self.call(step, &input).await?;
        let seen = see(&taken);
        let answer = response(&taken, &seen);
        let effects = self.context.effects(&taken);
        let (fatal, gone) = (taken.is_fatal(), taken.closed.is_some());
        self.taken.push(taken);
        let Some(answer) = answer else {
            return Ok(match step.timeout.filter(|_| fatal && !gone) {
                Some(limit) => {
                    let why = format!("no answer came within {limit:?}");
                    Went::Wrong(Failure { index, why, answer: None })
                }
                None => Went::Unknown(unanswered(&step.call, &seen.answer)),
            });
        };
        let facts = Facts {
            input: &input,
            response: &answer,
            tool: self.context.tools.get(&step.call).map(|facts| &*facts.listed),
            effects: effects.as_ref(),
            latency: Some(seen.took),
            known: self.context.known(self.bound.value()),
        };
        let verdict = step.judge(&facts);
        if let Some(name) = &step.bind {
            self.bound.bind(name, input, answer.clone());
        }
        Ok(match verdict {
            Verdict::Holds => Went::Well,
            Verdict::Broken(why) => Went::Wrong(Failure { index, why, answer: Some(answer) }),
            Verdict::Unknown(why) => Went::Unknown(why),
        })
    }

    async fn call(&mut self, step: &Written, input: &Value) -> Result<Taken, ConnectError> {
        let params = Map::from_iter([
            ("name".to_owned(), Value::from(step.call.as_str())),
            ("arguments".to_owned(), input.clone()),
        ]);
        let call = Step::Call { method: "tools/call".to_owned(), params };
        let patience =
            step.timeout.map_or_else(|| self.patience.clone(), |limit| self.patience.at_most(limit));
        let life = match step.client {
            Client::Main => self.runner.life().await?,
            Client::Other => self.runner.other().await?,
        };
        let taken = life.take(&call, &patience).await;
        self.sent.push(call);
        Ok(taken)
    }

    /// Makes the calls that put things back, also after a failure. Nothing is judged in them, and nothing hangs on them.
    async fn clean_up(&mut self, sequence: &Sequence, is_gone: bool) {
        if sequence.cleanup.is_empty() {
            return;
        }
        if is_gone {
            self.runner.rest().await;
        }
        let sent = self.sent.len();
        for step in &sequence.cleanup {
            let Ok(input) = step.with.resolve(&self.context.known(self.bound.value())) else { continue };
            match self.call(step, &input).await {
                Ok(taken) if !taken.is_fatal() => {}
                _ => break,
            }
        }
        self.sent.truncate(sent);
    }
}
