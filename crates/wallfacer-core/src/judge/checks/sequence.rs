//! A sequence must go as it is written.

use serde_json::Value;
use wallfacer_rules::{Client, Outcome, Sequence};

use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::verdict::Concern;
use crate::wire::shortened;

const SHOWN: usize = 2_000;

/// The step that went wrong.
#[derive(Debug)]
pub struct Failure {
    /// Its place among the steps, from 0.
    pub index: usize,
    pub why: String,
    /// What the server answered, where it did.
    pub answer: Option<Value>,
}

/// What is held against a server that breaks a sequence.
pub fn sequence_charge(sequence: &Sequence, failure: &Failure) -> Charge {
    let Failure { index, why, answer } = failure;
    let call = sequence.steps.get(*index).map(|step| step.call.clone()).unwrap_or_default();
    let part = format!("step {}", index + 1);
    let kind = if is_leak(sequence, failure) {
        Kind::StateLeak
    } else {
        Kind::SequenceFailure { sequence: sequence.name.clone(), step_index: *index, step_call: call.clone() }
    };
    let described = sequence.description.as_deref().map(|text| text.trim().trim_end_matches('.'));
    let message = match described.filter(|text| !text.is_empty()) {
        _ if kind == Kind::StateLeak => {
            format!(
                "what one session stored came back in another, at {part} of `{}`, `{call}`",
                sequence.name
            )
        }
        Some(text) => format!("`{}` fails at {part}, `{call}`: {text}", sequence.name),
        None => format!("`{}` fails at {part}, `{call}`: {why}", sequence.name),
    };
    let mut charge =
        Charge::new("keeps-its-sequence", kind, Cause::rule(&sequence.name, Some(&part)), message);
    charge.concern = Concern::Rules;
    charge.details = sequence.description.clone().unwrap_or_default();
    let answer = answer.as_ref().map(|answer| shortened(&answer.to_string(), SHOWN)).unwrap_or_default();
    charge.with("because", why.clone()).with("answer", answer)
}

/// Whether another client got to see what it should not: it had an answer, where an error was due or the content is
/// wrong.
fn is_leak(sequence: &Sequence, failure: &Failure) -> bool {
    let Some(step) = sequence.steps.get(failure.index) else { return false };
    let answered =
        failure.answer.as_ref().is_some_and(|answer| answer.get("isError") != Some(&Value::Bool(true)));
    let by_other =
        step.client == Client::Other && (step.expect == Outcome::Error || !step.assertions.is_empty());
    let last = failure.index + 1 == sequence.steps.len();
    answered && (by_other || sequence.leak && last)
}
