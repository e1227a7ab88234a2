//! Calls that work alone are made at the same time, by one client and by several: each must be answered as it is alone,
//! and what was written must be there.

mod calibration;
mod disturbances;
mod form;
mod identity;
mod lifecycle;
mod remarks;
mod schedules;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use wallfacer_schema::Schema;

use self::calibration::{Calibrated, Calibration};
use self::disturbances::SlowCall;
use self::form::Form;
pub use self::lifecycle::Lifecycle;
use super::notebook::Seen;
use super::{Notebook, Probe};
use crate::catalogue::Tool;
use crate::event::{Event, Listener};
use crate::findings::Kind;
use crate::judge::{ClientReply, Context, replies};
use crate::observe::Answer;
use crate::plan::{
    Case, Disturbance, Footholds, Lesson, Mode, Options, Phase, Planner, Question, Subject, Trouble,
    takes_away,
};
use crate::session::agenda::Selection;
use crate::session::lab::{Done, Job, Tried, Work, World, named_by, teach};
use crate::session::look::Known;
use crate::session::prove::Interest;
use crate::wire::Connector;

const LISTS: [&str; 3] = ["tools", "resources", "prompts"];
/// The longest argument: a call as it is meant needs no more.
const MAX_BYTES: usize = 1_000;
/// Valid calls of each tool from which it is learned how it is called.
const CALLS: usize = 6;
/// Ways of calling one tool that are looked at.
const MAX_FORMS: usize = 3;
/// Ways of calling all tools.
const MAX_ALL_FORMS: usize = 90;
/// A call that takes longer is not made many times over.
const SLOW: Duration = Duration::from_millis(1_500);
/// A call that takes as long can be taken back while it is under way.
const LONG: Duration = Duration::from_millis(400);
/// A call that is made a thousand times must not take longer.
const QUICK: Duration = Duration::from_millis(40);
/// Pairs of a writer and a reader that are held to keep what they are given, tools whose services fail, tools that are taken
/// back, and tools that are called a thousand times.
const MAX_STORES: usize = 3;
const MAX_ASKING: usize = 4;
const MAX_SLOW: usize = 3;
const MAX_GROWING: usize = 6;
/// Tools that are asked how far they are, and tools whose connection is lost.
const MAX_TELLING: usize = 12;
const MAX_DROPPED: usize = 2;
/// Moments at which a server that stores is killed.
const MOMENTS: usize = 3;
/// All calls that are made one by one to see what they do may take about so long.
const MOST_ALONE: Duration = Duration::from_secs(15);

/// Which of the tests are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TortureMode {
    All,
    Parallel,
    StateLeak,
    Lifecycle,
}

/// How much is asked for at once.
#[derive(Debug, Clone, Copy)]
pub struct Load {
    pub mode: TortureMode,
    /// Calls in flight.
    pub concurrency: usize,
    /// Clients that share them, where a server takes several.
    pub clients: usize,
    /// Whether all is tried that there is, and not only a short share of it.
    pub thorough: bool,
    /// Whether the user says that all sessions share what is stored, or that they do not.
    pub shared: Option<bool>,
}

pub struct Torture {
    seen: Seen,
    seed: u64,
    load: Load,
    listens: bool,
    /// Lists that it says it has, in which what another session stored may show.
    lists: Vec<&'static str>,
    tools: Vec<Tool>,
    schemas: Arc<BTreeMap<String, Schema>>,
    planner: Option<Planner>,
    learning: Vec<Case>,
    forms: Vec<Form>,
    calibration: Option<Calibration>,
    waiting: VecDeque<Case>,
    /// What mostly waits, and so goes on beside the rest.
    quiet: VecDeque<Work>,
    /// Valid calls that asked a service for something, one of each tool.
    asking: BTreeMap<String, Case>,
    slow: Vec<SlowCall>,
    confined: bool,
    under_way: BTreeMap<u64, ()>,
    next: u64,
    made: usize,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Learn,
    Calibrate,
    AtOnce,
    Done,
}

impl Torture {
    pub fn new(
        known: &Known,
        connector: &Connector,
        context: Arc<Context>,
        selection: &Selection,
        load: Load,
        seed: u64,
        notebook: &mut Notebook,
    ) -> Torture {
        let options = Options { seed, mode: Mode::Conform, iterations: CALLS, max_bytes: MAX_BYTES };
        let (mut planner, refused) = Planner::new(&selection.tools, options);
        planner.recall(&known.first_calls);
        for (what, why) in refused {
            notebook.leave_out(&what, &format!("its input schema cannot be used: {why}"));
        }
        if known.server.standing.is_confined() {
            let world = connector.world();
            let footholds = Footholds::new(&selection.tools, world.scopes(), world.workspace().is_some());
            footholds
                .into_iter()
                .for_each(|footholds| planner.stand_on(footholds.of_server(known.server.name.as_deref())));
        }
        Torture {
            seen: Seen { world: World::Plain, context, interest: Interest::ANSWERS },
            seed,
            load,
            listens: connector.target().reach.endpoint().is_some(),
            lists: LISTS.into_iter().filter(|list| known.server.claims(list)).collect(),
            tools: selection.tools.clone(),
            schemas: known.schemas.clone(),
            planner: Some(planner),
            learning: Vec::new(),
            forms: Vec::new(),
            calibration: None,
            waiting: VecDeque::new(),
            quiet: VecDeque::new(),
            asking: BTreeMap::new(),
            slow: Vec::new(),
            confined: known.server.standing.is_confined(),
            under_way: BTreeMap::new(),
            next: 0,
            made: 0,
            stage: Stage::Learn,
        }
    }

    fn job(&mut self, work: Work, waits: bool) -> (u64, Job) {
        self.next += 1;
        self.under_way.insert(self.next, ());
        let (world, context) = (self.seen.world, self.seen.context.clone());
        (self.next, Job { world, context, work, waits })
    }

    /// The next valid calls; none where enough is known.
    fn learn_more(&mut self) -> Option<Vec<Case>> {
        let round = self.planner.as_mut()?.next_round().filter(|round| round.phase == Phase::Examples)?;
        Some(round.cases)
    }

    fn learn(&mut self, tried: &Tried, notebook: &mut Notebook) {
        let Some(answer) = tried.answer().cloned() else { return };
        notebook.count(&tried.case.subject, true, &answer);
        notebook.hear(&tried.case, &answer, &tried.recording);
        // What ends the server alone is found here too.
        let crashes = tried.judgement.charges.iter().filter(|charge| charge.kind == Kind::Crash);
        crashes.for_each(|charge| notebook.suspect(&self.seen, &tried.case, charge.clone(), Vec::new()));
        let completed = match &mut self.planner {
            Some(planner) => teach(planner, &tried.case, &answer, &tried.recording),
            None => false,
        };
        let took = tried.seen.steps.last().map(|step| step.took).unwrap_or_default();
        self.look_at_services_and_time(tried, completed, took);
        let (Some(tool), Some(arguments)) = (tried.case.subject.tool(), tried.case.arguments()) else {
            return;
        };
        if !completed || took > SLOW || self.forms.len() >= MAX_ALL_FORMS {
            return;
        }
        let Some(declared) = self.tools.iter().find(|declared| declared.name == tool) else { return };
        let ends = self.seen.context.tools.get(tool).is_some_and(|facts| facts.declared.ends_server);
        if ends || takes_away(tool) || declared.is_a_task() {
            return;
        }
        let form = Form::new(declared, self.schemas.get(tool), arguments, &tried.case.prelude, took);
        let forms = self.forms.iter().filter(|other| other.tool == form.tool).count();
        match self.forms.iter_mut().find(|other| other.is_like(&form)) {
            Some(other) if form.is_better_than(other) => *other = form,
            Some(_) => {}
            None if forms < MAX_FORMS => self.forms.push(form),
            None => {}
        }
    }

    /// Which calls ask a service, and which take so long that they can be taken back.
    fn look_at_services_and_time(&mut self, tried: &Tried, completed: bool, took: Duration) {
        let (Some(tool), Some(arguments)) = (tried.case.subject.tool(), tried.case.arguments()) else {
            return;
        };
        let fetched = tried.recording.steps.last().and_then(|step| step.fetched.as_ref());
        // Who does not answer anyway says nothing of failing services.
        if fetched.is_some_and(|fetched| !fetched.is_empty()) && !tried.is_fatal() {
            let known = self.asking.entry(tool.to_owned()).or_insert_with(|| tried.case.clone());
            if completed {
                known.clone_from(&tried.case);
            }
        }
        let known = self.slow.iter().any(|slow| slow.tool == tool);
        let takes_away = takes_away(tool);
        if (completed && took >= LONG || tried.aside) && !known && !takes_away {
            let (tool, arguments) = (tool.to_owned(), arguments.clone());
            self.slow.push(SlowCall { tool, arguments, prelude: tried.case.prelude.clone() });
        }
    }

    /// What happens to the server in the middle of its work.
    fn plan_disturbances(&mut self, calibrated: &Calibrated) {
        if !self.load.thorough || !matches!(self.load.mode, TortureMode::All | TortureMode::Lifecycle) {
            return;
        }
        let (seed, alone) = (self.seed, |case: Case| Work::Alone { case: Box::new(case), brief: false });
        let slow = self.slow.iter().take(MAX_SLOW);
        self.quiet.extend(slow.map(|slow| alone(disturbances::cancelled(slow, seed))));
        let plans =
            schedules::Plans { forms: &self.forms, calibrated, concurrency: 1, clients: 1, seed: self.seed };
        self.waiting.extend(plans.growth(MAX_GROWING, QUICK));
        let cases = plans.of_each(MAX_TELLING, |request| Disturbance::Progress { request });
        if !cases.is_empty() {
            self.quiet.push_back(Work::OneByOne { cases, patient: true });
        }
        if self.listens {
            let dropped = plans.of_each(MAX_DROPPED, |request| Disturbance::Drop { request });
            self.quiet.extend(dropped.into_iter().map(alone));
        }
        if !self.confined {
            return;
        }
        for call in self.asking.values().take(MAX_ASKING) {
            // Who waits for ever is waited for long: beside the others.
            self.quiet.extend(disturbances::troubled(call, &[Trouble::Silent]).into_iter().map(alone));
            let quick: Vec<Trouble> =
                Trouble::ALL.into_iter().filter(|trouble| *trouble != Trouble::Silent).collect();
            let cases = disturbances::troubled(call, &quick);
            self.quiet.push_back(Work::OneByOne { cases, patient: true });
        }
        for pair in calibrated.pairs.iter().copied().take(MAX_STORES) {
            self.quiet.push_back(alone(plans.survival(pair, MOMENTS)));
            if self.listens {
                self.quiet.push_back(alone(plans.foreign(pair)));
                self.quiet.push_back(alone(plans.elsewhere(pair)));
                self.quiet.push_back(alone(plans.nameless(pair)));
            } else {
                self.quiet.push_back(alone(plans.second_process(pair)));
            }
            let schema = self.schemas.get(&self.forms[pair.0].tool);
            self.quiet.extend(plans.disk(pair, schema).into_iter().map(alone));
        }
    }

    /// All that is known of calls alone is put to use.
    fn plan(&mut self, calibrated: &Calibrated, notebook: &mut Notebook) {
        let clients = if self.listens { self.load.clients } else { 1 };
        let plans = schedules::Plans {
            forms: &self.forms,
            calibrated,
            concurrency: self.load.concurrency.max(2),
            clients,
            seed: self.seed,
        };
        let mode = self.load.mode;
        if matches!(mode, TortureMode::All | TortureMode::Parallel) {
            self.waiting.extend(plans.stores());
            if self.confined && !self.listens && self.load.thorough {
                self.waiting.extend(plans.files());
            }
            self.waiting.extend(plans.counters());
            self.waiting.extend(plans.answers());
        }
        if matches!(mode, TortureMode::All | TortureMode::StateLeak) {
            let said = &self.seen.context;
            self.waiting.extend(plans.named_sessions(said));
            let sessions = plans.sessions(said, self.load.shared, &self.lists);
            // Over stdio, who does not say that sessions are apart keeps files that are the user's.
            let of_processes = self.confined && self.load.thorough;
            let wanted = |case: &Case| match self.listens {
                true => true,
                false => {
                    of_processes
                        && case.schedule().is_some_and(|schedule| schedule.question == Question::Isolation)
                }
            };
            self.waiting.extend(sessions.into_iter().filter(wanted));
        }
        self.plan_disturbances(calibrated);
        if self.waiting.is_empty() && self.made == 0 && mode != TortureMode::Lifecycle {
            notebook.leave_out("calls in flight together", "no call works that could be made several times");
        }
    }

    /// What came of calls at once.
    fn take(&mut self, tried: Tried, notebook: &mut Notebook) {
        let case = tried.played.as_ref().unwrap_or(&tried.case);
        let mut limited = 0;
        let mut leaks = false;
        if let Some((schedule, history, replies)) = replies(case, &tried.recording) {
            let named = |reply: &ClientReply| {
                reply.asked.outcome.as_ref().map(|outcome| named_by(&reply.answer, outcome))
            };
            let lessons: Vec<Lesson> = replies.iter().filter_map(named).flatten().collect();
            notebook.prover.hear(case, &lessons);
            for reply in &replies {
                let subject =
                    reply.ask.tool_name().map_or(Subject::Server, |tool| Subject::Tool(tool.to_owned()));
                notebook.count(&subject, true, &reply.answer);
                limited += usize::from(reply.is_limited());
            }
            if let Some(text) = remarks::stalled(&replies) {
                notebook.note(None, text);
            }
            if let Some(refused) = &history.refused
                && tried.judgement.charges.is_empty()
            {
                let text = format!("a second client at the same time is not taken: {}", refused.why);
                notebook.note(None, text);
            }
            leaks = schedule.question == Question::Nothing && calibration::shows_elsewhere(&replies);
        }
        if limited > 0 {
            let text =
                format!("limits how much is asked of it: {limited} calls of those at once were told so");
            notebook.note(case.subject.name(), text);
        }
        if let Some(text) = remarks::remark(case, &tried.recording) {
            notebook.note(case.subject.name(), text);
        }
        if leaks {
            let text = "what one session stores shows in another session; taken to be shared on purpose, because nothing \
                        says that sessions are apart (`[isolation] shared = false` does)";
            notebook.note(case.subject.name(), text.to_owned());
        }
        let seen = self.seen.clone();
        for charge in tried.judgement.charges {
            notebook.suspect(&seen, &tried.case, charge, Vec::new());
        }
    }
}

impl Probe for Torture {
    fn name(&self) -> &'static str {
        "torture"
    }

    fn worth(&self) -> f64 {
        0.4
    }

    fn propose(&mut self, computes: bool, listener: &mut dyn Listener) -> Option<(u64, Job)> {
        if self.stage == Stage::AtOnce
            && let Some(work) = self.quiet.pop_front()
        {
            return Some(self.job(work, true));
        }
        if !computes {
            return None;
        }
        if self.stage == Stage::AtOnce {
            let case = self.waiting.pop_front()?;
            self.made += 1;
            return Some(self.job(Work::Alone { case: Box::new(case), brief: false }, false));
        }
        if !self.under_way.is_empty() {
            return None;
        }
        if self.stage == Stage::Learn {
            match self.learn_more() {
                Some(cases) => {
                    listener.hear(&Event::RoundBegun { phase: "valid calls", cases: cases.len() });
                    self.learning = cases.clone();
                    return Some(self.job(Work::OneByOne { cases, patient: false }, false));
                }
                None => self.stage = Stage::Calibrate,
            }
        }
        if self.stage == Stage::Calibrate {
            form::keep_within(&mut self.forms, MOST_ALONE);
            let calibration = Calibration::new(&self.forms, self.seed);
            let case = calibration.case(self.seed);
            if self.forms.is_empty() && self.asking.is_empty() && self.slow.is_empty() {
                self.stage = Stage::Done;
                return None;
            }
            if self.forms.is_empty() {
                self.plan_disturbances(&Calibrated::default());
                self.stage = Stage::AtOnce;
                return self.quiet.pop_front().map(|work| self.job(work, true));
            }
            self.calibration = Some(calibration);
            return Some(self.job(Work::Alone { case: Box::new(case), brief: false }, false));
        }
        None
    }

    fn read(&mut self, number: u64, done: Done, notebook: &mut Notebook, listener: &mut dyn Listener) {
        self.under_way.remove(&number);
        let Done::OneByOne(all) = done else { return };
        match self.stage {
            Stage::Learn => all.iter().for_each(|tried| self.learn(tried, notebook)),
            Stage::Calibrate => {
                let Some(calibration) = self.calibration.take() else { return };
                let Some(tried) = all.into_iter().next() else { return };
                let calibrated = calibration.read(&self.forms, &tried);
                self.take(tried, notebook);
                self.plan(&calibrated, notebook);
                listener.hear(&Event::RoundBegun { phase: "calls at once", cases: self.waiting.len() });
                self.stage = Stage::AtOnce;
            }
            Stage::AtOnce | Stage::Done => all.into_iter().for_each(|tried| self.take(tried, notebook)),
        }
    }

    fn is_done(&self) -> bool {
        let idle = self.under_way.is_empty() && self.waiting.is_empty() && self.quiet.is_empty();
        idle && matches!(self.stage, Stage::AtOnce | Stage::Done)
    }

    fn finish(&mut self, why: Option<&str>, notebook: &mut Notebook) {
        let wanted = self.load.mode != TortureMode::Lifecycle;
        if self.stage == Stage::Done && self.forms.is_empty() && wanted {
            notebook.leave_out("calls in flight together", "no call worked when it was made alone");
        }
        if let Some(why) = why.filter(|_| !self.is_done()) {
            let left = match self.stage {
                Stage::AtOnce => {
                    format!("{} of the tests of torture", self.waiting.len() + self.quiet.len())
                }
                _ => "calls in flight together".to_owned(),
            };
            notebook.leave_out(&left, why);
        }
    }
}

/// Whether an answer is a success.
fn is_good(answer: &Answer) -> bool {
    *answer == Answer::Completed
}
