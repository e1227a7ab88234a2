//! Reads what an answer teaches the plan: arguments that are good, values that other tools take, what a refusal asks for.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::observe::Answer;
use crate::plan::{Case, Lesson, Planner, Teaching, failure_in_words, harvest, said, unready};
use crate::run::{Recording, Taken};
use crate::wire::{Body, Content, Incoming, Outcome};
use crate::world::confining_directories;

/// What a valid call of a tool was answered, where that is that something must come first.
pub fn wants_another_first(case: &Case, answer: &Answer, recording: &Recording) -> Option<String> {
    let valid = case.intent.is_valid() == Some(true) && case.subject.tool().is_some();
    unready(&refusal(recording.steps.last().filter(|_| valid)?), *answer == Answer::Completed)
}

/// Tells a plan what a valid call was answered; whether that was a success.
pub fn teach(planner: &mut Planner, case: &Case, answer: &Answer, recording: &Recording) -> bool {
    let completed = *answer == Answer::Completed;
    let unready = wants_another_first(case, answer, recording);
    if unready.is_some_and(|text| planner.learn_unready(case, &text, completed)) {
        return false;
    }
    let teaching = teaching(answer, recording);
    let succeeded = completed && !matches!(teaching, Teaching::Refusal(_));
    planner.learn(case, teaching);
    succeeded
}

/// The values that the answer to the last call of a case named.
pub fn named(answer: &Answer, recording: &Recording) -> Vec<Lesson> {
    let outcome = recording.steps.last().and_then(|taken| taken.outcome.as_ref());
    outcome.map(|outcome| named_by(answer, outcome)).unwrap_or_default()
}

/// The values that one answer named.
pub fn named_by(answer: &Answer, outcome: &Outcome) -> Vec<Lesson> {
    match taught_by(answer, outcome) {
        Teaching::Result(lessons) => lessons,
        _ => Vec::new(),
    }
}

/// What a call was answered, in words.
pub fn refusal(taken: &Taken) -> String {
    let Some(Outcome::Reply(reply)) = &taken.outcome else { return String::new() };
    words(reply)
}

fn words(reply: &Incoming) -> String {
    match &reply.content {
        Content::Reply { body: Body::Error(error), .. } => error.message.clone(),
        _ => reply.result().map(|result| said(&result)).unwrap_or_default(),
    }
}

/// The directories that the last answer of a case says the server keeps to.
pub fn confining(case: &Case, recording: &Recording, answer: &Answer) -> BTreeSet<PathBuf> {
    let Some(taken) = recording.steps.last() else { return BTreeSet::new() };
    let sent = serde_json::to_string(&case.steps).unwrap_or_default();
    confining_directories(&refusal(taken), &sent, *answer != Answer::Completed)
}

/// Whether a result says in words that the call failed.
pub fn fails_in_words(taken: &Taken) -> bool {
    let Some(Outcome::Reply(reply)) = &taken.outcome else { return false };
    reply.result().is_some_and(|result| failure_in_words(&result).is_some())
}

/// What the answer to the last call of a case teaches.
pub(super) fn teaching(answer: &Answer, recording: &Recording) -> Teaching {
    let outcome = recording.steps.last().and_then(|taken| taken.outcome.as_ref());
    outcome.map_or(Teaching::Nothing, |outcome| taught_by(answer, outcome))
}

fn taught_by(answer: &Answer, outcome: &Outcome) -> Teaching {
    let Outcome::Reply(reply) = outcome else { return Teaching::Nothing };
    match answer {
        Answer::Completed => {
            let result = reply.result().unwrap_or_default();
            // Many servers refuse in words, and call it a success.
            match failure_in_words(&result) {
                Some(text) => Teaching::refusal(&text),
                None => Teaching::Result(harvest(&result)),
            }
        }
        _ => Teaching::refusal(&words(reply)),
    }
}
