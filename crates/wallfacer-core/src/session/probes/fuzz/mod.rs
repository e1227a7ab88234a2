//! Exercises everything that a server offers with valid, boundary, invalid and hostile arguments, and with malformed frames.

mod answers;
mod lane;
mod round;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::notebook::Seen;
use super::{Notebook, Probe};
use crate::catalogue::Catalogue;
use crate::event::{Event, Listener};
use crate::judge::{Charge, Context};
use crate::learn::Answers;
use crate::observe::Answer;
use crate::plan::{Case, Input, Inputs, Options, Planner, Step, Subject, Teaching};
use crate::session::agenda::Selection;
use crate::session::lab::{
    Asked, Done, Entangled, Job, Judged, Pace, Part, Spoiled, Together, Tried, Work, World, silent_together,
    start_case,
};
use crate::session::options::{Feedback, FuzzOptions};
use crate::session::prove::{Interest, Outcome};

use self::answers::ValidAnswers;
use self::lane::Lane;
use self::round::{Next, Round};

/// Calls of one tool in a row that show whether something grows with them.
const GROWTH_CALLS: u32 = 400;
/// With fewer iterations than this nobody wants so many calls.
const GROWTH_ITERATIONS: usize = 100;
/// In a round of this size a server that has taken its part well goes on to the next.
const LONG_ROUND: usize = 1_600;
/// Steps before a case that are tried again with it.
const MAX_BEFORE: usize = 800;

/// What this is called.
const FUZZ: &str = "fuzz";

/// What fuzzing has come to so far.
pub struct Fuzz {
    seen: Seen,
    in_flight: usize,
    tells_kinds: bool,
    lanes: Vec<Lane>,
    /// Jobs that are under way, and the lanes that they belong to.
    jobs: BTreeMap<u64, usize>,
    next_job: u64,
    selection: Selection,
    /// The first valid call of each tool that succeeded.
    good: BTreeMap<String, Case>,
    slow: BTreeSet<Subject>,
    /// How valid calls were answered.
    valid: ValidAnswers,
    /// Inputs whose answer was new in kind, of cases that no plan has made.
    inputs: BTreeMap<String, Inputs>,
    /// What the answers of each tool have in common, where that is wanted.
    answers: Option<BTreeMap<String, Answers>>,
    wants_growth: bool,
    /// Whether what hardly succeeds is told.
    tells_success: bool,
    /// Rules of which nothing can be said and why, and those of which something can.
    pub rulings: BTreeMap<String, Option<String>>,
    calls: u64,
}

impl Fuzz {
    /// A probe with nothing to do yet.
    pub fn new(options: &FuzzOptions, context: Arc<Context>, selection: Selection) -> Fuzz {
        Fuzz {
            seen: Seen { world: World::Plain, context, interest: Interest::ANSWERS },
            in_flight: options.in_flight,
            tells_kinds: options.feedback.is_some(),
            lanes: Vec::new(),
            jobs: BTreeMap::new(),
            next_job: 0,
            selection,
            good: BTreeMap::new(),
            slow: BTreeSet::new(),
            valid: ValidAnswers::default(),
            inputs: BTreeMap::new(),
            answers: None,
            wants_growth: options.iterations >= GROWTH_ITERATIONS,
            tells_success: true,
            rulings: BTreeMap::new(),
            calls: 0,
        }
    }

    /// What the server wrote before it was asked for anything is to be proven.
    pub fn suspect_noise(&self, noise: Option<&Charge>, seed: u64, notebook: &mut Notebook) {
        if let Some(charge) = noise {
            notebook.suspect(&self.seen, &start_case(seed), charge.clone(), Vec::new());
        }
    }

    /// The whole plan: what failed before, malformed frames, what is offered beside tools, and the tools.
    pub fn with_plan(
        mut self,
        planner: Planner,
        stored: Vec<Case>,
        frames: Vec<Case>,
        offers: Vec<Case>,
    ) -> Fuzz {
        let mut main = Lane::new(Some(planner), vec![("stored".to_owned(), stored)]);
        main.grows = self.wants_growth;
        self.lanes = vec![
            main,
            Lane::new(None, vec![("protocol frames".to_owned(), frames)]),
            Lane::new(None, vec![("resources and prompts".to_owned(), offers)]),
        ];
        self
    }

    /// Nothing but these cases.
    pub fn with_cases(mut self, phase: &str, cases: Vec<Case>) -> Fuzz {
        self.lanes = vec![Lane::new(None, vec![(phase.to_owned(), cases)])];
        self.tells_success = false;
        self
    }

    /// In another world, or with an eye for other charges.
    pub fn seeing(mut self, world: World, interest: Interest) -> Fuzz {
        self.seen = Seen { world, interest, ..self.seen };
        self
    }

    /// From now on answers are judged by this.
    pub fn judge_by(&mut self, context: Arc<Context>) {
        self.seen.context = context;
    }

    /// Learns what the answers have in common.
    pub fn learning(mut self) -> Fuzz {
        self.answers = Some(BTreeMap::new());
        self.wants_growth = false;
        self.lanes.iter_mut().for_each(|lane| lane.grows = false);
        self
    }

    pub fn without_growth(mut self) -> Fuzz {
        self.lanes.iter_mut().for_each(|lane| lane.grows = false);
        self
    }

    /// What the answers were learned to have in common.
    pub fn take_answers(&mut self) -> BTreeMap<String, Answers> {
        self.answers.take().unwrap_or_default()
    }

    /// Inputs whose answer was new in kind.
    pub fn news(&self) -> Vec<Input> {
        let planners =
            self.lanes.iter().filter_map(|lane| lane.planner.as_ref().map(|planner| (lane, planner)));
        let mut news: Vec<Input> = Vec::new();
        for (lane, planner) in planners {
            let own = lane.own.as_ref().and_then(Subject::tool);
            let mine = planner.news().into_iter().filter(|input| own.is_none_or(|own| own == input.tool));
            for input in mine {
                if !news.contains(&input) {
                    news.push(input);
                }
            }
        }
        let of = |(tool, inputs): (&String, &Inputs)| {
            let tool = tool.clone();
            let input = move |arguments| Input { tool: tool.clone(), arguments };
            inputs.news().to_vec().into_iter().map(input)
        };
        news.extend(self.inputs.iter().flat_map(of));
        news
    }

    fn job(&mut self, lane: usize, next: Next) -> Job {
        let Lane { round, pace, one_at_a_time, .. } = &self.lanes[lane];
        let round = round.as_ref().expect("it was just asked what is next in it");
        let one_at_a_time = *pace == Pace::Wary || *one_at_a_time || round.suspects_group();
        let work = match next {
            Next::Alone(index) => {
                let case = round.cases[index].clone();
                // Of a frame it must be seen how the server ends.
                let brief = case.subject != Subject::Server;
                Work::Alone { case: Box::new(case), brief }
            }
            Next::Part(places) => {
                let twins = places.iter().enumerate();
                let twins = twins.filter_map(|(place, index)| Some((place, round.twins.get(index)?.clone())));
                Work::Together(Together {
                    cases: places.iter().map(|index| round.cases[*index].clone()).collect(),
                    in_flight: if one_at_a_time { 1 } else { self.in_flight },
                    pace: *pace,
                    twins: twins.collect(),
                    good: Arc::new(self.good.clone()),
                    learns: self.answers.is_some(),
                    tells_kinds: self.tells_kinds,
                    goes_on: round.cases.len() >= LONG_ROUND,
                })
            }
        };
        let waits = matches!(work, Work::Alone { .. }) || *pace != Pace::Brisk;
        Job { world: self.seen.world, context: self.seen.context.clone(), work, waits }
    }

    /// Takes in the answers of a part, as far as they make anything suspicious; the rest is learned when the round is over.
    fn take_part(&mut self, lane: usize, number: u64, part: Part, notebook: &mut Notebook) {
        let seen = self.seen.clone();
        let Lane { round, one_at_a_time, .. } = &mut self.lanes[lane];
        let Some(round) = round else { return };
        for (places, mut part) in round.take_part(number, part) {
            round.keep(&places, &mut part);
            *one_at_a_time |= !part.entangled.is_empty() || !part.spoiled.is_empty();
            for Entangled { case, charges, first } in std::mem::take(&mut part.entangled) {
                for charge in charges {
                    notebook.suspect(&seen, &case, charge, before(&round.cases, &places, first));
                }
            }
            for Spoiled { case, charge } in std::mem::take(&mut part.spoiled) {
                notebook.suspect(&seen, &case, charge, Vec::new());
            }
            for (place, mut judged) in part.judged {
                let index = places[place];
                let case = judged.case.clone().unwrap_or_else(|| round.cases[index].clone());
                if let Some(tool) = case.subject.tool() {
                    notebook.reach(tool, case.intent.is_valid() == Some(true), &judged.answer);
                }
                for charge in std::mem::take(&mut judged.charges) {
                    let before = match &charge.kind {
                        kind if kind.is_fatal() => before(&round.cases, &places, place),
                        // The server may have been called before this part of the round.
                        kind if kind.may_need_state() => {
                            let stored = self.good.values().flat_map(|good| good.steps.clone());
                            stored.chain(before(&round.cases, &places, place)).collect()
                        }
                        _ => Vec::new(),
                    };
                    notebook.suspect(&seen, &case, charge, before);
                }
                for (twin, judgement) in &mut judged.twins {
                    for charge in std::mem::take(&mut judgement.charges) {
                        notebook.suspect(&seen, twin, charge, Vec::new());
                    }
                }
                round.judged.insert(index, judged);
            }
            notebook.out_of_time |= part.out_of_time;
        }
    }

    /// Takes in what came of a call that had not been answered at once, and was made again alone.
    fn take_alone(&mut self, lane: usize, number: u64, tried: &Tried, notebook: &mut Notebook) {
        let Some(round) = &mut self.lanes[lane].round else { return };
        let Some((index, company)) = round.take_alone(number) else { return };
        if tried.aside {
            round.set_apart(index);
            self.suspect_all(tried, notebook);
            return;
        }
        let judged = self.judge_alone(lane, index, tried, notebook);
        let Some(round) = &mut self.lanes[lane].round else { return };
        round.judged.insert(index, judged);
        if !company.is_empty() && !tried.is_fatal() {
            round.suspect_group(index, company);
        }
    }

    fn judge_alone(&mut self, lane: usize, index: usize, tried: &Tried, notebook: &mut Notebook) -> Judged {
        let twins = self.lanes[lane].round.as_ref().and_then(|round| round.twins.get(&index));
        let twins: Vec<Case> = twins.cloned().unwrap_or_default();
        let (learns, tells_kinds) = (self.answers.is_some(), self.tells_kinds);
        let asked = Asked { teaches: true, learns, tells_kinds, twins: &twins };
        let mut judged = Judged::of(&tried.case, &tried.recording, &self.seen.context, &asked);
        let seen = self.seen.clone();
        for charge in std::mem::take(&mut judged.charges) {
            notebook.suspect(&seen, &tried.case, charge, Vec::new());
        }
        for (twin, judgement) in &mut judged.twins {
            for charge in std::mem::take(&mut judgement.charges) {
                notebook.suspect(&seen, twin, charge, Vec::new());
            }
        }
        judged
    }

    fn suspect_all(&mut self, tried: &Tried, notebook: &mut Notebook) {
        let seen = self.seen.clone();
        for charge in tried.judgement.charges.clone() {
            notebook.suspect(&seen, &tried.case, charge, Vec::new());
        }
    }

    /// Takes in whether a call is answered at all: then its subject only takes long.
    fn take_look(&mut self, lane: usize, tried: &Tried, notebook: &mut Notebook) {
        let judged = self.judge_alone(lane, usize::MAX, tried, notebook);
        let silent = tried.is_fatal();
        self.take_case(lane, &tried.case, judged, notebook);
        let own = &mut self.lanes[lane];
        own.looks = false;
        own.pace = if silent { Pace::Wary } else { Pace::Patient };
        if !silent {
            self.slow.insert(tried.case.subject.clone());
        }
    }

    fn begin_round(&mut self, lane: usize, listener: &mut dyn Listener) {
        if !self.lanes[lane].is_free() {
            return;
        }
        if let Some((phase, cases)) = self.lanes[lane].next_cases() {
            listener.hear(&Event::RoundBegun { phase: &phase, cases: cases.len() });
            self.lanes[lane].round = Some(Round::new(phase, cases));
        }
    }

    /// Goes on with a lane whose job is back.
    fn advance(&mut self, lane: usize, notebook: &mut Notebook, listener: &mut dyn Listener) {
        let known = self.lanes[lane].pace == Pace::Wary;
        let Some(round) = &mut self.lanes[lane].round else { return };
        if !round.advance(known) {
            return;
        }
        let Some(round) = self.lanes[lane].round.take() else { return };
        self.conclude(lane, round, notebook, listener);
    }

    /// Counts and learns in the order of the cases, and gives subjects that make trouble lanes of their own.
    fn conclude(
        &mut self,
        lane: usize,
        mut round: Round,
        notebook: &mut Notebook,
        listener: &mut dyn Listener,
    ) {
        for (index, judged) in std::mem::take(&mut round.judged) {
            self.take_case(lane, &round.cases[index], judged, notebook);
        }
        for company in round.unexplained_groups() {
            self.lanes[lane].one_at_a_time = true;
            let cases = company.iter().map(|index| &round.cases[*index]);
            let seed = cases.clone().next().map_or(0, |case| case.seed);
            let (case, charges) = silent_together(cases, seed, &self.seen.context);
            for charge in charges {
                notebook.suspect(&self.seen, &case, charge, Vec::new());
            }
        }
        notebook.out_of_time |= !round.undone.is_empty();
        for (subject, left) in std::mem::take(&mut round.given_up) {
            self.lanes[lane].give_up(&subject);
            self.lanes[lane].left.extend(left.into_iter().map(|index| round.cases[index].clone()));
        }
        if self.lanes[lane].own.is_none() {
            self.set_apart(lane, &round);
        }
        self.lanes[lane].look_ahead();
        let suspected = notebook.prover.in_words();
        listener.hear(&Event::RoundDone {
            phase: &round.phase,
            calls: notebook.summary.calls,
            suspicions: notebook.prover.open(),
            suspected: &suspected,
        });
    }

    fn set_apart(&mut self, lane: usize, round: &Round) {
        let apart = round.apart.keys().chain(&round.deadly).cloned();
        for subject in apart.filter(|subject| *subject != Subject::Server).collect::<BTreeSet<_>>() {
            let parked = round.parked(&subject);
            let split = |planner: &mut Planner| subject.tool().map(|tool| planner.split_off(tool));
            let planner = self.lanes[lane].planner.as_mut().and_then(split);
            let mut own = Lane::of(&subject, planner, &round.phase, parked);
            own.doubtful = round.apart.get(&subject).map(|index| round.cases[*index].clone());
            self.lanes.push(own);
        }
    }

    fn take_case(&mut self, lane: usize, case: &Case, judged: Judged, notebook: &mut Notebook) {
        let valid = case.intent.is_valid() == Some(true);
        let completed = judged.answer == Answer::Completed;
        notebook.count(&case.subject, valid, &judged.answer);
        if case.single_call().is_some() {
            notebook.time(&case.subject, &judged.answer, judged.took);
        }
        self.calls += 1;
        if let Some(tool) = case.subject.tool().filter(|_| valid && completed && case.single_call().is_some())
        {
            self.good.entry(tool.to_owned()).or_insert_with(|| case.clone());
        }
        let lessons = match &judged.teaching {
            Teaching::Result(lessons) => lessons.as_slice(),
            _ => &[],
        };
        notebook.prover.hear(case, lessons);
        if let Some(tool) = case.subject.tool().filter(|_| valid) {
            self.valid.note(tool, completed, &judged.teaching, judged.lacking);
        }
        if let (Some(answers), Some(sight), Some(tool)) =
            (&mut self.answers, judged.sight, case.subject.tool())
        {
            answers.entry(tool.to_owned()).or_default().add(sight);
        }
        if let Some(planner) = self.lanes[lane].planner.as_mut().filter(|_| is_of_plan(case)) {
            judged.kind.iter().for_each(|kind| planner.learn_kind(case, *kind));
            let unready = judged.unready.filter(|text| planner.learn_unready(case, text, completed));
            // That something was done though it is not valid says nothing of what is.
            if unready.is_none() && (valid || !completed) {
                planner.learn(case, judged.teaching);
            }
        }
        if let (None, Some(tool), Some(Value::Object(arguments))) =
            (&self.lanes[lane].planner, case.subject.tool(), case.arguments())
        {
            let inputs = self.inputs.entry(tool.to_owned()).or_default();
            judged.kind.iter().for_each(|kind| inputs.hear(arguments, *kind));
        }
        for text in judged.notes {
            notebook.note(case.subject.tool(), text);
        }
        self.note_ruling(case, judged.unknown);
        for (twin, judgement) in judged.twins {
            self.note_ruling(&twin, judgement.unknown);
        }
    }

    /// What a rule says of a case: nothing, for this reason, or something.
    pub fn note_ruling(&mut self, case: &Case, unknown: Option<String>) {
        let Some(claim) = &case.claim else { return };
        match (self.rulings.get(&claim.rule), unknown) {
            (Some(None), _) => {}
            (Some(Some(_)), Some(_)) => {}
            (_, unknown) => drop(self.rulings.insert(claim.rule.clone(), unknown)),
        }
    }

    /// Says how many cases of a subject were left out because of what it did.
    fn tell_left(&mut self, notebook: &mut Notebook) {
        let mut left: BTreeMap<Subject, usize> = BTreeMap::new();
        for case in self.lanes.iter_mut().flat_map(|lane| std::mem::take(&mut lane.left)) {
            *left.entry(case.subject).or_default() += 1;
        }
        for (subject, cases) in left {
            let cases = if cases == 1 { "1 case was".to_owned() } else { format!("{cases} cases were") };
            let text = format!("{cases} left out because it kept ending or silencing the server");
            notebook.note(subject.name(), text);
        }
    }

    /// One good call of each tool, again and again, to see whether anything grows with them.
    fn growth_cases(&self) -> Vec<Case> {
        let shard = self.selection.shard();
        let mine = self.good.iter().filter(|(tool, _)| shard.takes(FUZZ, tool)).map(|(_, case)| case);
        let quick = mine.filter(|case| !self.slow.contains(&case.subject));
        let many = quick.filter_map(|case| {
            let (method, params) = case.single_call()?;
            let (method, params) = (method.to_owned(), params.clone());
            Some(Case { steps: vec![Step::Many { times: GROWTH_CALLS, method, params }], ..case.clone() })
        });
        many.collect()
    }
}

impl Probe for Fuzz {
    fn name(&self) -> &'static str {
        FUZZ
    }

    fn worth(&self) -> f64 {
        2.0
    }

    fn propose(&mut self, computes: bool, listener: &mut dyn Listener) -> Option<(u64, Job)> {
        for lane in 0..self.lanes.len() {
            self.begin_round(lane, listener);
            if self.lanes[lane].is_to_grow() {
                let cases = self.growth_cases();
                self.lanes[lane].grows = false;
                self.lanes[lane].append("growth", cases);
                self.begin_round(lane, listener);
            }
            let computes = computes || self.lanes[lane].pace != Pace::Brisk;
            let number = self.next_job;
            if let Some(case) = self.lanes[lane].doubtful.take() {
                self.next_job += 1;
                self.jobs.insert(number, lane);
                self.lanes[lane].looks = true;
                let Seen { world, context, .. } = self.seen.clone();
                let work = Work::Alone { case: Box::new(case), brief: false };
                return Some((number, Job { world, context, work, waits: true }));
            }
            let next = self.lanes[lane].round.as_mut().and_then(|round| round.next(number, computes));
            if let Some(next) = next {
                self.next_job += 1;
                self.jobs.insert(number, lane);
                return Some((number, self.job(lane, next)));
            }
        }
        None
    }

    fn read(&mut self, number: u64, done: Done, notebook: &mut Notebook, listener: &mut dyn Listener) {
        let Some(lane) = self.jobs.remove(&number) else { return };
        match done {
            Done::Together(part) => self.take_part(lane, number, part, notebook),
            Done::OneByOne(tried) => {
                let looks = self.lanes[lane].looks;
                for tried in &tried {
                    match looks {
                        true => self.take_look(lane, tried, notebook),
                        false => self.take_alone(lane, number, tried, notebook),
                    }
                }
            }
            _ => {}
        }
        self.advance(lane, notebook, listener);
    }

    fn hear(&mut self, outcome: &Outcome, _: &mut Notebook) {
        if !outcome.was_of_hang {
            return;
        }
        for lane in &mut self.lanes {
            if lane.own.as_ref() == Some(&outcome.subject) && outcome.slow && lane.pace != Pace::Patient {
                lane.pace = Pace::Patient;
                self.slow.insert(outcome.subject.clone());
                let left = std::mem::take(&mut lane.left);
                lane.append("slow calls", left);
            }
        }
    }

    fn is_done(&self) -> bool {
        self.lanes.iter().all(|lane| lane.is_done() && !lane.grows)
    }

    fn finish(&mut self, why: Option<&str>, notebook: &mut Notebook) {
        // What was begun and not ended is counted all the same.
        for lane in 0..self.lanes.len() {
            if let Some(mut round) = self.lanes[lane].round.take() {
                for (index, judged) in std::mem::take(&mut round.judged) {
                    self.take_case(lane, &round.cases[index], judged, notebook);
                }
            }
        }
        if self.tells_success {
            self.tell_left(notebook);
        }
        if let Some(why) = why.filter(|_| !self.is_done()) {
            notebook.leave_out("the rest of the plan", why);
        }
        if self.tells_success {
            self.valid.report_low_success(&self.selection.tools, notebook);
        }
    }
}

/// What came before a case on the same server.
fn before(cases: &[Case], places: &[usize], place: usize) -> Vec<Step> {
    let earlier = &places[place.saturating_sub(MAX_BEFORE)..place];
    earlier.iter().flat_map(|index| cases[*index].steps.clone()).collect()
}

/// Stored cases and frames are no part of the plan, which knows nothing of them.
fn is_of_plan(case: &Case) -> bool {
    case.intent.is_valid().is_some() && case.subject.tool().is_some()
}

/// The plan for the tools that are chosen; those whose schema cannot be used are told.
pub fn plan(options: &FuzzOptions, selection: &Selection, notebook: &mut Notebook) -> Planner {
    let FuzzOptions { seed, mode, iterations, max_bytes, .. } = *options;
    let plan = Options { seed, mode, iterations, max_bytes };
    let (mut planner, refused) = Planner::new(&selection.tools, plan);
    planner.leave_to_others(|tool| !options.shard.takes(FUZZ, tool));
    if let Some(Feedback { ratio, known }) = &options.feedback {
        planner.follow_news(*ratio, known);
    }
    for (what, why) in refused {
        notebook.leave_out(&what, &format!("its input schema cannot be used: {why}"));
    }
    planner
}

/// The stored failures that may be tried: one that calls a tool which is left out stays away, and rules are tried where
/// rules are given.
pub fn stored(
    options: &FuzzOptions,
    catalogue: &Catalogue,
    selection: &Selection,
    notebook: &mut Notebook,
) -> Vec<Case> {
    let unclaimed = options.stored.iter().filter(|case| case.claim.is_none() && !case.steps.is_empty());
    let (tried, left): (Vec<&Case>, Vec<&Case>) = unclaimed.partition(|case| {
        let mut called = case.called_tools();
        called.all(|name| {
            let listed = catalogue.tools.entries.iter().any(|tool| tool.name == name);
            !listed || selection.may_call(name)
        })
    });
    if !left.is_empty() {
        let what = match left.len() {
            1 => "1 stored failure".to_owned(),
            several => format!("{several} stored failures"),
        };
        notebook.leave_out(&what, "tools are called that are left out");
    }
    // Machines may have stored other failures, so each goes by itself and not by its place among them.
    let mine = tried.into_iter().filter(|case| options.shard.takes("stored", &format!("{:?}", case.steps)));
    mine.cloned().collect()
}
