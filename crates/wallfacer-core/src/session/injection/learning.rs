//! Tools in, what leads into each of them out: valid calls, made as long as there is time for it, and what they did.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::json;

use super::lane::{Lane, side_by_side};
use super::lane_of;
use crate::catalogue::Tool;
use crate::observe::{Answer, observe};
use crate::plan::{
    Case, Ground, Intent, Known, Lesson, Mode, Options, Phase, Planner, Purpose, demanded, said,
};
use crate::run::Recording;
use crate::session::shard::lessons;
use crate::wire::{Body, ConnectError, Content, Outcome};
use wallfacer_process::trace::Kind as Deed;

/// Valid calls of each tool.
const CALLS: usize = 16;
/// The longest argument: a call as it is meant needs no more.
const MAX_BYTES: usize = 1_000;

/// What one call taught.
struct Taught {
    case: Case,
    answer: Answer,
    lessons: Vec<Lesson>,
    demanded: BTreeMap<String, serde_json::Value>,
    changes: Vec<std::path::PathBuf>,
    uses_network: bool,
    runs_programs: bool,
}

/// Makes valid calls, so that it is known what leads into each tool and what it does anyway.
pub fn learn(
    tools: &[&Tool],
    ground: &Ground,
    seed: u64,
    until: Option<Instant>,
    lanes: &mut [Lane<'_>],
) -> Result<BTreeMap<String, Known>, ConnectError> {
    let plan = Options { seed, mode: Mode::Conform, iterations: CALLS, max_bytes: MAX_BYTES };
    let (mut planner, _) = Planner::new(tools.iter().copied(), plan);
    planner
        .learn_success(&Case::tool("", json!({}), Intent::Example, 0), places_that_are_there(tools, ground));
    let mut known: BTreeMap<String, Known> = BTreeMap::new();
    while let Some(round) = planner.next_round().filter(|round| round.phase == Phase::Examples) {
        let cases = in_turn(round.cases);
        for case in &cases {
            let (Some(tool), Some(arguments)) = (case.subject.tool(), case.arguments()) else { continue };
            known.entry(tool.to_owned()).or_default().valid.push(arguments.clone());
        }
        let taught = side_by_side(lanes, |lane, index| {
            try_out(lane, cases.iter().filter(|case| lane_of(tools, case) == index), until)
        })?;
        for taught in taught.into_iter().flatten() {
            note(&mut known, &taught);
            match taught.answer {
                Answer::Completed => planner.learn_success(&taught.case, taught.lessons),
                _ => planner.learn_refusal(&taught.case, taught.lessons),
            }
        }
    }
    lanes.iter_mut().for_each(Lane::forgive);
    Ok(known)
}

/// The first call of each tool, then the second of each: where time is short, something is known of all.
fn in_turn(cases: Vec<Case>) -> Vec<Case> {
    let mut counts: BTreeMap<crate::plan::Subject, usize> = BTreeMap::new();
    let mut counted: Vec<(usize, Case)> = Vec::new();
    for case in cases {
        let count = counts.entry(case.subject.clone()).or_default();
        *count += 1;
        counted.push((*count, case));
    }
    counted.sort_by_key(|(count, _)| *count);
    counted.into_iter().map(|(_, case)| case).collect()
}

fn try_out<'c>(
    lane: &mut Lane<'_>,
    cases: impl Iterator<Item = &'c Case>,
    until: Option<Instant>,
) -> Result<Vec<Taught>, ConnectError> {
    let mut taught = Vec::new();
    for case in cases {
        if until.is_some_and(|until| Instant::now() >= until) {
            break;
        }
        if let Some(recording) = lane.call(case)? {
            taught.extend(read(case, &recording));
        }
    }
    Ok(taught)
}

fn read(case: &Case, recording: &Recording) -> Option<Taught> {
    let answer = observe(recording).steps.last()?.answer.clone();
    let traced = || recording.steps.iter().filter_map(|taken| taken.traced.as_ref());
    let mut events = traced().flat_map(|traced| &traced.events);
    Some(Taught {
        lessons: lessons(&answer, recording),
        demanded: if answer == Answer::Completed { BTreeMap::new() } else { demanded(&refusal(recording)) },
        changes: traced().flat_map(|traced| &traced.changes).map(|change| change.path.clone()).collect(),
        uses_network: traced().any(|traced| !traced.flows.is_empty()),
        runs_programs: events.any(|event| event.call.is_some() && matches!(event.kind, Deed::Execute(_))),
        case: case.clone(),
        answer,
    })
}

fn note(known: &mut BTreeMap<String, Known>, taught: &Taught) {
    let (Some(tool), Some(arguments)) = (taught.case.subject.tool(), taught.case.arguments()) else { return };
    let known = known.entry(tool.to_owned()).or_default();
    if taught.answer == Answer::Completed {
        known.good.push(arguments.clone());
    }
    known.demanded.extend(taught.demanded.clone());
    known.changes.extend(taught.changes.iter().cloned());
    known.uses_network |= taught.uses_network;
    known.runs_programs |= taught.runs_programs;
}

/// Directories and files that a call may name, under every name that an argument of this sort has.
fn places_that_are_there(tools: &[&Tool], ground: &Ground) -> Vec<Lesson> {
    let Some((directory, file)) = &ground.inside else { return Vec::new() };
    let arguments = tools.iter().flat_map(|tool| tool.arguments());
    let lesson = |name: &str| {
        let path = match Purpose::of(name) {
            Purpose::Directory => directory,
            Purpose::File => file,
            _ => return None,
        };
        Some(Lesson { field: name.to_owned(), value: path.to_string_lossy().into() })
    };
    arguments.filter_map(|argument| lesson(argument.name)).collect()
}

/// What a call was refused with.
fn refusal(recording: &Recording) -> String {
    let Some(Outcome::Reply(reply)) = recording.steps.last().and_then(|taken| taken.outcome.as_ref()) else {
        return String::new();
    };
    match &reply.content {
        Content::Reply { body: Body::Error(error), .. } => error.message.clone(),
        _ => reply.result().map(|result| said(&result)).unwrap_or_default(),
    }
}
