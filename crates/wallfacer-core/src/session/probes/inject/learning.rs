//! Learns what leads into each tool: valid calls, and what they did.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Instant;

use regex::Regex;
use serde_json::Value;
use wallfacer_text::lexicon::{Action, does};

use crate::catalogue::Tool;
use crate::observe::{Answer, observe};
use crate::plan::{
    Case, FirstCalls, Ground, Intent, Job, Known, Lesson, Mode, Options, Phase, Planner, Purpose, Step,
    demanded, function, places,
};
use crate::run::Recording;
use crate::session::lab::{Tried, confining, refusal, teach};
use wallfacer_process::trace::{Event, Kind as Deed};

/// Valid calls of each tool.
const CALLS: usize = 16;
/// Those that every tool gets first, unless one that it takes is known; the others are for tools, or functions of a tool, that
/// took none of these.
const FIRST_CALLS: usize = 2;
/// Those that a tool gets at most: what they would teach is not worth the time of the others.
const MOST_CALLS: usize = 9;
/// Rounds of valid calls.
const MAX_ROUNDS: usize = 6;
/// The part of an answer that is looked at for a failure.
const MAX_READ: usize = 160;
/// The longest argument: a call as it is meant needs no more.
const MAX_BYTES: usize = 1_000;

/// What one call taught.
struct Taught {
    answer: Answer,
    demanded: BTreeMap<String, Value>,
    changes: Vec<PathBuf>,
    uses_network: bool,
    runs_programs: bool,
    /// How far the call led: what it did, and nothing where its answer speaks of a failure.
    led: usize,
}

/// Valid calls of each tool, so that it is known what leads into it and what it does anyway.
pub struct Learning {
    planner: Planner,
    pub known: BTreeMap<String, Known>,
    /// What came of the calls of this round.
    back: Vec<Tried>,
    /// The calls of this round, in their order.
    order: Vec<Case>,
    /// Calls that are made only where none before them succeeded.
    held_back: Vec<Case>,
    rounds: usize,
    /// Tools of which a call is known that they take.
    reached: BTreeSet<String>,
    /// These calls.
    worked: Vec<(String, Value)>,
    tools: BTreeMap<String, Tool>,
    /// A directory that is there.
    inside: Option<PathBuf>,
    /// Directories that the server says it keeps to.
    pub confining: BTreeSet<PathBuf>,
    /// When enough is known, because trying is worth more.
    pub until: Option<Instant>,
}

impl Learning {
    pub fn new(tools: &[Tool], ground: &Ground, first_calls: &FirstCalls, seed: u64) -> Learning {
        let plan = Options { seed, mode: Mode::Conform, iterations: CALLS, max_bytes: MAX_BYTES };
        let (mut planner, _) = Planner::new(tools, plan);
        planner.recall(first_calls);
        planner.know(places_that_are_there(tools, ground));
        let tools = tools.iter().map(|tool| (tool.name.clone(), tool.clone())).collect();
        Learning {
            planner,
            known: BTreeMap::new(),
            back: Vec::new(),
            order: Vec::new(),
            held_back: Vec::new(),
            rounds: 0,
            reached: first_calls.reached().map(str::to_owned).collect(),
            worked: first_calls.worked().collect(),
            tools,
            inside: ground.inside.as_ref().map(|(directory, _)| directory.clone()),
            confining: BTreeSet::new(),
            until: None,
        }
    }

    /// Whether what is not known by now is not worth the time.
    pub fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// The calls of the next round; none where enough is known. What was learned is tried before more of the same.
    pub fn next_round(&mut self) -> Option<Vec<Case>> {
        self.learn();
        if self.is_over() {
            // Where there was no time for a single call, it is known all the same which ones are valid.
            if self.rounds == 0 {
                let _not_called = self.plan_round();
            }
            self.rounds = MAX_ROUNDS;
            self.held_back.clear();
        }
        while self.rounds < MAX_ROUNDS {
            self.rounds += 1;
            let Some(cases) = self.plan_round() else {
                self.rounds = MAX_ROUNDS;
                break;
            };
            let (first, later) = in_turn(cases, |tool| match self.reached.contains(tool) {
                true => 1,
                false => FIRST_CALLS,
            });
            self.held_back.extend(later);
            self.order = first.into_iter().filter(|case| self.is_worth(case)).collect();
            if !self.order.is_empty() {
                return Some(self.order.clone());
            }
        }
        let held_back = std::mem::take(&mut self.held_back);
        self.order = held_back.into_iter().filter(|case| self.is_worth(case)).collect();
        if !self.order.is_empty() {
            return Some(self.order.clone());
        }
        set_preludes(&mut self.known, &self.planner);
        self.choose_place();
        note_others(&mut self.known);
        self.recall();
        None
    }

    /// The next round of valid calls, none of which was made yet.
    fn plan_round(&mut self) -> Option<Vec<Case>> {
        let round = self.planner.next_round().filter(|round| round.phase == Phase::Examples)?;
        for case in &round.cases {
            let (Some(tool), Some(arguments)) = (case.subject.tool(), case.arguments()) else { continue };
            self.known.entry(tool.to_owned()).or_default().valid.push(arguments.clone());
        }
        Some(round.cases)
    }

    /// What worked before this test began is the best that is known of a tool of which no call was learned here. It comes last
    /// among what is valid, where it wins over what was only drawn.
    fn recall(&mut self) {
        for (tool, arguments) in std::mem::take(&mut self.worked) {
            let known = self.known.entry(tool).or_default();
            if known.good.is_empty() {
                known.valid.push(arguments.clone());
                known.worked = Some(arguments);
            }
        }
    }

    /// Where a tool says in which directory the others are to work, and nobody said that it must come first, it does so all
    /// the same: that the others succeeded may be owed to it.
    fn choose_place(&mut self) {
        let is_known = self.known.values().any(|known| !known.prelude.is_empty());
        let names_it = |arguments: &&Value| {
            let inside = self.inside.as_ref().map(|inside| inside.to_string_lossy());
            inside.is_some_and(|inside| places(arguments).iter().any(|place| place.value == inside))
        };
        let chooser = self.tools.values().filter(|tool| Job::of(tool).chooses_place).find_map(|tool| {
            let good = &self.known.get(&tool.name)?.good;
            Some((tool.name.clone(), good.iter().find(names_it)?.clone()))
        });
        let Some((chooser, arguments)) = chooser.filter(|_| !is_known) else { return };
        let prelude = Case::tool(&chooser, arguments, Intent::Valid, 0).steps;
        let others = self.known.iter_mut().filter(|(tool, _)| **tool != chooser);
        others.for_each(|(_, known)| known.prelude.clone_from(&prelude));
    }

    /// Whether nothing of the sort has succeeded yet.
    fn is_worth(&self, case: &Case) -> bool {
        let (Some(name), Some(arguments)) = (case.subject.tool(), case.arguments()) else { return true };
        let (Some(tool), Some(known)) = (self.tools.get(name), self.known.get(name)) else { return true };
        let wanted = function(tool, arguments);
        !known.good.iter().any(|good| function(tool, good) == wanted)
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
            self.confining.extend(confining(&tried.case, &tried.recording, &taught.answer));
            let succeeded = teach(&mut self.planner, &tried.case, &taught.answer, &tried.recording);
            note(&mut self.known, &tried.case, taught, succeeded);
        }
    }
}

/// The first call of each tool, then the second of each: where time is short, something is known of all. And those that
/// come later.
fn in_turn(mut cases: Vec<Case>, first_calls: impl Fn(&str) -> usize) -> (Vec<Case>, Vec<Case>) {
    // A call behind the one that must come first teaches more than another guess without it.
    cases.sort_by_key(|case| case.prelude.is_empty());
    let mut counts: BTreeMap<crate::plan::Subject, usize> = BTreeMap::new();
    let mut counted: Vec<(usize, Case)> = Vec::new();
    for case in cases {
        let count = counts.entry(case.subject.clone()).or_default();
        *count += 1;
        counted.push((*count, case));
    }
    // Those that get the server ready come after those that may wait for it: only a refusal tells that they do.
    let prepares =
        |case: &Case| case.subject.tool().is_some_and(|tool| does(tool, Action::Prepares).is_some());
    counted.sort_by_key(|(count, case)| (*count, prepares(case)));
    counted.retain(|(count, _)| *count <= MOST_CALLS);
    let comes_first =
        |(count, case): &(usize, Case)| *count <= first_calls(case.subject.tool().unwrap_or_default());
    let (first, later): (Vec<_>, Vec<_>) = counted.into_iter().partition(comes_first);
    let cases = |counted: Vec<(usize, Case)>| counted.into_iter().map(|(_, case)| case).collect();
    (cases(first), cases(later))
}

fn read(recording: &Recording) -> Option<Taught> {
    let answer = observe(recording).steps.last()?.answer.clone();
    let traced = || recording.steps.iter().filter_map(|taken| taken.traced.as_ref());
    let mut events = traced().flat_map(|traced| &traced.events);
    let refused = recording.steps.last().filter(|_| answer != Answer::Completed).map(refusal);
    let fails = recording.steps.last().is_some_and(|taken| speaks_of_failure(&refusal(taken)));
    let does = |event: &&Event| {
        let acts = matches!(event.kind, Deed::Execute(_) | Deed::Open { .. } | Deed::Connect { .. });
        acts && event.call.is_some() && event.outcome.succeeded()
    };
    let led = traced().flat_map(|traced| &traced.events).filter(does).count();
    Some(Taught {
        led: if fails { 0 } else { 1 + led },
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
        // What led furthest comes first: some say in words alone that a call failed.
        let place = known.led.iter().position(|led| *led < taught.led).unwrap_or(known.led.len());
        known.led.insert(place, taught.led);
        known.good.insert(place, arguments.clone());
    }
    known.demanded.extend(taught.demanded);
    known.changes.extend(taught.changes);
    known.uses_network |= taught.uses_network;
    known.runs_programs |= taught.runs_programs;
}

/// Whether the beginning of an answer says that something went wrong.
fn speaks_of_failure(text: &str) -> bool {
    static FAILS: LazyLock<Regex> = LazyLock::new(|| {
        let words = r"error|exception|failed|failure|cannot|could not|invalid|not found|does not exist|no such|unable";
        Regex::new(&format!(r"(?i)\b(?:{words})\b")).expect("a constant")
    });
    let start: String = text.chars().take(MAX_READ).collect();
    FAILS.is_match(&start)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Entry};
    use serde_json::json;

    #[test]
    fn where_there_is_no_time_for_a_call_it_is_known_which_ones_are_valid() {
        let schema =
            json!({ "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] });
        let listed = json!({ "name": "look", "inputSchema": schema });
        let tools = [Tool::read(listed.as_object().unwrap()).unwrap()];
        let ground = Ground::new(&BTreeMap::new(), &Catalogue::default(), 1);
        let mut learning = Learning::new(&tools, &ground, &FirstCalls::default(), 1);
        learning.until = Some(Instant::now());
        assert!(learning.next_round().is_none());
        let known = &learning.known["look"];
        assert!(!known.valid.is_empty() && known.good.is_empty(), "{known:?}");
    }
}
