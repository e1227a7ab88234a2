//! Puts payloads into every string that a server takes, one call at a time in worlds where every effect is seen, and keeps
//! what is proven by its effect.

mod learning;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use wallfacer_process::sink::Mode as Net;

use self::learning::Learning;
use super::notebook::Seen;
use super::{Notebook, Probe};
use crate::catalogue::{Catalogue, Tool};
use crate::event::{Event, Listener};
use crate::judge::{Context, proof};
use crate::plan::{Aim, Case, Ground, Met, Ranked, injection_cases};
use crate::run::Recording;
use crate::session::agenda::Selection;
use crate::session::lab::{Done, Job, Lab, Tried, Work, World};
use crate::session::prove::{Interest, Outcome};
use crate::summary::NotTested;
use crate::wire::Connector;
use crate::world::Standing;

/// Calls of one job; between two jobs others have their turn.
const CALLS_OF_A_JOB: usize = 24;
/// Tools for which injections are planned at once: the likeliest of all of them come first.
const TOOLS_AT_ONCE: usize = 100;
/// Tools that are tried at the same time.
const MAX_LANES: usize = 4;
/// Deaths of one tool after which it is left alone: fuzzing is for those.
const MAX_DEATHS: usize = 4;
/// The same for silences, which cost a whole time limit each.
const MAX_SILENCES: usize = 2;
/// Jobs of tools that nobody waits for are told apart by their numbers.
const LATE: u64 = 1 << 32;
/// What this is called while it goes on.
const PHASE: &str = "injection";

/// What injections have come to so far.
pub struct Inject {
    seen: Seen,
    seed: u64,
    ground: Ground,
    tools: Vec<Tool>,
    /// How many of the tools are planned for.
    planned: usize,
    learning: Learning,
    stage: Stage,
    /// What is left to try, the likeliest first, whichever tool it belongs to.
    waiting: VecDeque<Case>,
    /// Calls that were not answered at once: they have all of their time, on servers of their own.
    patient: VecDeque<Case>,
    /// Tools of which not even a valid call was answered at once: each has all of its time, and nobody waits for it.
    late: Vec<Inject>,
    is_late: bool,
    /// Tools with a job under way: what is known of a tool is known before its next job.
    busy: BTreeMap<u64, BTreeSet<String>>,
    trouble: BTreeMap<String, Trouble>,
    /// What of which place is suspected already, so that nothing more is tried there.
    met: Met,
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
    /// The worlds in which injections are tried, and a probe for them.
    pub fn new(
        lab: Lab,
        catalogue: &Arc<Catalogue>,
        selection: &Selection,
        context: Context,
        seed: u64,
    ) -> (Inject, Lab) {
        let mut online = lab.connector(World::Watched).clone();
        let ground = prepare(&mut online, catalogue, seed, false);
        let mut offline = online.clone();
        offline.world_mut().network = Net::Refuse;
        offline.world_mut().listeners.clear();
        let lab = lab.with(World::Planted, online).with(World::Offline, offline);
        let tools = catalogue.tools.entries.iter().filter(|tool| selection.wants(&tool.name));
        let tools: Vec<Tool> = tools.cloned().collect();
        let learning = Learning::new(&tools, &ground, seed);
        let context = Arc::new(context);
        let inject = Inject {
            seen: Seen { world: World::Planted, context, interest: Interest::INJECTION },
            seed,
            ground,
            tools,
            planned: 0,
            learning,
            stage: Stage::Start,
            waiting: VecDeque::new(),
            patient: VecDeque::new(),
            late: Vec::new(),
            is_late: false,
            busy: BTreeMap::new(),
            trouble: BTreeMap::new(),
            met: Met::default(),
            next: 0,
            calls: 0,
            unseen: None,
        };
        (inject, lab)
    }

    /// Nobody waits for this tool any more.
    fn set_apart(&mut self, name: &str) {
        let Some(place) = self.tools.iter().position(|tool| tool.name == name) else { return };
        let tools = vec![self.tools.remove(place)];
        self.waiting.retain(|case| tool(case) != name);
        self.late.push(Inject {
            seen: self.seen.clone(),
            seed: self.seed,
            ground: self.ground.clone(),
            learning: Learning::new(&tools, &self.ground, self.seed),
            tools,
            planned: 0,
            stage: Stage::Learning,
            waiting: VecDeque::new(),
            patient: VecDeque::new(),
            late: Vec::new(),
            is_late: true,
            busy: BTreeMap::new(),
            trouble: BTreeMap::new(),
            met: Met::default(),
            next: 0,
            calls: 0,
            unseen: None,
        });
    }

    /// The likeliest first, whichever tool they belong to.
    fn plan(&mut self, listener: &mut dyn Listener) {
        let of_tool = |tool: &Tool| {
            let known = self.learning.known.get(&tool.name).cloned().unwrap_or_default();
            injection_cases(tool, &known, &self.ground, self.seed)
        };
        let group = self.tools.iter().skip(self.planned).take(TOOLS_AT_ONCE);
        let mut cases: Vec<Ranked> = group.flat_map(of_tool).collect();
        self.planned = (self.planned + TOOLS_AT_ONCE).min(self.tools.len());
        cases.sort_by_key(|ranked| ranked.rank);
        self.waiting = cases.into_iter().map(|ranked| ranked.case).collect();
        if self.stage == Stage::Learning {
            self.trouble.clear();
        }
        self.stage = Stage::Trying;
        if !self.waiting.is_empty() {
            let cases = self.waiting.len();
            listener.hear(&Event::RoundBegun { phase: PHASE, cases });
        }
    }

    /// Takes calls of one tool and one world from the front, as far as they go together.
    fn next_cases(&mut self) -> Option<(World, Vec<Case>)> {
        if self.busy.len() >= MAX_LANES {
            return None;
        }
        let busy: BTreeSet<&String> = self.busy.values().flatten().collect();
        let first = self.waiting.iter().position(|case| !busy.contains(&tool(case).to_owned()))?;
        let (name, world) = (tool(&self.waiting[first]).to_owned(), world(&self.waiting[first]));
        let mut taken = Vec::new();
        let mut kept = VecDeque::new();
        for case in std::mem::take(&mut self.waiting) {
            let goes = taken.len() < CALLS_OF_A_JOB && tool(&case) == name && self::world(&case) == world;
            match goes {
                true => taken.push(case),
                false => kept.push_back(case),
            }
        }
        self.waiting = kept;
        Some((world, taken))
    }

    /// Leaves out what tells nothing new.
    fn prune(&mut self) {
        let (met, trouble) = (&self.met, &self.trouble);
        self.waiting.retain(|case| {
            let enough = trouble.get(tool(case)).is_some_and(|trouble| trouble.is_enough());
            !enough && !met.explains(case)
        });
    }

    fn take(&mut self, tried: Tried, patient: bool, notebook: &mut Notebook) {
        if tried.aside {
            match self.stage {
                Stage::Learning => self.set_apart(tool(&tried.case)),
                _ => self.patient.push_back(tried.case),
            }
            return;
        }
        self.calls += tried.recording.steps.len() as u64;
        let valid = self.stage == Stage::Learning;
        for step in &tried.seen.steps {
            notebook.count(&tried.case.subject, valid, &step.answer);
        }
        if tried.is_fatal() {
            let trouble = self.trouble.entry(tool(&tried.case).to_owned()).or_default();
            match patient {
                true => trouble.silences += 1,
                false => trouble.deaths += 1,
            }
        }
        if self.stage == Stage::Learning {
            self.learning.take(tried);
            return;
        }
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
            self.met.add(&tried.case);
            notebook.note(tried.case.subject.tool(), text);
        }
    }

    fn job(&mut self, world: World, cases: Vec<Case>, patient: bool) -> (u64, Job) {
        self.next += 1;
        self.busy.insert(self.next, cases.iter().map(|case| tool(case).to_owned()).collect());
        let patient = patient || self.is_late;
        let work = Work::OneByOne { cases, patient };
        (self.next, Job { world, context: self.seen.context.clone(), work, waits: patient })
    }
}

impl Probe for Inject {
    fn name(&self) -> &'static str {
        "injection"
    }

    fn worth(&self) -> f64 {
        2.0
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
        if let Some(case) = self.patient.pop_front() {
            return Some(self.job(world(&case), vec![case], true));
        }
        for (index, late) in self.late.iter_mut().enumerate() {
            if let Some((number, job)) = late.propose(true, listener) {
                return Some((number + LATE * (index as u64 + 1), job));
            }
        }
        if !computes {
            return None;
        }
        if self.stage == Stage::Learning && self.waiting.is_empty() && self.busy.is_empty() {
            match self.learning.next_round() {
                Some(cases) => {
                    listener.hear(&Event::RoundBegun { phase: "valid calls, watched", cases: cases.len() });
                    self.waiting.extend(cases);
                }
                None => self.plan(listener),
            }
        }
        self.prune();
        while self.stage == Stage::Trying && self.waiting.is_empty() && self.planned < self.tools.len() {
            self.plan(listener);
            self.prune();
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
        self.busy.remove(&number);
        match done {
            Done::Started(started) => {
                self.stage = Stage::Learning;
                self.unseen = why_unseen(&started.server.standing);
            }
            Done::OneByOne(tried) => {
                let patient = matches!(&tried[..], [one] if !one.aside && one.is_fatal());
                for tried in tried {
                    self.take(tried, patient, notebook);
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
        let idle = self.waiting.is_empty() && self.patient.is_empty() && self.busy.is_empty();
        let late = self.late.iter().all(Inject::is_done);
        let planned = self.planned >= self.tools.len();
        self.unseen.is_some() || self.stage == Stage::Trying && idle && late && planned
    }

    fn finish(&mut self, why: Option<&str>, notebook: &mut Notebook) {
        if let Some(why) = &self.unseen {
            notebook.leave_out("injections proven by their effect", why);
            return;
        }
        if let Some(why) = why.filter(|_| !self.is_done()) {
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

/// Why the effects of a call are not seen; none where they are.
pub fn why_unseen(standing: &Standing) -> Option<String> {
    if standing.is_harmless() && standing.observed.calls {
        return None;
    }
    let why = standing.remarks.first().cloned();
    Some(why.unwrap_or_else(|| "what the server does could not be observed".to_owned()))
}

/// Plants what injections are after into the world of all servers to come.
pub fn prepare(connector: &mut Connector, catalogue: &Catalogue, seed: u64, offline: bool) -> Ground {
    let world = connector.world_mut();
    let ground = Ground::new(world.scopes(), catalogue, seed);
    world.watch = true;
    world.network = if offline { Net::Refuse } else { Net::Answer };
    world.listeners = if offline { Vec::new() } else { vec![ground.port] };
    world.plants = ground.plants.clone();
    ground
}

fn tool(case: &Case) -> &str {
    case.subject.tool().unwrap_or_default()
}

fn world(case: &Case) -> World {
    let offline = case.intent.injection().is_some_and(|injection| injection.offline);
    if offline { World::Offline } else { World::Planted }
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
