//! Puts payloads into every string that a server takes, one call at a time in worlds where every effect is seen, and keeps
//! what is proven by its effect.

mod learning;
mod queue;
mod worlds;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;

pub use self::worlds::{prepare, why_unseen, with_worlds};

use self::learning::Learning;
use self::queue::Queue;
use self::worlds::{ground, world};
use super::notebook::Seen;
use super::{Notebook, Probe};
use crate::catalogue::{Catalogue, Tool};
use crate::event::{Event, Listener};
use crate::judge::{Context, proof};
use crate::plan::{
    Aim, Case, FirstCalls, Ground, InjectionSchedule, Met, Rank, Ranked, guesses, offer_injections,
    taken_away,
};
use crate::run::{Recording, Taken};
use crate::session::agenda::Selection;
use crate::session::lab::{Done, Job, Lab, Tried, Work, World, confining};
use crate::session::look;
use crate::session::prove::{Interest, Outcome};
use crate::shard::Shard;
use crate::summary::NotTested;

/// Calls of one job; between two jobs others have their turn.
const CALLS_OF_A_JOB: usize = 16;
/// Calls of one job of a tool that takes its time.
const CALLS_OF_A_SLOW_JOB: usize = 3;
/// Tools that are tried at the same time.
const MAX_LANES: usize = 4;
/// Deaths of one tool after which it is left alone: fuzzing is for those.
const MAX_DEATHS: usize = 4;
/// The same for silences, which cost a whole time limit each.
const MAX_SILENCES: usize = 2;
/// Jobs of tools that nobody waits for are told apart by their numbers.
const LATE: u64 = 1 << 32;
/// How many of the tools that nothing was tried with are named; the others are only counted.
const MAX_NAMED: usize = 3;
/// Learning what leads into each tool takes at most one part in so many of the time that is left.
const FOR_LEARNING: u32 = 4;
/// What this is called while it goes on.
const PHASE: &str = "injection";

/// What injections have come to so far.
pub struct Inject {
    seen: Seen,
    seed: u64,
    ground: Ground,
    tools: Vec<Tool>,
    /// The part of the plan that is done here.
    shard: Shard,
    first_calls: Arc<FirstCalls>,
    /// When nothing is tried any more.
    end: Option<Instant>,
    learning: Learning,
    stage: Stage,
    waiting: Queue,
    /// Tools that do not answer at once: their calls have all of their time.
    slow: BTreeSet<String>,
    /// Whether it is to be seen what the server lists without the settings that take tools away.
    looks_freely: bool,
    /// Whether that list is still to come. Nothing else waits for it: such a server may be slow to start, or never do so.
    is_listing: bool,
    /// Calls that were not answered at once: they have all of their time, on servers of their own.
    patient: VecDeque<Case>,
    /// Tools of which not even a valid call was answered at once: each has all of its time, and nobody waits for it.
    late: Vec<Inject>,
    is_late: bool,
    /// Calls of tools that are in no list.
    hidden: Vec<Ranked>,
    /// Tools with a job under way: what is known of a tool is known before its next job.
    busy: BTreeMap<u64, Vec<Ranked>>,
    catalogue: Arc<Catalogue>,
    trouble: BTreeMap<String, Trouble>,
    /// What of which place is suspected already, so that nothing more is tried there.
    met: Met,
    /// Ways out of a directory that nobody declared, which are worth a note; and the cases, for it may be declared later.
    noted: Met,
    reached: Vec<Ranked>,
    next: u64,
    pub calls: u64,
    /// Why nothing was tried.
    pub unseen: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Start,
    Learning,
    Trying,
}

#[derive(Debug, Clone, Copy, Default)]
struct Trouble {
    deaths: usize,
    silences: usize,
}

impl Trouble {
    fn is_enough(self) -> bool {
        self.deaths >= MAX_DEATHS || self.silences >= MAX_SILENCES
    }
}

impl Inject {
    /// A probe for injections, in a laboratory that has their worlds.
    pub fn new(
        lab: &Lab,
        known: &look::Known,
        selection: &Selection,
        context: Context,
        seed: u64,
        end: Option<Instant>,
    ) -> Inject {
        let look::Known { catalogue, first_calls, .. } = known;
        let ground = ground(lab.connector(World::Planted), catalogue, seed);
        let looks_freely = lab.has(World::Unrestricted);
        let tools = catalogue.tools.entries.iter().filter(|tool| selection.wants(&tool.name));
        let seen = Seen { world: World::Planted, context: Arc::new(context), interest: Interest::INJECTION };
        let tools: Vec<Tool> = tools.cloned().collect();
        let shard = selection.shard();
        let inject = Inject::of(tools, seen, ground, first_calls.clone(), shard, (seed, end));
        Inject { catalogue: catalogue.clone(), looks_freely, ..inject }
    }

    /// A probe for these tools alone, without anything else that the server offers.
    fn of(
        tools: Vec<Tool>,
        seen: Seen,
        ground: Ground,
        first_calls: Arc<FirstCalls>,
        shard: Shard,
        (seed, end): (u64, Option<Instant>),
    ) -> Inject {
        Inject {
            learning: Learning::new(&tools, &ground, &first_calls, seed),
            seen,
            seed,
            ground,
            tools,
            shard,
            first_calls,
            end,
            stage: Stage::Start,
            catalogue: Arc::default(),
            looks_freely: false,
            is_listing: false,
            slow: BTreeSet::new(),
            hidden: Vec::new(),
            waiting: Queue::default(),
            patient: VecDeque::new(),
            late: Vec::new(),
            is_late: false,
            busy: BTreeMap::new(),
            trouble: BTreeMap::new(),
            met: Met::default(),
            noted: Met::default(),
            reached: Vec::new(),
            next: 0,
            calls: 0,
            unseen: None,
        }
    }

    /// Nobody waits for this tool any more.
    fn set_apart(&mut self, name: &str) {
        let Some(place) = self.tools.iter().position(|tool| tool.name == name) else { return };
        let tools = vec![self.tools.remove(place)];
        self.waiting.leave(name);
        let (seen, ground, first_calls) = (self.seen.clone(), self.ground.clone(), self.first_calls.clone());
        let late = Inject::of(tools, seen, ground, first_calls, self.shard, (self.seed, self.end));
        self.late.push(Inject { stage: Stage::Learning, is_late: true, ..late });
    }

    /// The likeliest first, whichever tool they belong to.
    fn plan(&mut self, listener: &mut dyn Listener) {
        for stated in std::mem::take(&mut self.learning.confining) {
            self.ground.declare(&stated);
        }
        let mine = self.tools.iter().filter(|tool| self.shard.takes(PHASE, &tool.name));
        let known = |tool: &Tool| self.learning.known.get(&tool.name).cloned().unwrap_or_default();
        let schedule =
            InjectionSchedule::new(mine.map(|tool| (tool.clone(), known(tool))), &self.ground, self.seed);
        let mut others = offer_injections(&self.catalogue, &self.ground, self.seed);
        others.extend(guesses(&self.catalogue, "", self.seed));
        others.append(&mut self.hidden);
        self.waiting = Queue::new(schedule, self.shard.share(PHASE, others));
        self.trouble.clear();
        self.stage = Stage::Trying;
        if !self.waiting.is_empty() {
            let cases = self.waiting.most();
            listener.hear(&Event::RoundBegun { phase: PHASE, cases });
        }
    }

    /// Takes calls of one tool and one world from the front, as far as they go together.
    fn next_cases(&mut self) -> Option<(World, Vec<Ranked>)> {
        if self.busy.len() >= MAX_LANES {
            return None;
        }
        let busy: BTreeSet<&str> = self.busy.values().flatten().map(|ranked| tool(&ranked.case)).collect();
        let Inject { met, noted, slow, trouble, .. } = self;
        let is_new = |case: &Case| {
            let is_known = met.explains(case) || is_undeclared(case) && noted.explains(case);
            !is_known && !trouble.get(tool(case)).is_some_and(|trouble| trouble.is_enough())
        };
        let most = |name: &str| if slow.contains(name) { CALLS_OF_A_SLOW_JOB } else { CALLS_OF_A_JOB };
        self.waiting.next(&busy, is_new, most)
    }

    /// What was handed out and not tried, because a call before it was not answered at once, is tried later.
    fn take_back(&mut self, handed: Vec<Ranked>, tried: &[Tried]) {
        let is_tried = |case: &Case| tried.iter().any(|tried| tried.case == *case);
        for ranked in handed.into_iter().rev().filter(|ranked| !is_tried(&ranked.case)) {
            self.waiting.put_back(ranked);
        }
    }

    /// A directory that the server says it keeps to is declared: what waits to lead out of it counts from now on.
    fn declare(&mut self, tried: &Tried) {
        let Some(answer) = tried.answer() else { return };
        for stated in confining(&tried.case, &tried.recording, answer) {
            if self.ground.declare(&stated) {
                std::mem::take(&mut self.reached).into_iter().for_each(|ranked| self.waiting.add(ranked));
                self.waiting.declare(&stated);
            }
        }
    }

    fn take(&mut self, tried: Tried, notebook: &mut Notebook) {
        if tried.aside {
            match self.stage {
                Stage::Learning => self.set_apart(tool(&tried.case)),
                _ => {
                    self.slow.insert(tool(&tried.case).to_owned());
                    self.patient.push_back(tried.case);
                }
            }
            return;
        }
        self.calls += tried.recording.steps.len() as u64;
        let valid = self.stage == Stage::Learning;
        if let Some(answer) = tried.answer() {
            notebook.hear(&tried.case, answer, &tried.recording);
        }
        for step in &tried.seen.steps {
            notebook.count(&tried.case.subject, valid, &step.answer);
            notebook.time(&tried.case.subject, &step.answer, step.took);
        }
        if tried.is_fatal() {
            let trouble = self.trouble.entry(tool(&tried.case).to_owned()).or_default();
            // What is to take long may be silent more often.
            let measured = tried.case.intent.injection().is_some_and(|it| it.aim.is_measured());
            match !measured && tried.recording.steps.iter().any(Taken::is_silent) {
                true => trouble.silences += 1,
                false => trouble.deaths += 1,
            }
            if trouble.is_enough() {
                self.waiting.leave(tool(&tried.case));
            }
        }
        if self.stage == Stage::Learning {
            self.learning.take(tried);
            return;
        }
        self.declare(&tried);
        let seen = Seen { world: world(&tried.case), ..self.seen.clone() };
        let mut charged = false;
        for charge in tried.judgement.charges {
            if seen.interest.wants(&charge) {
                charged = true;
                self.met.add(&tried.case);
                notebook.suspect(&seen, &tried.case, charge, Vec::new());
            }
        }
        if let Some(text) = reach(&tried.case, &tried.recording).filter(|_| !charged) {
            self.noted.add(&tried.case);
            notebook.note(tried.case.subject.tool(), text);
            self.reached.push(Ranked { rank: Rank::default(), case: tried.case });
        }
    }

    fn job(&mut self, world: World, handed: Vec<Ranked>, patient: bool) -> (u64, Job) {
        self.next += 1;
        let patient =
            patient || self.is_late || handed.iter().any(|ranked| self.slow.contains(tool(&ranked.case)));
        let cases = handed.iter().map(|ranked| ranked.case.clone()).collect();
        self.busy.insert(self.next, handed);
        let work = Work::OneByOne { cases, patient };
        (self.next, Job { world, context: self.seen.context.clone(), work, waits: patient })
    }
}

impl Probe for Inject {
    fn name(&self) -> &'static str {
        "injection"
    }

    /// What it finds weighs most, and a server whose calls take long needs most of the time for it.
    fn worth(&self) -> f64 {
        3.0
    }

    fn propose(&mut self, computes: bool, listener: &mut dyn Listener) -> Option<(u64, Job)> {
        if self.is_done() {
            return None;
        }
        if self.stage == Stage::Start {
            let begun = self.next > 0;
            if begun {
                return None;
            }
            self.next += 1;
            let Seen { world, context, .. } = self.seen.clone();
            return Some((self.next, Job { world, context, work: Work::Start, waits: true }));
        }
        if std::mem::take(&mut self.looks_freely) {
            self.next += 1;
            self.is_listing = true;
            let context = self.seen.context.clone();
            return Some((
                self.next,
                Job { world: World::Unrestricted, context, work: Work::List, waits: true },
            ));
        }
        if let Some(case) = self.patient.pop_front() {
            return Some(self.job(world(&case), vec![Ranked { rank: Rank::default(), case }], true));
        }
        for (index, late) in self.late.iter_mut().enumerate() {
            if let Some((number, job)) = late.propose(true, listener) {
                return Some((number + LATE * (index as u64 + 1), job));
            }
        }
        if !computes {
            return None;
        }
        if self.stage == Stage::Learning && self.learning.is_over() {
            self.waiting.clear();
        }
        if self.stage == Stage::Learning && self.waiting.is_empty() && self.busy.is_empty() {
            match self.learning.next_round() {
                Some(cases) => {
                    listener.hear(&Event::RoundBegun { phase: "valid calls, watched", cases: cases.len() });
                    let rank = Rank::default();
                    cases.into_iter().for_each(|case| self.waiting.add(Ranked { rank, case }));
                }
                None => self.plan(listener),
            }
        }
        let (world, cases) = self.next_cases()?;
        Some(self.job(world, cases, false))
    }

    fn read(&mut self, number: u64, done: Done, notebook: &mut Notebook, listener: &mut dyn Listener) {
        if number >= LATE {
            let late = &mut self.late[(number / LATE) as usize - 1];
            let before = late.calls;
            late.read(number % LATE, done, notebook, listener);
            self.calls += late.calls - before;
            return;
        }
        let handed = self.busy.remove(&number).unwrap_or_default();
        match done {
            Done::Started(started) => {
                self.stage = Stage::Learning;
                let now = Instant::now();
                self.learning.until =
                    self.end.map(|end| now + end.saturating_duration_since(now) / FOR_LEARNING);
                self.unseen = why_unseen(&started.server.standing);
            }
            Done::OneByOne(tried) => {
                self.take_back(handed, &tried);
                for tried in tried {
                    self.take(tried, notebook);
                }
            }
            Done::Listed(free) => {
                self.is_listing = false;
                let hidden = taken_away(&self.catalogue, &free, self.seed);
                match self.stage {
                    Stage::Trying => {
                        let mine = self.shard.share(PHASE, hidden);
                        mine.into_iter().for_each(|ranked| self.waiting.put_back(ranked));
                    }
                    Stage::Start | Stage::Learning => self.hidden.extend(hidden),
                }
            }
            _ => {}
        }
        if self.is_done() && self.unseen.is_none() {
            let suspected = notebook.prover.in_words();
            let (calls, suspicions) = (notebook.summary.calls, notebook.prover.open());
            listener.hear(&Event::RoundDone { phase: PHASE, calls, suspicions, suspected: &suspected });
        }
    }

    /// What hangs is not waited for any more.
    fn hear(&mut self, outcome: &Outcome, _: &mut Notebook) {
        let Some(name) = outcome.subject.tool().filter(|_| outcome.was_of_hang && outcome.proven) else {
            return;
        };
        self.patient.retain(|case| tool(case) != name);
        for late in self.late.iter_mut().filter(|late| late.tools.iter().any(|tool| tool.name == name)) {
            late.tools.clear();
            late.waiting.clear();
            late.patient.clear();
            late.stage = Stage::Trying;
        }
    }

    fn is_done(&self) -> bool {
        let idle =
            self.waiting.is_empty() && self.patient.is_empty() && self.busy.is_empty() && !self.is_listing;
        let late = self.late.iter().all(Inject::is_done);
        self.unseen.is_some() || self.stage == Stage::Trying && idle && late
    }

    fn finish(&mut self, why: Option<&str>, notebook: &mut Notebook) {
        if let Some(why) = &self.unseen {
            notebook.leave_out("injections proven by their effect", why);
            return;
        }
        if let Some(why) = why.filter(|_| !self.is_done()) {
            let untouched: Vec<&str> = self.waiting.untouched().collect();
            if let Some(tools) = in_words(&untouched) {
                notebook.leave_out(&format!("injections into {tools}"), why);
            }
            notebook.leave_out("the rest of the injections", why);
        }
        for late in &mut self.late {
            late.finish(None, notebook);
        }
        for (tool, trouble) in &self.trouble {
            if trouble.is_enough() && self.stage == Stage::Trying {
                let what = format!("some injections into {tool}");
                let why = "it kept ending or silencing the server".to_owned();
                notebook.not_tested.insert(NotTested { what, why });
            }
        }
    }
}

/// The first few names, and how many more there are; none for an empty list.
fn in_words(names: &[&str]) -> Option<String> {
    match names.len().saturating_sub(MAX_NAMED) {
        _ if names.is_empty() => None,
        0 => Some(names.join(", ")),
        1 => Some(format!("{} and 1 more tool", names[..MAX_NAMED].join(", "))),
        more => Some(format!("{} and {more} more tools", names[..MAX_NAMED].join(", "))),
    }
}

fn tool(case: &Case) -> &str {
    case.subject.name().unwrap_or_default()
}

/// Whether it leads out of a directory that nobody declared.
fn is_undeclared(case: &Case) -> bool {
    let aim = case.intent.injection().map(|injection| &injection.aim);
    matches!(aim, Some(Aim::Reach { declared: false, .. }))
}

/// A server that was told of no directory may take any path; that is worth knowing.
fn reach(case: &Case, recording: &Recording) -> Option<String> {
    let injection = case.intent.injection()?;
    let Aim::Reach { declared: false, scope, .. } = &injection.aim else { return None };
    proof(case, injection, recording)?;
    Some(format!(
        "through `{}` it reaches files outside {}, where it was started; it was given no directory to keep to",
        injection.at,
        scope.display()
    ))
}
