//! A part of a round in, what was seen of each of its cases out. Each part has lives of its own, so that the outcome does
//! not depend on how many workers share the parts. Only in a long round a server goes on to the next part: whatever
//! takes fewer calls than one part has was seen, or not, before that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::crew::{Crew, Idle};
use super::curfew::Curfew;
use super::novelty::kind;
use crate::judge::{Charge, Context, Judgement, is_complete, leak, weigh};
use crate::learn::Sight;
use crate::observe::{Answer, observe};
use crate::plan::{Case, Planner, Step, Subject, Teaching, harvest, said, unready};
use crate::run::{Foreman, Recording, Runner, Taken, Unexplained};
use crate::stop::{Stop, Stopped};
use crate::wire::{Body, ConnectError, Content, Outcome};

/// Cases of one part: enough to make the start of a server cheap beside them, and few enough to be tried again in a row
/// where all of them together do harm.
const SHARD: usize = 200;
/// The largest part, however long the round is.
const LARGE_SHARD: usize = 800;
/// Parts of a long round, so that as many workers have something to do.
const SHARDS: usize = 8;
/// In a round of this size a server that has taken its part well goes on to the next.
const LONG_ROUND: usize = SHARD * SHARDS;
/// Deaths of the server on one subject, within one part, after which its other cases are left out.
const MAX_DEATHS: usize = 6;
/// The same for silences, which cost a whole time limit each.
const MAX_SILENCES: usize = 2;

/// Replies of one subject that are learned from, within one part; after these few are news.
const MAX_LEARNED: usize = 24;

/// What is left of a case once it has been judged.
#[derive(Debug)]
pub struct Judged {
    pub answer: Answer,
    pub charges: Vec<Charge>,
    pub teaching: Teaching,
    /// What it says of a call that must come first.
    pub unready: Option<String>,
    /// The kind of the answer, where anyone asks for it.
    pub kind: Option<u64>,
    pub notes: Vec<String>,
    trouble: Option<Trouble>,
    /// The case as it was performed, where anything is held against it.
    pub case: Option<Case>,
    /// Why the rule of the case says nothing.
    pub unknown: Option<String>,
    /// What its answer looks like, where that is learned.
    pub sight: Option<Sight>,
    /// What other rules say of the same calls.
    pub twins: Vec<(Case, Judgement)>,
}

/// What a case costs beside its own time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// A server.
    Death,
    /// A whole time limit.
    Silence,
}

/// What came of one part.
#[derive(Debug, Default)]
pub struct Part {
    /// By the place of the case in the round.
    pub judged: BTreeMap<usize, Judged>,
    pub unexplained: Vec<Unexplained>,
    /// Cases that were left out because of what their subject did, by their places in the round.
    pub given_up: BTreeMap<Subject, Vec<usize>>,
    /// Whether cases were left out because the time was up.
    pub out_of_time: bool,
    /// Which ones, by their places in the round.
    pub undone: Vec<usize>,
    pub lives: u64,
}

impl Part {
    /// Whether nothing is held against the server.
    fn is_clean(&self) -> bool {
        let complete = self.unexplained.is_empty() && self.given_up.is_empty() && !self.out_of_time;
        let mut judged = self.judged.values();
        complete && judged.all(|judged| judged.trouble.is_none() && judged.charges.is_empty())
    }
}

/// How a round is performed.
pub struct Manner<'a> {
    pub context: &'a Context,
    pub in_flight: usize,
    pub workers: usize,
    pub curfew: Option<Curfew>,
    pub stop: &'a Stop,
    /// Subjects that are known to take long: their silence is no trouble.
    pub slow: &'a BTreeSet<Subject>,
    /// Subjects that are suspected of hanging: one further silence tells nothing new.
    pub doubted: &'a BTreeSet<Subject>,
    /// Cases that make the same calls for another rule, by the place of the one that is performed for them all.
    pub twins: &'a BTreeMap<usize, Vec<Case>>,
    /// Whether answers of valid calls are learned from.
    pub learns: bool,
    /// Whether it is asked of what kind each answer is.
    pub tells_kinds: bool,
    /// Whether this was suspected before, so that it asks for no further time.
    pub is_known: &'a (dyn Fn(&Case, &Charge) -> bool + Sync),
}

/// How many cases of a round stand in one part. It depends on nothing but the round, so that the parts are the same
/// whatever the number of workers.
pub fn shard_size(cases: usize) -> usize {
    (cases / SHARDS).clamp(SHARD, LARGE_SHARD)
}

/// Performs a round with so many workers.
pub fn perform_round(
    cases: &[Case],
    runner: &(dyn Fn() -> Runner + Sync),
    manner: &Manner<'_>,
    idle: &Idle,
) -> Result<Vec<Part>, ConnectError> {
    if cases.is_empty() {
        return Ok(Vec::new());
    }
    let size = shard_size(cases.len());
    let goes_on = cases.len() >= LONG_ROUND;
    if !goes_on {
        idle.rest();
    }
    let shards: Vec<&[Case]> = cases.chunks(size).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut parts = Vec::new();
        loop {
            let shard = next.fetch_add(1, Ordering::Relaxed);
            let Some(cases) = shards.get(shard) else { break };
            let mut crew = idle.take().unwrap_or_else(|| Crew::new(runner(), manner.stop));
            let part = perform_shard(cases, shard * size, &mut crew, manner);
            match &part {
                Ok(part) if goes_on && part.is_clean() => idle.put(crew),
                _ => crew.rest(),
            }
            parts.push((shard, part));
        }
        parts
    };
    let mut parts: Vec<(usize, Result<Part, ConnectError>)> = std::thread::scope(|scope| {
        let count = manner.workers.clamp(1, shards.len().max(1));
        let handles: Vec<_> = (0..count).map(|_| scope.spawn(worker)).collect();
        let join = |handle: std::thread::ScopedJoinHandle<'_, Vec<_>>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        handles.into_iter().flat_map(join).collect()
    });
    parts.sort_by_key(|(shard, _)| *shard);
    parts.into_iter().map(|(_, part)| part).collect()
}

fn perform_shard(
    cases: &[Case],
    offset: usize,
    crew: &mut Crew,
    manner: &Manner<'_>,
) -> Result<Part, ConnectError> {
    let Crew { runner, runtime, .. } = crew;
    let lives = runner.lives;
    runner.repeat_until(manner.curfew.as_ref().map(Curfew::latest));
    let mut bench = Bench {
        manner,
        offset,
        judged: BTreeMap::new(),
        trouble: BTreeMap::new(),
        instructive: instructive(cases),
        out_of_time: false,
    };
    let swept = runtime.block_on(manner.stop.unless(runner.sweep(cases, manner.in_flight, &mut bench)));
    bench.out_of_time |= swept.is_err();
    let unexplained = swept.unwrap_or_else(|Stopped| Ok(Vec::new()))?;
    let lives = runner.lives - lives;
    let mut part = Part { out_of_time: bench.out_of_time, lives, ..Part::default() };
    part.judged = keep_in_order(cases, bench.judged, manner);
    for (index, case) in cases.iter().enumerate().filter(|(index, _)| !part.judged.contains_key(index)) {
        match part.out_of_time {
            true => part.undone.push(offset + index),
            false => part.given_up.entry(case.subject.clone()).or_default().push(offset + index),
        }
    }
    part.judged = part.judged.into_iter().map(|(index, judged)| (offset + index, judged)).collect();
    part.unexplained = unexplained;
    for unexplained in &mut part.unexplained {
        unexplained.suspects.iter_mut().for_each(|index| *index += offset);
    }
    Ok(part)
}

/// The cases whose replies are learned from: the first few of each subject, whichever are answered first.
fn instructive(cases: &[Case]) -> BTreeSet<usize> {
    let mut seen: BTreeMap<&Subject, usize> = BTreeMap::new();
    let among_the_first = |case| {
        let count = seen.entry(case).or_default();
        *count += 1;
        *count <= MAX_LEARNED
    };
    let first: Vec<bool> = cases.iter().map(|case| &case.subject).map(among_the_first).collect();
    first.into_iter().enumerate().filter(|(_, first)| *first).map(|(index, _)| index).collect()
}

/// What one call at a time would have come to: with several in flight, more is known of a subject by the time that it is
/// given up, and how much more is a matter of luck.
fn keep_in_order(
    cases: &[Case],
    judged: BTreeMap<usize, Judged>,
    manner: &Manner<'_>,
) -> BTreeMap<usize, Judged> {
    let mut tally: BTreeMap<&Subject, Tally> = BTreeMap::new();
    let kept = judged.into_iter().filter(|(index, judged)| {
        let subject = &cases[*index].subject;
        let tally = tally.entry(subject).or_default();
        let wanted = !tally.is_enough(subject, manner);
        tally.count(judged.trouble);
        wanted
    });
    kept.collect()
}

/// Deaths and silences of one subject.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    deaths: usize,
    silences: usize,
}

impl Tally {
    fn count(&mut self, trouble: Option<Trouble>) {
        match trouble {
            Some(Trouble::Death) => self.deaths += 1,
            Some(Trouble::Silence) => self.silences += 1,
            None => {}
        }
    }

    fn is_enough(&self, subject: &Subject, manner: &Manner<'_>) -> bool {
        let most = if manner.doubted.contains(subject) { 1 } else { MAX_SILENCES };
        let silent = self.silences >= most && !manner.slow.contains(subject);
        *subject != Subject::Server && (silent || self.deaths >= MAX_DEATHS)
    }
}

/// Judges each recording as it comes, so that none is kept.
struct Bench<'a> {
    manner: &'a Manner<'a>,
    /// Where the part begins in the round.
    offset: usize,
    judged: BTreeMap<usize, Judged>,
    trouble: BTreeMap<Subject, Tally>,
    /// Cases that are learned from.
    instructive: BTreeSet<usize>,
    out_of_time: bool,
}

impl Foreman for Bench<'_> {
    fn wants(&mut self, _: usize, case: &Case) -> bool {
        if self.manner.curfew.as_ref().is_some_and(Curfew::is_over) {
            self.out_of_time = true;
            return false;
        }
        let tally = self.trouble.get(&case.subject).copied().unwrap_or_default();
        !tally.is_enough(&case.subject, self.manner)
    }

    fn expects_silence(&self, case: &Case) -> bool {
        self.manner.slow.contains(&case.subject)
    }

    fn doubts(&self, recording: &Recording) -> bool {
        let secrets = &self.manner.context.secrets;
        let leaks = |step: &crate::run::Taken| step.notices.iter().any(|notice| secrets.shown_in(notice));
        recording.steps.iter().any(|step| !step.strays.is_empty() || !secrets.is_empty() && leaks(step))
    }

    fn take(&mut self, index: usize, case: &Case, recording: Recording) {
        let context = self.manner.context;
        let seen = observe(&recording);
        let judgement = weigh(case, &recording, &seen, context);
        let charges = judgement.charges;
        if let Some(curfew) = &self.manner.curfew
            && charges.iter().any(|charge| !(self.manner.is_known)(case, charge))
        {
            curfew.suspect();
        }
        self.out_of_time |= is_cut_short(case, &recording) && self.is_late();
        let answer = worst(&seen.steps);
        let trouble = recording.steps.iter().find(|step| step.is_fatal()).map(|step| {
            // Whether it was silence or noise, it took the whole time limit.
            let silent = step.closed.is_none() && step.outcome.is_none();
            if silent { Trouble::Silence } else { Trouble::Death }
        });
        self.trouble.entry(case.subject.clone()).or_default().count(trouble);
        let teaching =
            if self.instructive.contains(&index) { teaching(&answer, &recording) } else { Teaching::Nothing };
        let unready =
            self.instructive.contains(&index).then(|| wants_another_first(case, &answer, &recording));
        let unready = unready.flatten();
        let kind = self.manner.tells_kinds.then(|| kind(case, &answer, &recording)).flatten();
        let shown = case.tool_name().is_some_and(|tool| context.shows_environment(tool))
            && leak(case, &recording, &seen, context).is_some();
        let notes =
            shown.then(|| "it shows the server's environment, secrets included, as it says".to_owned());
        let notes = notes.into_iter().collect();
        let unknown = judgement.unknown;
        let twins = self.manner.twins.get(&(self.offset + index)).into_iter().flatten();
        let twins = twins.map(|twin| (twin.clone(), weigh(twin, &recording, &seen, context))).collect();
        // What a machine's environment looks like says nothing of the server.
        let shows = case.tool_name().is_some_and(|tool| context.shows_environment(tool));
        let learns = self.manner.learns && !shows;
        let sight = if learns { sight(case, &answer, &recording) } else { None };
        let case = (!charges.is_empty()).then(|| case.clone());
        let judged =
            Judged { answer, charges, teaching, unready, kind, notes, trouble, case, unknown, sight, twins };
        self.judged.insert(index, judged);
    }
}

impl Bench<'_> {
    /// Whether even what goes on to the very end has to stop.
    fn is_late(&self) -> bool {
        self.manner.curfew.as_ref().is_some_and(|curfew| Instant::now() >= curfew.latest())
    }
}

/// Whether a call was to be made more often than it was.
fn is_cut_short(case: &Case, recording: &Recording) -> bool {
    let mut steps = case.steps.iter().zip(&recording.steps);
    steps.any(|(step, taken)| match step {
        Step::Many { times, .. } => {
            !taken.is_fatal() && taken.stock.last().is_some_and(|(made, _)| made < times)
        }
        _ => false,
    })
}

/// What a valid call of a tool was answered, where that is a whole result.
fn sight(case: &Case, answer: &Answer, recording: &Recording) -> Option<Sight> {
    let valid = case.intent.is_valid() == Some(true) && *answer == Answer::Completed;
    let reply = recording.steps.last().filter(|_| valid)?.outcome.as_ref()?;
    let Outcome::Reply(reply) = reply else { return None };
    reply.result().filter(is_complete).map(|result| Sight::of(&result))
}

/// A death or a silence anywhere counts for the whole script; else its last answer does.
fn worst(steps: &[crate::observe::Seen]) -> Answer {
    let fatal = steps.iter().find(|step| matches!(step.answer, Answer::Gone { .. } | Answer::Silent));
    fatal.or(steps.last()).map_or(Answer::NotAwaited, |step| step.answer.clone())
}

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
    planner.learn(case, teaching(answer, recording));
    completed
}

/// What a call was answered, in words.
pub fn refusal(taken: &Taken) -> String {
    let Some(Outcome::Reply(reply)) = &taken.outcome else { return String::new() };
    match &reply.content {
        Content::Reply { body: Body::Error(error), .. } => error.message.clone(),
        _ => reply.result().map(|result| said(&result)).unwrap_or_default(),
    }
}

/// What the answer to the last call of a case teaches.
fn teaching(answer: &Answer, recording: &Recording) -> Teaching {
    let Some(taken) = recording.steps.last() else { return Teaching::Nothing };
    let Some(Outcome::Reply(reply)) = &taken.outcome else { return Teaching::Nothing };
    match answer {
        Answer::Completed => Teaching::Result(harvest(&reply.result().unwrap_or_default())),
        _ => Teaching::refusal(&refusal(taken)),
    }
}
