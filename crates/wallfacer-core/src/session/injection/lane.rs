//! Cases in, what is held against the server out. Each lane has servers of its own, so that several can be asked at once
//! and no effect is taken for another's.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Instant;

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::findings::Cause;
use crate::judge::{Charge, Context, judge, proof};
use crate::observe::observe;
use crate::plan::{Aim, Case, Step};
use crate::run::{Recording, Runner};
use crate::stop::Stop;
use crate::summary::Note;
use crate::wire::ConnectError;

/// Calls after which a server is replaced, so that what it has gathered does not slow the rest down.
const LIFE: usize = 250;
/// Deaths of one tool after which it is left alone: fuzzing is for those.
const MAX_DEATHS: usize = 4;
/// The same for silences, which cost a whole time limit each.
const MAX_SILENCES: usize = 2;
/// Arguments that are left out, one after another, to see whether it takes them.
const MAX_REDUCTIONS: usize = 12;
/// The checks whose charges are of interest here; the others have had their turn.
const CHECKS: [&str; 2] = ["no-injection", "no-blow-up"];

/// Servers with and without a network, and what is known of the tools that are tried on them.
pub struct Lane<'a> {
    runtime: Runtime,
    online: Server,
    offline: Server,
    context: &'a Context,
    stop: &'a Stop,
    trouble: BTreeMap<String, Trouble>,
    /// What of which place is suspected already, so that nothing more is tried there.
    met: BTreeSet<Key>,
    /// Causes of which a small case is at hand.
    reduced: BTreeSet<Cause>,
    pub calls: u64,
}

/// One that is asked until it is old.
struct Server {
    runner: Runner,
    age: usize,
}

#[derive(Debug, Clone, Copy, Default)]
struct Trouble {
    deaths: usize,
    silences: usize,
}

/// When no further case is tried, and when none is made smaller.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    pub trying: Option<Instant>,
    pub reducing: Option<Instant>,
}

/// Tool, place and class.
type Key = (String, String, &'static str);

/// What came of some cases.
#[derive(Debug, Default)]
pub struct Tried {
    pub suspected: Vec<(Case, Charge)>,
    pub notes: Vec<Note>,
    pub out_of_time: bool,
}

impl<'a> Lane<'a> {
    pub fn new([online, offline]: [Runner; 2], context: &'a Context, stop: &'a Stop) -> io::Result<Lane<'a>> {
        Ok(Lane {
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build()?,
            online: Server { runner: online, age: 0 },
            offline: Server { runner: offline, age: 0 },
            context,
            stop,
            trouble: BTreeMap::new(),
            met: BTreeSet::new(),
            reduced: BTreeSet::new(),
            calls: 0,
        })
    }

    /// Tries cases, one after another, and weighs what each did. What is suspected is made small when all were tried, so
    /// that a server with many faults is not known by the first of them alone.
    pub fn attack<'c>(
        &mut self,
        cases: impl Iterator<Item = &'c Case>,
        Deadlines { trying, reducing }: Deadlines,
    ) -> Result<Tried, ConnectError> {
        let mut tried = Tried::default();
        for case in cases {
            if is_past(trying) || self.stop.is_told() {
                tried.out_of_time = true;
                break;
            }
            if self.is_met(case) {
                continue;
            }
            let Some(recording) = self.call(case)? else { continue };
            for charge in self.charges(case, &recording) {
                self.met.extend(key(case));
                tried.suspected.push((case.clone(), charge));
            }
            if let Some(note) = reach(case, &recording) {
                self.met.extend(key(case));
                tried.notes.push(note);
            }
        }
        for (case, charge) in &mut tried.suspected {
            // A second one of the same cause is shown by the first.
            if !is_past(reducing) && self.reduced.insert(charge.cause.clone()) {
                *case = self.reduce(case, charge)?.unwrap_or_else(|| case.clone());
            }
        }
        Ok(tried)
    }

    fn charges(&self, case: &Case, recording: &Recording) -> Vec<Charge> {
        let mut charges = judge(case, recording, &observe(recording), self.context);
        charges.retain(|charge| CHECKS.contains(&charge.check));
        charges
    }

    /// The same with no more arguments than it takes; none where all are needed. A server that lives on is used again, so
    /// what is left must hold on a fresh one. What runs away takes a whole time limit each time, and stays as it is.
    fn reduce(&mut self, case: &Case, charge: &Charge) -> Result<Option<Case>, ConnectError> {
        if case.intent.injection().is_some_and(|injection| injection.aim.is_measured()) {
            return Ok(None);
        }
        let alone = self.alone(case, charge)?;
        let fewer = self.with_fewer_arguments(alone.as_ref().unwrap_or(case), charge)?;
        Ok(fewer.or(alone))
    }

    /// The same without what came first; none where it is needed, or there was nothing.
    fn alone(&mut self, case: &Case, charge: &Charge) -> Result<Option<Case>, ConnectError> {
        if case.prelude.is_empty() {
            return Ok(None);
        }
        let alone = Case { prelude: Vec::new(), ..case.clone() };
        self.rest();
        Ok(self.shows(&alone, charge)?.then_some(alone))
    }

    fn with_fewer_arguments(&mut self, case: &Case, charge: &Charge) -> Result<Option<Case>, ConnectError> {
        let (Some(injection), Some(arguments)) = (case.intent.injection(), case.arguments()) else {
            return Ok(None);
        };
        let Some(tool) = case.subject.tool().and_then(|tool| self.context.tools.get(tool)) else {
            return Ok(None);
        };
        let required = tool.listed["inputSchema"]["required"].as_array();
        let is_required = |key: &str| required.is_some_and(|names| names.iter().any(|name| name == key));
        let is_needed = |key: &str| is_required(key) || injection.argument() == key;
        let spare = arguments.as_object().into_iter().flatten().map(|(key, _)| key.clone());
        let spare: Vec<String> = spare.filter(|key| !is_needed(key)).take(MAX_REDUCTIONS).collect();
        let mut small = case.clone();
        for key in spare {
            let smaller = without(&small, &key);
            if self.shows(&smaller, charge)? {
                small = smaller;
            }
        }
        if small == *case {
            return Ok(None);
        }
        self.rest();
        Ok(self.shows(&small, charge)?.then_some(small))
    }

    /// Whether the same is held against a case.
    fn shows(&mut self, case: &Case, wanted: &Charge) -> Result<bool, ConnectError> {
        let Some(recording) = self.call(case)? else { return Ok(false) };
        let charges = self.charges(case, &recording);
        Ok(charges.iter().any(|charge| (charge.check, &charge.cause) == (wanted.check, &wanted.cause)))
    }

    /// Performs a case; none where its tool has made too much trouble, or there is no time left.
    pub fn call(&mut self, case: &Case) -> Result<Option<Recording>, ConnectError> {
        let tool = case.subject.tool().unwrap_or_default();
        if self.gives_up(tool) {
            return Ok(None);
        }
        let offline = case.intent.injection().is_some_and(|injection| injection.offline);
        let server = if offline { &mut self.offline } else { &mut self.online };
        let performed = self.runtime.block_on(self.stop.unless(server.perform(case)));
        let Ok(recording) = performed else { return Ok(None) };
        let recording = recording?;
        self.calls += recording.steps.len() as u64;
        if let Some(fatal) = recording.steps.iter().find(|taken| taken.is_fatal()) {
            let trouble = self.trouble.entry(tool.to_owned()).or_default();
            match fatal.closed.is_none() && fatal.outcome.is_none() {
                true => trouble.silences += 1,
                false => trouble.deaths += 1,
            }
        }
        Ok(Some(recording))
    }

    /// Whether a tool has made too much trouble to go on.
    pub fn gives_up(&self, tool: &str) -> bool {
        let trouble = self.trouble.get(tool).copied().unwrap_or_default();
        trouble.deaths >= MAX_DEATHS || trouble.silences >= MAX_SILENCES
    }

    /// What a tool did before it was attacked is not held against it.
    pub fn forgive(&mut self) {
        self.trouble.clear();
    }

    /// Tools that were left alone.
    pub fn given_up(&self) -> impl Iterator<Item = &str> {
        self.trouble.keys().map(String::as_str).filter(|tool| self.gives_up(tool))
    }

    /// Ends its servers; how many there were.
    pub fn close(&mut self) -> u64 {
        self.rest();
        self.online.runner.lives + self.offline.runner.lives
    }

    /// Ends the servers at hand, so that the next case meets a fresh one.
    fn rest(&mut self) {
        let (online, offline) = (&mut self.online.runner, &mut self.offline.runner);
        let _or_their_keepers = self.runtime.block_on(self.stop.unless(async {
            online.rest().await;
            offline.rest().await;
        }));
    }

    /// Whether the same was seen there already, or something that explains it.
    fn is_met(&self, case: &Case) -> bool {
        let Some((tool, at, class)) = key(case) else { return false };
        let escapes =
            case.intent.injection().is_some_and(|injection| matches!(injection.aim, Aim::Reach { .. }));
        let wide = || {
            let outside = (tool.clone(), at.clone(), OUTSIDE);
            escapes && self.met.contains(&outside)
        };
        wide() || self.met.contains(&(tool.clone(), at.clone(), class))
    }
}

impl Server {
    async fn perform(&mut self, case: &Case) -> Result<Recording, ConnectError> {
        if self.age >= LIFE {
            self.runner.rest().await;
            self.age = 0;
        }
        self.age += 1;
        self.runner.perform(case, &self.runner.patience().clone()).await
    }
}

/// Does the same in all lanes at once; what came of each, in their order.
pub fn side_by_side<'a, T: Send>(
    lanes: &mut [Lane<'a>],
    work: impl Fn(&mut Lane<'a>, usize) -> Result<T, ConnectError> + Sync,
) -> Result<Vec<T>, ConnectError> {
    let work = &work;
    std::thread::scope(|scope| {
        let lanes = lanes.iter_mut().enumerate();
        let handles: Vec<_> = lanes.map(|(index, lane)| scope.spawn(move || work(lane, index))).collect();
        let join = |handle: std::thread::ScopedJoinHandle<'_, Result<T, ConnectError>>| {
            handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        handles.into_iter().map(join).collect()
    })
}

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// A call with one argument less.
fn without(case: &Case, key: &str) -> Case {
    let mut case = case.clone();
    for step in &mut case.steps {
        let Step::Call { params, .. } = step else { continue };
        if let Some(arguments) = params.get_mut("arguments").and_then(Value::as_object_mut) {
            arguments.remove(key);
        }
    }
    case
}

/// The class of a path that leads out in the plainest way, which explains all others.
const OUTSIDE: &str = "path";

/// What of which place a case is about.
fn key(case: &Case) -> Option<Key> {
    let injection = case.intent.injection()?;
    Some((case.subject.tool()?.to_owned(), injection.at.clone(), injection.aim.class()))
}

/// A server that was told of no directory may take any path; that is worth knowing.
fn reach(case: &Case, recording: &Recording) -> Option<Note> {
    let injection = case.intent.injection()?;
    let Aim::Reach { declared: false, scope, .. } = &injection.aim else { return None };
    proof(case, injection, recording)?;
    let text = format!(
        "through `{}` it reaches files outside {}, where it was started; it was given no directory to keep to",
        injection.at,
        scope.display()
    );
    Some(Note { tool: case.subject.tool().map(str::to_owned), text })
}
