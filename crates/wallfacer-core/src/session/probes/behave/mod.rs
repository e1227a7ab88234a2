//! Calls every tool as it is meant to be called, in a world where every effect is seen, and holds what was done against what
//! was said.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use wallfacer_process::Descendant;

use super::notebook::Seen;
use super::{Notebook, Probe};
use crate::catalogue::Catalogue;
use crate::event::{Event, Listener};
use crate::judge::{Charge, Context, Watched, left_running, observations, weigh};
use crate::observe::{Answer, Behaviour, Effects, Observation, Place, Whose, observe};
use crate::plan::{Case, Footholds, Intent, Mode, Options, Planner, Step, Subject, offer_cases};
use crate::run::{Recording, Taken};
use crate::session::agenda::Selection;
use crate::session::lab::{
    Done, Job, Started, Tried, Work, World, learn_noise, of_server, said, start_case, teach,
};
use crate::session::look::Known;
use crate::session::names::NamePatterns;
use crate::session::prove::{Interest, Outcome};
use crate::stop::Stop;
use crate::summary::NotTested;
use crate::target::Destructive;
use crate::wire::{Connector, Farewell, Server};
use crate::world::Traced;

/// The longest argument: a call as it is meant needs no more.
const MAX_BYTES: usize = 1_000;
/// How long the server may still be busy with what it was asked before it is looked at again.
const AFTERWARDS_MS: u64 = 300;
/// Steps that are tried again where something happens only behind them.
const MAX_BEFORE: usize = 64;
/// Deaths and silences of one tool after which it is left alone: fuzzing is for those.
const MAX_TROUBLE: usize = 3;
/// Tools that must write one file for it to be the server's own bookkeeping.
const EVERY_TOOL: usize = 3;
/// The checks that are about files which a call leaves, and the label of their evidence.
const BOOKKEEPING: [&str; 2] = ["only-reads", "changes-once"];
const FILES: &str = "files";
/// Calls of one job; between two jobs others have their turn.
const CALLS_OF_A_JOB: usize = 16;

/// How to watch.
#[derive(Debug, Clone)]
pub struct BehaveOptions {
    /// The command that it is done for.
    pub command: &'static str,
    /// When the run begins: RFC 3339, in UTC.
    pub started: String,
    pub seed: u64,
    /// Calls of each tool, at most.
    pub calls: usize,
    pub include: Option<NamePatterns>,
    pub exclude: Option<NamePatterns>,
    pub destructive: Destructive,
    pub budget: Option<Duration>,
    /// Further lines of noise.
    pub noise: Vec<String>,
    /// Tells the session to end.
    pub stop: Stop,
}

/// Whoever wants to have all that was seen, step by step, with the name of what was asked for.
pub type Keep<'a> = &'a mut dyn FnMut(&str, &Traced);

/// What watching has come to so far.
pub struct Behave<'a> {
    seen: Seen,
    /// What calls are judged by, until it is known what the server does by itself.
    context: Option<Context>,
    server: Server,
    catalogue: Arc<Catalogue>,
    selection: Selection,
    seed: u64,
    pub behaviour: Behaviour,
    planner: Planner,
    trouble: BTreeMap<Subject, usize>,
    /// The words behind the program's name.
    command: Vec<String>,
    /// Calls that are to be made, and those of the round that are back.
    waiting: VecDeque<Case>,
    /// Calls that were not answered at once: they have all of their time, on servers of their own.
    patient: VecDeque<Case>,
    under_way: BTreeMap<u64, usize>,
    back: Vec<Tried>,
    twice: BTreeSet<Subject>,
    /// What is held against tools for files that they write, until it is known whether all tools do.
    deferred: Vec<(Case, Charge)>,
    /// The latest steps that the server at hand has taken.
    before: Vec<Step>,
    stage: Stage,
    next: u64,
    calls: u64,
    /// Why nothing is seen of what the server does.
    pub unseen: Option<String>,
    keep: Keep<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Start,
    Tools,
    Offers,
    /// What a server does late, after its answer, is seen when nothing is asked of it any more.
    Afterwards,
    Part,
    Done,
}

impl<'a> Behave<'a> {
    /// `context` has an observer, which does not know yet what the server does by itself.
    pub fn new(
        context: Context,
        known: &Known,
        connector: &Connector,
        selection: Selection,
        options: &BehaveOptions,
        notebook: &mut Notebook,
        keep: Keep<'a>,
    ) -> Behave<'a> {
        let Known { server, catalogue, .. } = known;
        let (seed, calls) = (options.seed, options.calls);
        let command = connector.target().reach.command();
        let words = command.into_iter().flat_map(|command| &command.args);
        let command = words.map(|word| word.to_string_lossy().into_owned()).collect();
        let plan = Options { seed, mode: Mode::Conform, iterations: calls, max_bytes: MAX_BYTES };
        let (mut planner, refused) = Planner::new(&selection.tools, plan);
        planner.recall(&known.first_calls);
        for (what, why) in refused {
            notebook.leave_out(&what, &format!("its input schema cannot be used: {why}"));
        }
        let world = connector.world();
        let footholds = Footholds::new(&selection.tools, world.scopes(), world.workspace().is_some());
        footholds
            .into_iter()
            .for_each(|footholds| planner.stand_on(footholds.of_server(server.name.as_deref())));
        let empty = Arc::new(Context::new(catalogue, server.protocol));
        let places = context.watched.as_ref().map(|watched| watched.places.clone()).unwrap_or_default();
        Behave {
            seen: Seen { world: World::Watched, context: empty, interest: Interest::BEHAVIOUR },
            context: Some(context),
            server: server.clone(),
            catalogue: catalogue.clone(),
            selection,
            seed,
            behaviour: Behaviour { places, ..Behaviour::default() },
            planner,
            trouble: BTreeMap::new(),
            command,
            waiting: VecDeque::new(),
            patient: VecDeque::new(),
            under_way: BTreeMap::new(),
            back: Vec::new(),
            twice: BTreeSet::new(),
            deferred: Vec::new(),
            before: Vec::new(),
            stage: Stage::Start,
            next: 0,
            calls: 0,
            unseen: None,
            keep,
        }
    }

    fn watched(&self) -> Option<&Watched> {
        self.seen.context.watched.as_ref()
    }

    /// What the server does before it is asked anything, and when it is asked for nothing, is learned to be noise.
    fn start(&mut self, started: &Started, notebook: &mut Notebook) {
        let Some(mut context) = self.context.take() else { return };
        self.server = started.server.clone();
        if !started.server.standing.observed.calls {
            let why = started.server.standing.remarks.first().cloned();
            self.unseen = Some(why.unwrap_or_else(|| "the server ran without a sandbox".to_owned()));
            self.stage = Stage::Done;
            return;
        }
        self.tell("start", &started.recording);
        context.server_said = said(&started.server);
        let case = start_case(self.seed);
        let seen = observe(&started.recording);
        let charges = weigh(&case, &started.recording, &seen, &context).charges;
        if let Some(watched) = &mut context.watched {
            let [started, idle] = learn_noise(watched, &started.recording);
            let command = self.command.as_slice();
            self.behaviour.startup = without_own_files(started);
            // That it was started is no news.
            let programs = &mut self.behaviour.startup.programs;
            programs.retain(|ran| ran.arguments.get(1..).unwrap_or_default() != command);
            self.behaviour.background = without_own_files(idle);
        }
        self.seen.context = Arc::new(context);
        let seen = self.seen.clone();
        charges.into_iter().for_each(|charge| notebook.suspect(&seen, &case, charge, Vec::new()));
        self.stage = Stage::Tools;
    }

    /// The next calls, where all of the round before are back.
    fn refill(&mut self, listener: &mut dyn Listener) {
        while self.waiting.is_empty() && self.patient.is_empty() && self.under_way.is_empty() {
            self.learn();
            if !self.waiting.is_empty() {
                return;
            }
            match self.stage {
                Stage::Tools => match self.planner.next_round() {
                    Some(round) => {
                        let cases = round.cases.len();
                        listener.hear(&Event::RoundBegun { phase: "watched calls", cases });
                        self.waiting.extend(round.cases);
                    }
                    None => self.stage = Stage::Offers,
                },
                Stage::Offers => {
                    let completes = self.server.claims("completions");
                    let offers = offer_cases(&self.catalogue, completes, MAX_BYTES, self.seed);
                    self.waiting.extend(offers.into_iter().filter(|case| case.intent == Intent::Example));
                    self.stage = Stage::Afterwards;
                }
                Stage::Afterwards => {
                    self.waiting
                        .push_back(of_server(vec![Step::Pause(AFTERWARDS_MS), Step::Probe], self.seed));
                    self.stage = Stage::Part;
                }
                Stage::Start | Stage::Part | Stage::Done => return,
            }
        }
    }

    /// Learns from the answers of a round, in the order in which the calls were made. What says that it changes nothing the
    /// second time is called twice.
    fn learn(&mut self) {
        for tried in std::mem::take(&mut self.back) {
            let Some(answer) = tried.answer().cloned() else { continue };
            let case = &tried.case;
            if case.single_call().is_some()
                && case.subject.tool().is_some()
                && teach(&mut self.planner, case, &answer, &tried.recording)
                && (self.is_idempotent(case) || self.makes_though_it_reads(case, &tried.recording))
                && self.twice.insert(case.subject.clone())
            {
                self.waiting.push_back(twice(case));
            }
        }
    }

    /// Whether a tool that says it only reads has made something: on its first use, or each time?
    fn makes_though_it_reads(&self, case: &Case, recording: &Recording) -> bool {
        let facts = case.subject.tool().and_then(|tool| self.seen.context.tools.get(tool));
        let reads = facts.is_some_and(|facts| facts.declared.read_only.is_some());
        let made = |taken: &Taken| {
            let effects = self.watched().and_then(|watched| watched.effects(taken, Whose::Call));
            effects.is_some_and(|effects| !effects.creates.is_empty())
        };
        reads && recording.steps.iter().any(made)
    }

    fn is_idempotent(&self, case: &Case) -> bool {
        let facts = case.subject.tool().and_then(|tool| self.seen.context.tools.get(tool));
        facts.is_some_and(|facts| facts.declared.idempotent.is_some())
    }

    fn take(&mut self, tried: Tried, own_server: bool, notebook: &mut Notebook) {
        if tried.aside {
            self.patient.push_back(tried.case);
            self.before.clear();
            return;
        }
        let Tried { case, recording, seen, judgement, .. } = &tried;
        if let Some(answer) = tried.answer() {
            notebook.hear(case, answer, recording);
        }
        let is_last_look = case.subject == Subject::Server;
        let name = if is_last_look { "afterwards" } else { case.subject.name().unwrap_or("the server") };
        self.tell(name, recording);
        if is_last_look {
            self.add_background(recording);
        } else {
            self.count(case, seen, recording, notebook);
        }
        let late = is_last_look && !self.before.is_empty();
        let before = if late { self.before.clone() } else { Vec::new() };
        let place = self.seen.clone();
        for charge in judgement.charges.clone() {
            match BOOKKEEPING.contains(&charge.check) && !is_last_look {
                true => self.deferred.push((twice(case), charge)),
                false => notebook.suspect(&place, case, charge, before.clone()),
            }
        }
        if !own_server {
            self.before.extend(case.steps.iter().cloned());
            let surplus = self.before.len().saturating_sub(MAX_BEFORE);
            self.before.drain(..surplus);
        }
        if recording.steps.iter().any(Taken::is_fatal) {
            *self.trouble.entry(case.subject.clone()).or_default() += 1;
            self.before.clear();
        }
        if !is_last_look {
            self.back.push(tried);
        }
    }

    fn count(&mut self, case: &Case, seen: &Observation, recording: &Recording, notebook: &mut Notebook) {
        let done = self.behaviour.done.entry(case.subject.clone()).or_default();
        for step in &seen.steps {
            let completed = u64::from(step.answer == Answer::Completed);
            notebook.count(&case.subject, true, &step.answer);
            notebook.time(&case.subject, &step.answer, step.took);
            self.calls += 1;
            (done.calls, done.completed) = (done.calls + 1, done.completed + completed);
        }
        let Some(watched) = self.seen.context.watched.as_ref() else { return };
        for taken in &recording.steps {
            done.effects.add(&watched.effects(taken, Whose::Call).unwrap_or_default());
            self.behaviour.background.add(&watched.effects(taken, Whose::Background).unwrap_or_default());
        }
    }

    fn add_background(&mut self, recording: &Recording) {
        let Some(watched) = self.seen.context.watched.as_ref() else { return };
        for taken in &recording.steps {
            self.behaviour.background.add(&watched.effects(taken, Whose::Background).unwrap_or_default());
        }
    }

    /// What the server does when it is told to go, and who outlives it.
    fn part(&mut self, farewell: Option<Farewell>) {
        let Some(farewell) = farewell else { return };
        let left = farewell.process.and_then(|ended| ended.left_behind).unwrap_or_default();
        let command = |child: &Descendant| match child.command_line.trim() {
            "" => child.name.clone(),
            line => line.to_owned(),
        };
        self.behaviour.left_running = left.iter().map(command).collect();
        if let Some(traced) = farewell.traced {
            (self.keep)("end", &traced);
            let Some(watched) = self.seen.context.watched.as_ref() else { return };
            self.behaviour.background.add(&watched.gathered(&traced, Whose::Background));
        }
    }

    fn tell(&mut self, name: &str, recording: &Recording) {
        let traced = recording.steps.iter().filter_map(|taken| taken.traced.as_ref());
        traced.for_each(|traced| (self.keep)(name, traced));
    }

    /// A file that is written whatever tool is called is how the server keeps its own books: that is worth a note. The rest
    /// is held against the tools that write it.
    fn settle_deferred(&mut self, notebook: &mut Notebook) {
        let mut writers: BTreeMap<&Path, BTreeSet<&Subject>> = BTreeMap::new();
        for (subject, done) in &self.behaviour.done {
            let kept = done.effects.writes.iter().filter(|touch| is_of_its_own(touch.place));
            for touch in kept {
                writers.entry(&touch.path).or_default().insert(subject);
            }
        }
        let books: BTreeSet<&Path> =
            writers.into_iter().filter(|(_, by)| by.len() >= EVERY_TOOL).map(|(path, _)| path).collect();
        let (mut notes, mut held) = (BTreeSet::new(), Vec::new());
        for (case, charge) in std::mem::take(&mut self.deferred) {
            let files = charge.evidence.iter().find(|proof| proof.label == FILES).map(|proof| &proof.text);
            let mut files = files.into_iter().flat_map(|text| text.lines()).map(Path::new).peekable();
            if files.peek().is_some() && files.clone().all(|file| books.contains(file)) {
                notes.extend(files.map(|file| {
                    let shown = self.behaviour.places.shown(file);
                    format!("it writes `{shown}` whatever tool is called, those that only read among them")
                }));
            } else {
                held.push((case, charge));
            }
        }
        notes.into_iter().for_each(|text| notebook.note(None, text));
        let seen = self.seen.clone();
        held.into_iter().for_each(|(case, charge)| notebook.suspect(&seen, &case, charge, Vec::new()));
    }

    /// What is worth knowing, in words.
    fn observe(&mut self, notebook: &mut Notebook) {
        let Some(watched) = self.watched() else { return };
        let server = self.seen.context.server_said.as_str();
        let mut all: Vec<(Option<String>, Vec<String>)> = Vec::new();
        let at_start = observations(&self.behaviour.startup, server, watched);
        all.push((None, at_start.into_iter().map(|text| format!("at its start {text}")).collect()));
        let meanwhile = observations(&self.behaviour.background, server, watched);
        all.push((None, meanwhile.into_iter().map(|text| format!("in the background {text}")).collect()));
        let left = left_running(&self.behaviour.left_running);
        all.push((None, left.into_iter().collect()));
        for (name, subject, done) in self.behaviour.by_name() {
            let facts = subject.tool().and_then(|tool| self.seen.context.tools.get(tool));
            let tool = facts.map_or("", |facts| facts.declared.said.as_str());
            all.push((Some(name), observations(&done.effects, &format!("{tool} {server}"), watched)));
        }
        for (tool, texts) in all {
            texts.into_iter().for_each(|text| notebook.note(tool.as_deref(), text));
        }
    }

    /// Tools and offers of which no call succeeded.
    pub fn never_done(&self) -> Vec<NotTested> {
        let mut never = Vec::new();
        for (name, subject, done) in self.behaviour.by_name() {
            if done.completed > 0 {
                continue;
            }
            let mut tools = self.selection.tools.iter();
            let is_a_task = tools.any(|tool| subject.tool() == Some(&tool.name) && tool.is_a_task());
            never.push(match is_a_task {
                true => NotTested::only_as_task(&name),
                false => {
                    let calls = done.calls;
                    let why = format!("none of its {calls} calls succeeded, so what it does is not known");
                    NotTested { what: name, why }
                }
            });
        }
        never
    }

    /// Whether calls were made, and none of them succeeded.
    pub fn is_in_vain(&self) -> bool {
        self.calls > 0 && !self.behaviour.done.values().any(|done| done.completed > 0)
    }

    /// The server as it was seen when it was watched.
    pub fn server(&self) -> &Server {
        &self.server
    }

    fn job(&mut self, work: Work, calls: usize, waits: bool) -> (u64, Job) {
        self.next += 1;
        self.under_way.insert(self.next, calls);
        let Seen { world, context, .. } = self.seen.clone();
        (self.next, Job { world, context, work, waits })
    }
}

impl Probe for Behave<'_> {
    fn name(&self) -> &'static str {
        "behave"
    }

    fn propose(&mut self, computes: bool, listener: &mut dyn Listener) -> Option<(u64, Job)> {
        if self.stage == Stage::Start {
            let begun = !self.under_way.is_empty();
            return (!begun).then(|| self.job(Work::Start, 0, true));
        }
        if let Some(case) = self.patient.pop_front() {
            let work = Work::OneByOne { cases: vec![case], patient: true };
            return Some(self.job(work, 1, true));
        }
        self.refill(listener);
        // One server is asked at a time, so that what it does late can be told from what it was asked.
        let busy = self.under_way.values().any(|calls| *calls != 1);
        if !computes || busy {
            return None;
        }
        let trouble =
            |case: &Case| self.trouble.get(&case.subject).is_some_and(|times| *times >= MAX_TROUBLE);
        self.waiting.retain(|case| !trouble(case));
        if !self.waiting.is_empty() {
            let count = self.waiting.len().min(CALLS_OF_A_JOB);
            let cases: Vec<Case> = self.waiting.drain(..count).collect();
            return Some(self.job(Work::OneByOne { cases, patient: false }, 0, false));
        }
        if self.under_way.is_empty() && self.stage == Stage::Part {
            self.stage = Stage::Done;
            return Some(self.job(Work::Part, 0, false));
        }
        None
    }

    fn read(&mut self, number: u64, done: Done, notebook: &mut Notebook, listener: &mut dyn Listener) {
        let calls = self.under_way.remove(&number).unwrap_or_default();
        match done {
            Done::Started(started) => self.start(&started, notebook),
            Done::OneByOne(tried) => {
                for tried in tried {
                    self.take(tried, calls == 1, notebook);
                }
            }
            Done::Parted(farewell) => self.part(farewell.map(|farewell| *farewell)),
            _ => {}
        }
        if self.under_way.is_empty() && self.waiting.is_empty() && self.patient.is_empty() {
            self.settle_deferred(notebook);
        }
        if self.is_done() {
            let suspected = notebook.prover.in_words();
            listener.hear(&Event::RoundDone {
                phase: "watched calls",
                calls: notebook.summary.calls,
                suspicions: notebook.prover.open(),
                suspected: &suspected,
            });
        }
    }

    /// What hangs is not waited for any more.
    fn hear(&mut self, outcome: &Outcome, _: &mut Notebook) {
        if outcome.was_of_hang && outcome.proven {
            self.patient.retain(|case| case.subject != outcome.subject);
            self.trouble.insert(outcome.subject.clone(), MAX_TROUBLE);
        }
    }

    fn is_done(&self) -> bool {
        self.stage == Stage::Done && self.under_way.is_empty() && self.waiting.is_empty()
    }

    fn finish(&mut self, why: Option<&str>, notebook: &mut Notebook) {
        if let Some(why) = why.filter(|_| !self.is_done()) {
            notebook.leave_out("some calls that were to be watched", why);
        }
        self.settle_deferred(notebook);
        self.observe(notebook);
    }
}

/// The same call two times. On a fresh server the first may make what is only changed later, so that one call says too little.
fn twice(case: &Case) -> Case {
    match case.single_call() {
        Some(_) => Case { steps: [case.steps.clone(), case.steps.clone()].concat(), ..case.clone() },
        None => case.clone(),
    }
}

/// Where a server may keep what is its own: not among secrets, and not with the system.
fn is_of_its_own(place: Place) -> bool {
    !matches!(place, Place::Canary | Place::Sensitive | Place::System)
}

/// Of what is read at the start only secrets and files of the user's home are worth telling; the rest is the program.
fn without_own_files(mut effects: Effects) -> Effects {
    let kept = |place: Place| matches!(place, Place::Canary | Place::Sensitive | Place::Home);
    let before = effects.reads.len() + effects.lists.len();
    effects.reads.retain(|touch| kept(touch.place));
    effects.lists.retain(|touch| kept(touch.place));
    effects.filtered += (before - effects.reads.len() - effects.lists.len()) as u64;
    effects
}
