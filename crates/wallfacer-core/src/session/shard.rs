//! A part of a round in, what was seen of each of its cases out. Each part has lives of its own, so that the outcome does
//! not depend on how many workers share the parts.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use crate::judge::{Charge, Context, judge};
use crate::observe::{Answer, observe};
use crate::plan::{Case, Lesson, Subject, harvest, read_refusal, said};
use crate::run::{Foreman, Recording, Runner, Unexplained};
use crate::wire::{Body, ConnectError, Content, Outcome};

/// Cases of one part: enough to make the start of a server cheap beside them.
pub const SHARD: usize = 200;
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
    pub lessons: Vec<Lesson>,
    /// The case as it was performed, where anything is held against it.
    pub case: Option<Case>,
}

/// What came of one part.
#[derive(Debug, Default)]
pub struct Part {
    /// By the place of the case in the round.
    pub judged: BTreeMap<usize, Judged>,
    pub unexplained: Vec<Unexplained>,
    /// Subjects that were given up, with the number of cases left out.
    pub given_up: BTreeMap<Subject, usize>,
    /// Cases left out because the time was up.
    pub out_of_time: usize,
    pub lives: u64,
}

/// Performs a round with so many workers.
pub fn perform_round(
    cases: &[Case],
    runner: &(dyn Fn() -> Runner + Sync),
    context: &Context,
    in_flight: usize,
    workers: usize,
    until: Option<Instant>,
) -> Result<Vec<Part>, ConnectError> {
    let shards: Vec<&[Case]> = cases.chunks(SHARD).collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut parts = Vec::new();
        loop {
            let shard = next.fetch_add(1, Ordering::Relaxed);
            let Some(cases) = shards.get(shard) else { break };
            parts.push((shard, perform_shard(cases, shard * SHARD, runner(), context, in_flight, until)));
        }
        parts
    };
    let mut parts: Vec<(usize, Result<Part, ConnectError>)> = std::thread::scope(|scope| {
        let count = workers.clamp(1, shards.len().max(1));
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
    mut runner: Runner,
    context: &Context,
    in_flight: usize,
    until: Option<Instant>,
) -> Result<Part, ConnectError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a thread that just started can wait");
    let mut bench = Bench {
        part: Part::default(),
        offset,
        context,
        until,
        trouble: BTreeMap::new(),
        learned: BTreeMap::new(),
    };
    let unexplained = runtime.block_on(async {
        let unexplained = runner.sweep(cases, in_flight, &mut bench).await;
        runner.rest().await;
        unexplained
    })?;
    bench.part.lives = runner.lives;
    bench.part.unexplained = unexplained;
    for unexplained in &mut bench.part.unexplained {
        unexplained.suspects.iter_mut().for_each(|index| *index += offset);
    }
    Ok(bench.part)
}

/// Judges each recording as it comes, so that none is kept.
struct Bench<'a> {
    part: Part,
    offset: usize,
    context: &'a Context,
    until: Option<Instant>,
    /// Deaths and silences by subject.
    trouble: BTreeMap<Subject, (usize, usize)>,
    /// Replies that were learned from, by subject.
    learned: BTreeMap<Subject, usize>,
}

impl Foreman for Bench<'_> {
    fn wants(&mut self, _: usize, case: &Case) -> bool {
        if self.until.is_some_and(|until| Instant::now() >= until) {
            self.part.out_of_time += 1;
            return false;
        }
        let (deaths, silences) = self.trouble.get(&case.subject).copied().unwrap_or_default();
        let given_up = case.subject != Subject::Server && (deaths >= MAX_DEATHS || silences >= MAX_SILENCES);
        if given_up {
            *self.part.given_up.entry(case.subject.clone()).or_default() += 1;
        }
        !given_up
    }

    fn take(&mut self, index: usize, case: &Case, recording: Recording) {
        let seen = observe(&recording);
        let charges = judge(case, &recording, &seen, self.context);
        let answer = worst(&seen.steps);
        let trouble = self.trouble.entry(case.subject.clone()).or_default();
        match recording.steps.iter().find(|step| step.is_fatal()) {
            // Whether it was silence or noise, it took the whole time limit.
            Some(step) if step.closed.is_none() && step.outcome.is_none() => trouble.1 += 1,
            Some(_) => trouble.0 += 1,
            None => {}
        }
        let learned = self.learned.entry(case.subject.clone()).or_default();
        *learned += 1;
        let lessons = if *learned <= MAX_LEARNED { lessons(&answer, &recording) } else { Vec::new() };
        let kept = (!charges.is_empty()).then(|| case.clone());
        self.part.judged.insert(self.offset + index, Judged { answer, charges, lessons, case: kept });
    }
}

/// A death or a silence anywhere counts for the whole script; else its last answer does.
fn worst(steps: &[crate::observe::Seen]) -> Answer {
    let fatal = steps.iter().find(|step| matches!(step.answer, Answer::Gone { .. } | Answer::Silent));
    fatal.or(steps.last()).map_or(Answer::NotAwaited, |step| step.answer.clone())
}

fn lessons(answer: &Answer, recording: &Recording) -> Vec<Lesson> {
    let reply = recording.steps.last().and_then(|step| step.outcome.as_ref());
    let Some(Outcome::Reply(reply)) = reply else { return Vec::new() };
    match (answer, &reply.content) {
        (Answer::Completed, _) => reply.result().map(|result| harvest(&result)).unwrap_or_default(),
        (Answer::ToolError, _) => {
            reply.result().map(|result| read_refusal(&said(&result))).unwrap_or_default()
        }
        (_, Content::Reply { body: Body::Error(error), .. }) => read_refusal(&error.message),
        _ => Vec::new(),
    }
}
