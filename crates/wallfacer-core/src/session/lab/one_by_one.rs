//! Performs cases one at a time on one server, so that whatever happens belongs to the call that is being made.

use std::collections::BTreeSet;
use std::time::Instant;

use super::Failed;
use super::attempt::{Attempt, attempt};
use super::idle::Crew;
use crate::judge::{Context, Judgement};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Met};
use crate::run::{Recording, Taken};

/// Calls after which a server is replaced, so that what it has gathered does not slow the rest down.
const LIFE: u64 = 250;

/// A case that was performed, with all that was seen of it.
#[derive(Debug)]
pub struct Tried {
    pub case: Case,
    pub recording: Recording,
    pub seen: Observation,
    pub judgement: Judgement,
    /// The case with the steps that were taken, where they were not known before.
    pub played: Option<Case>,
    /// It was not answered soon, so that the others went on without it: nothing is known of it yet.
    pub aside: bool,
}

impl Tried {
    /// What became of the last step.
    pub fn answer(&self) -> Option<&Answer> {
        self.seen.steps.last().map(|step| &step.answer)
    }

    /// Whether the server ended, or left it without an answer.
    pub fn is_fatal(&self) -> bool {
        self.recording.steps.iter().any(Taken::is_fatal)
    }
}

/// Performs all cases for which there is time. A subject that was set aside is left alone: those cases are not tried.
pub(super) fn perform(
    cases: Vec<Case>,
    patient: bool,
    crew: &mut Crew,
    context: &Context,
    until: Option<Instant>,
) -> Result<Vec<Tried>, Failed> {
    let mut tried: Vec<Tried> = Vec::new();
    let mut met = Met::default();
    let mut aside = BTreeSet::new();
    for case in cases {
        let over = until.is_some_and(|until| Instant::now() >= until);
        if over || crew.stop.is_told() {
            break;
        }
        if met.explains(&case) || aside.contains(&case.subject) {
            continue;
        }
        let one = one(case, patient, crew, context)?;
        if one.aside {
            aside.insert(one.case.subject.clone());
        }
        if !one.judgement.charges.is_empty() {
            met.add(&one.case);
        }
        tried.push(one);
    }
    Ok(tried)
}

fn one(case: Case, patient: bool, crew: &mut Crew, context: &Context) -> Result<Tried, Failed> {
    let Crew { runner, runtime, stop, .. } = crew;
    if runner.asked >= LIFE {
        runtime.block_on(stop.unless(runner.rest()))?;
    }
    // A sequence has its own limits, and what is repeated is no single silence.
    let single = case.single_call().is_some();
    let patience = match patient || !single {
        true => runner.patience().clone(),
        false => runner.patience().brief(),
    };
    let Attempt { recording, seen, judgement, played } =
        runtime.block_on(stop.unless(attempt(runner, &case, &patience, context)))??;
    let aside = patience.is_brief() && recording.steps.iter().any(Taken::is_silent);
    Ok(Tried { case, recording, seen, judgement, played, aside })
}
