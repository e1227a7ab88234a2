//! Learns what leads into each tool: valid calls, and what they did.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::catalogue::Tool;
use crate::observe::{Answer, observe};
use crate::plan::{Case, Ground, Known, Lesson, Mode, Options, Phase, Planner, Purpose, Step, demanded};
use crate::run::Recording;
use crate::session::lab::{Tried, refusal, teach};
use wallfacer_process::trace::Kind as Deed;

/// Valid calls of each tool.
const CALLS: usize = 16;
/// The longest argument: a call as it is meant needs no more.
const MAX_BYTES: usize = 1_000;

/// What one call taught.
struct Taught {
    answer: Answer,
    demanded: BTreeMap<String, serde_json::Value>,
    changes: Vec<PathBuf>,
    uses_network: bool,
    runs_programs: bool,
}

/// Valid calls of each tool, so that it is known what leads into it and what it does anyway.
pub struct Learning {
    planner: Planner,
    pub known: BTreeMap<String, Known>,
    /// What came of the calls of this round.
    back: Vec<Tried>,
    /// The calls of this round, in their order.
    order: Vec<Case>,
}

impl Learning {
    pub fn new(tools: &[Tool], ground: &Ground, seed: u64) -> Learning {
        let plan = Options { seed, mode: Mode::Conform, iterations: CALLS, max_bytes: MAX_BYTES };
        let (mut planner, _) = Planner::new(tools, plan);
        planner.know(places_that_are_there(tools, ground));
        Learning { planner, known: BTreeMap::new(), back: Vec::new(), order: Vec::new() }
    }

    /// The calls of the next round; none where enough is known.
    pub fn next_round(&mut self) -> Option<Vec<Case>> {
        self.learn();
        let round = self.planner.next_round().filter(|round| round.phase == Phase::Examples);
        let Some(round) = round else {
            set_preludes(&mut self.known, &self.planner);
            note_others(&mut self.known);
            return None;
        };
        self.order = in_turn(round.cases);
        for case in &self.order {
            let (Some(tool), Some(arguments)) = (case.subject.tool(), case.arguments()) else { continue };
            self.known.entry(tool.to_owned()).or_default().valid.push(arguments.clone());
        }
        Some(self.order.clone())
    }

    pub fn take(&mut self, tried: Tried) {
        self.back.push(tried);
    }

    /// Learns from what is back, in the order of the calls.
    fn learn(&mut self) {
        let place = |tried: &Tried| self.order.iter().position(|case| *case == tried.case);
        let mut back = std::mem::take(&mut self.back);
        back.sort_by_key(place);
        for tried in back {
            let Some(taught) = read(&tried.recording) else { continue };
            let succeeded = teach(&mut self.planner, &tried.case, &taught.answer, &tried.recording);
            note(&mut self.known, &tried.case, taught, succeeded);
        }
    }
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

fn read(recording: &Recording) -> Option<Taught> {
    let answer = observe(recording).steps.last()?.answer.clone();
    let traced = || recording.steps.iter().filter_map(|taken| taken.traced.as_ref());
    let mut events = traced().flat_map(|traced| &traced.events);
    let refused = recording.steps.last().filter(|_| answer != Answer::Completed).map(refusal);
    Some(Taught {
        demanded: refused.map(|refused| demanded(&refused)).unwrap_or_default(),
        changes: traced().flat_map(|traced| &traced.changes).map(|change| change.path.clone()).collect(),
        uses_network: traced().any(|traced| !traced.flows.is_empty()),
        runs_programs: events.any(|event| event.call.is_some() && matches!(event.kind, Deed::Execute(_))),
        answer,
    })
}

fn note(known: &mut BTreeMap<String, Known>, case: &Case, taught: Taught, succeeded: bool) {
    let (Some(tool), Some(arguments)) = (case.subject.tool(), case.arguments()) else { return };
    let known = known.entry(tool.to_owned()).or_default();
    if succeeded {
        known.good.push(arguments.clone());
    }
    known.demanded.extend(taught.demanded);
    known.changes.extend(taught.changes);
    known.uses_network |= taught.uses_network;
    known.runs_programs |= taught.runs_programs;
}

/// What the tools of a server say of those that took no call.
fn note_others(known: &mut BTreeMap<String, Known>) {
    let succeeds = known.values().any(|known| !known.good.is_empty());
    let runs_none = succeeds && known.values().all(|known| !known.runs_programs);
    known.values_mut().for_each(|known| known.others_run_none = runs_none);
}

/// What must come first for one tool comes first for all others: servers live on from one call to the next, so it may have
/// been there by chance when they succeeded.
fn set_preludes(known: &mut BTreeMap<String, Known>, planner: &Planner) {
    let own: BTreeMap<&str, &[Step]> = planner.preludes().collect();
    let Some(common) = planner.preludes().next().map(|(_, prelude)| prelude) else { return };
    for (tool, known) in known {
        let is_part = common.iter().any(|step| step.tool() == Some(tool));
        let common = if is_part { &[] } else { common };
        known.prelude = own.get(tool.as_str()).copied().unwrap_or(common).to_vec();
    }
}

/// Directories and files that a call may name, under every name that an argument of this sort has.
fn places_that_are_there(tools: &[Tool], ground: &Ground) -> Vec<Lesson> {
    let Some((directory, file)) = &ground.inside else { return Vec::new() };
    let arguments = tools.iter().flat_map(|tool| tool.arguments());
    let lessons = |name: &str| {
        // What is called a path may be that of a directory.
        let paths = match Purpose::of(name) {
            Purpose::Directory => vec![directory],
            Purpose::File => vec![file, directory],
            _ => Vec::new(),
        };
        let lesson = |path: &PathBuf| Lesson { field: name.to_owned(), value: path.to_string_lossy().into() };
        paths.into_iter().map(lesson).collect::<Vec<Lesson>>()
    };
    arguments.flat_map(|argument| lessons(argument.name)).collect()
}
