//! Performs many cases on one server with several calls in flight, and judges each answer as it comes. A part of a round
//! has a server of its own, so that the outcome does not depend on how many workers share the parts.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::Failed;
use super::health::{Health, Spoiled};
use super::idle::Crew;
use super::job::{Pace, Together};
use super::novelty::kind;
use super::teaching::{teaching, wants_another_first};
use crate::judge::{Charge, Context, Judgement, ended_as_told, is_complete, leak, may_be_of_world, weigh};
use crate::learn::Sight;
use crate::observe::{Answer, observe};
use crate::plan::{Case, Step, Subject, Teaching, is_extreme};
use crate::run::{Foreman, LATE_DEATH_MS, Patience, Recording, Taken, Unexplained};
use crate::stop::Stopped;
use crate::wire::Outcome;

/// Cases of one part: enough to make the start of a server cheap beside them, and few enough to be tried again in a row
/// where all of them together do harm.
const SHARD: usize = 200;
/// The largest part, however long the round is.
const LARGE_SHARD: usize = 800;
/// Parts of a long round, so that as many workers have something to do.
const SHARDS: usize = 8;
/// Deaths of the server on one subject, within one part, after which its other cases are left out.
const MAX_DEATHS: usize = 6;
/// The same for silences of a subject that is known for them.
const MAX_SILENCES: usize = 2;

/// What is answered by then is answered at once.
const AT_ONCE: Duration = Duration::from_millis(50);

/// Replies of one subject that are learned from, within one part; after these few are news.
const MAX_LEARNED: usize = 24;

/// Calls that are tried again together where none of them alone explains what happened.
const MAX_ENTANGLED: usize = 32;

/// What is left of a case once it has been judged.
#[derive(Debug)]
pub struct Judged {
    pub answer: Answer,
    /// How long the last answer took.
    pub took: Duration,
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
    /// What the server lacks in our world to do what it was asked, in words.
    pub lacking: Option<String>,
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
    /// By the place of the case in the part.
    pub judged: BTreeMap<usize, Judged>,
    /// Calls that did together what none of them does alone.
    pub entangled: Vec<Entangled>,
    /// Servers that did not do any more what they did before.
    pub spoiled: Vec<Spoiled>,
    /// Calls that were not answered soon, so that the others went on without them.
    pub aside: Vec<Aside>,
    /// Cases of the same subjects, which were not tried.
    pub parked: BTreeSet<usize>,
    /// Cases that were left out because of what their subject did.
    pub given_up: BTreeMap<Subject, Vec<usize>>,
    /// Subjects that the server died of.
    pub deadly: BTreeSet<Subject>,
    /// Cases that there was no time for.
    pub undone: Vec<usize>,
    /// Whether cases were left out because the time was up.
    pub out_of_time: bool,
}

/// Calls that did together what none of them does alone.
#[derive(Debug)]
pub struct Entangled {
    /// The script that is to show it.
    pub case: Case,
    pub charges: Vec<Charge>,
    /// The place of the first of them.
    pub first: usize,
}

/// A call that was not answered soon.
#[derive(Debug, Clone)]
pub struct Aside {
    pub index: usize,
    /// Whether it says nothing of its subject: any request as large or as deep may go unanswered.
    pub extreme: bool,
    /// The calls that were in flight beside it.
    pub company: Vec<usize>,
}

impl Part {
    /// Whether nothing is held against the server.
    pub fn is_clean(&self) -> bool {
        self.is_healthy() && self.judged.values().all(|judged| judged.charges.is_empty())
    }

    /// Whether the server is there, answers, and does what it did.
    pub fn is_healthy(&self) -> bool {
        let complete = self.entangled.is_empty()
            && self.spoiled.is_empty()
            && self.given_up.is_empty()
            && self.aside.is_empty()
            && !self.out_of_time;
        let mut judged = self.judged.values();
        complete && judged.all(|judged| judged.trouble.is_none())
    }
}

/// How many cases of a round stand in one part. It depends on nothing but the round, so that the parts are the same
/// whatever the number of workers.
pub fn shard_size(cases: usize) -> usize {
    (cases / SHARDS).clamp(SHARD, LARGE_SHARD)
}

pub(super) fn perform(
    together: Together,
    crew: &mut Crew,
    context: &Context,
    until: Option<Instant>,
    lingers: &dyn Fn(),
) -> Result<Part, Failed> {
    let Crew { runner, runtime, stop } = crew;
    let cases = &together.cases;
    let mut collector = Collector {
        together: &together,
        context,
        until,
        lingers,
        judged: BTreeMap::new(),
        trouble: BTreeMap::new(),
        instructive: instructive(cases),
        health: Health::new(&together.good),
        slowest: None,
        ended: false,
        aside: Vec::new(),
        parked: BTreeSet::new(),
        out_of_time: false,
    };
    let swept = runtime.block_on(stop.unless(runner.sweep(cases, together.in_flight, &mut collector)));
    collector.out_of_time |= swept.is_err();
    let unexplained = swept.unwrap_or_else(|Stopped| Ok(Vec::new()))?;
    let Collector { judged, trouble, aside, parked, out_of_time, health, .. } = collector;
    let judged = keep_in_order(cases, judged, together.pace);
    let deadly = trouble.into_iter().filter(|(_, tally)| tally.deaths > 0).map(|(subject, _)| subject);
    let entangled = unexplained.into_iter().filter_map(|one| entangled(cases, one, context)).collect();
    let spoiled = health.into_spoiled();
    let mut part = Part { judged, entangled, spoiled, aside, parked, out_of_time, ..Part::default() };
    part.deadly = deadly.filter(|subject| *subject != Subject::Server).collect();
    let set_aside: BTreeSet<usize> = part.aside.iter().map(|aside| aside.index).collect();
    for (index, case) in cases.iter().enumerate() {
        let known = part.judged.contains_key(&index) || set_aside.contains(&index);
        match () {
            () if known || part.parked.contains(&index) => {}
            () if part.out_of_time => part.undone.push(index),
            () => part.given_up.entry(case.subject.clone()).or_default().push(index),
        }
    }
    Ok(part)
}

/// What calls did together, as a script that may show it again.
fn entangled(cases: &[Case], unexplained: Unexplained, context: &Context) -> Option<Entangled> {
    let Unexplained { suspects, death, late } = unexplained;
    let suspects = &suspects[suspects.len().saturating_sub(MAX_ENTANGLED)..];
    let first = *suspects.iter().min()?;
    let mut case = Case::together(suspects.iter().map(|index| &cases[*index]), cases[first].seed);
    if late {
        case.steps.extend([Step::Pause(LATE_DEATH_MS), Step::Probe]);
    }
    let charges = weigh(&case, &death, &observe(&death), context).charges;
    Some(Entangled { case, charges, first })
}

/// Calls in flight together that were not answered, though each of them is alone: the script that may show it again, and
/// what is then held against the server.
pub fn silent_together<'a>(
    cases: impl IntoIterator<Item = &'a Case>,
    seed: u64,
    context: &Context,
) -> (Case, Vec<Charge>) {
    let case = Case::together(cases, seed);
    let silent = Taken { awaited: true, ..Taken::unanswered("tools/call", Duration::ZERO) };
    let silence = Recording { steps: vec![silent], stderr: None };
    let charges = weigh(&case, &silence, &observe(&silence), context).charges;
    (case, charges)
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
fn keep_in_order(cases: &[Case], judged: BTreeMap<usize, Judged>, pace: Pace) -> BTreeMap<usize, Judged> {
    let mut tally: BTreeMap<&Subject, Tally> = BTreeMap::new();
    let kept = judged.into_iter().filter(|(index, judged)| {
        let subject = &cases[*index].subject;
        let tally = tally.entry(subject).or_default();
        let wanted = !tally.is_enough(subject, pace);
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

    fn is_enough(&self, subject: &Subject, pace: Pace) -> bool {
        let silent = self.silences >= MAX_SILENCES && pace == Pace::Wary;
        *subject != Subject::Server && (silent || self.deaths >= MAX_DEATHS)
    }
}

/// Judges each recording as it comes, so that none is kept.
struct Collector<'a> {
    together: &'a Together,
    context: &'a Context,
    until: Option<Instant>,
    /// Told once nothing more is computed.
    lingers: &'a dyn Fn(),
    judged: BTreeMap<usize, Judged>,
    trouble: BTreeMap<Subject, Tally>,
    /// Cases that are learned from.
    instructive: BTreeSet<usize>,
    health: Health,
    /// The longest time that an answer took.
    slowest: Option<Duration>,
    /// Whether it was looked at the end whether the server is healthy.
    ended: bool,
    aside: Vec<Aside>,
    parked: BTreeSet<usize>,
    out_of_time: bool,
}

impl Foreman for Collector<'_> {
    fn wants(&mut self, index: usize, case: &Case) -> bool {
        if self.is_over() {
            self.out_of_time = true;
            return false;
        }
        let cases = &self.together.cases;
        let is_aside = |aside: &Aside| !aside.extreme && cases[aside.index].subject == case.subject;
        // One that is too much for the server is enough.
        if self.aside.iter().any(|aside| aside.extreme) && is_extreme(case) {
            return false;
        }
        let wary = self.together.pace == Pace::Wary;
        if !wary && case.subject != Subject::Server && self.aside.iter().any(is_aside) {
            self.parked.insert(index);
            return false;
        }
        let tally = self.trouble.get(&case.subject).copied().unwrap_or_default();
        !tally.is_enough(&case.subject, self.together.pace)
    }

    fn is_patient(&self) -> bool {
        self.together.pace == Pace::Patient
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn cut_short(&mut self) {
        self.out_of_time = true;
    }

    fn patience(&self, whole: &Patience) -> Patience {
        match self.together.pace {
            Pace::Patient => whole.clone(),
            // Whoever else answers at once has nothing to say later either.
            Pace::Wary if self.slowest.is_some_and(|slowest| slowest < AT_ONCE) => whole.glimpse(),
            Pace::Wary | Pace::Brisk => whole.brief(),
        }
    }

    fn set_aside(&mut self, index: usize, company: Vec<usize>) {
        let tally = self.trouble.entry(self.together.cases[index].subject.clone()).or_default();
        tally.count(Some(Trouble::Silence));
        let extreme = is_extreme(&self.together.cases[index]);
        self.aside.push(Aside { index, extreme, company });
    }

    fn doubt(&mut self, last: bool) -> Option<Case> {
        if last && !std::mem::replace(&mut self.ended, true) {
            self.health.end();
        }
        self.health.doubt().cloned()
    }

    fn settle(&mut self, looks: &[Recording]) -> Option<Vec<usize>> {
        let Together { cases, in_flight, .. } = self.together;
        let again = self.health.settle(looks, cases, *in_flight)?;
        self.ended = false;
        again.iter().for_each(|index| drop(self.judged.remove(index)));
        Some(again)
    }

    fn lingers(&mut self) {
        (self.lingers)();
    }

    fn doubts(&self, recording: &Recording) -> bool {
        let secrets = &self.context.secrets;
        let leaks = |step: &Taken| step.notices.iter().any(|notice| secrets.shown_in(notice));
        recording.steps.iter().any(|step| !step.strays.is_empty() || !secrets.is_empty() && leaks(step))
    }

    fn wants_alone(&self, case: &Case, recording: &Recording) -> bool {
        let charges = weigh(case, recording, &observe(recording), self.context).charges;
        charges.iter().any(|charge| may_be_of_world(&charge.kind))
    }

    fn take(&mut self, index: usize, case: &Case, recording: Recording) {
        self.out_of_time |= is_cut_short(case, &recording) && self.is_over();
        self.health.take(index, case, &recording);
        let answered = recording.steps.iter().filter(|step| step.outcome.is_some()).map(|step| step.took);
        self.slowest = self.slowest.max(answered.max());
        let teaches = self.instructive.contains(&index);
        let twins = self.together.twins.get(&index).map(Vec::as_slice).unwrap_or_default();
        let asked =
            Asked { teaches, learns: self.together.learns, tells_kinds: self.together.tells_kinds, twins };
        let judged = Judged::of(case, &recording, self.context, &asked);
        self.trouble.entry(case.subject.clone()).or_default().count(judged.trouble);
        self.judged.insert(index, judged);
    }
}

/// What is asked of a recording beside what is wrong.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    pub teaches: bool,
    pub learns: bool,
    pub tells_kinds: bool,
    pub twins: &'a [Case],
}

impl Judged {
    /// Judges one recording.
    pub fn of(case: &Case, recording: &Recording, context: &Context, asked: &Asked<'_>) -> Judged {
        let seen = observe(recording);
        let judgement = weigh(case, recording, &seen, context);
        let answer = worst(&seen.steps);
        let trouble = recording.steps.iter().find(|step| step.is_fatal()).map(|step| {
            // Whether it was silence or noise, it took the whole time limit.
            let silent = step.closed.is_none() && step.outcome.is_none();
            if silent { Trouble::Silence } else { Trouble::Death }
        });
        let teaching = if asked.teaches { teaching(&answer, recording) } else { Teaching::Nothing };
        let unready = asked.teaches.then(|| wants_another_first(case, &answer, recording)).flatten();
        let kind = asked.tells_kinds.then(|| kind(case, &answer, recording)).flatten();
        // What a machine's environment looks like says nothing of the server.
        let shows = case.tool_name().is_some_and(|tool| context.shows_environment(tool));
        let shown = shows && leak(case, recording, &seen, context).is_some();
        let notes =
            shown.then(|| "it shows the server's environment, secrets included, as it says".to_owned());
        let told = ended_as_told(case, &seen, context);
        let twins = asked.twins.iter();
        let twins = twins.map(|twin| (twin.clone(), weigh(twin, recording, &seen, context))).collect();
        let sight = if asked.learns && !shows { sight(case, &answer, recording) } else { None };
        let case = (!judgement.charges.is_empty()).then(|| case.clone());
        Judged {
            answer,
            took: seen.steps.last().map(|step| step.took).unwrap_or_default(),
            charges: judgement.charges,
            teaching,
            unready,
            kind,
            notes: notes.into_iter().chain(told).collect(),
            trouble,
            case,
            unknown: judgement.unknown,
            lacking: judgement.lacking,
            sight,
            twins,
        }
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
pub(super) fn worst(steps: &[crate::observe::Seen]) -> Answer {
    let fatal = steps.iter().find(|step| matches!(step.answer, Answer::Gone { .. } | Answer::Silent));
    fatal.or(steps.last()).map_or(Answer::NotAwaited, |step| step.answer.clone())
}
