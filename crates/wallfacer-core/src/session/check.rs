//! A look at the server, then each kind of test in turn, all within one budget: a target in, one [`Run`] out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use wallfacer_rules::{Shelf, ToolShape, suggest};

use super::behave::{BehaveError, BehaveOptions, behave};
use super::examine::examine;
use super::fuzz::{FuzzError, FuzzOptions, fuzz_around};
use super::injection::inject;
use super::property::{PropertyOptions, RuleSet, property};
use crate::event::Listener;
use crate::lock::Lock;
use crate::report::remarks;
use crate::summary::{Injected, NotTested, Note, Run, StepDone};
use crate::wire::Connector;
use crate::world::Standing;

/// How to check.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    pub command: &'static str,
    /// When the run begins: RFC 3339, in UTC.
    pub started: String,
    /// Its budget is that of the whole run.
    pub fuzz: FuzzOptions,
    /// Further lines of noise.
    pub noise: Vec<String>,
    /// The packs among which those that fit are tried.
    pub shelf: Shelf,
    /// Parameters of packs, by pack.
    pub parameters: BTreeMap<String, BTreeMap<String, String>>,
    /// Rules that are tried whatever the server.
    pub rules: Vec<RuleSet>,
}

/// What follows the first half of fuzzing, in this order. Each adds to the run, and has the time that those before it left.
const STEPS: [(&str, Perform); 3] = [("rules", try_rules), ("behave", watch), ("injection", penetrate)];
/// Part of the budget for the first half of fuzzing: what it suspects has to be seen again, and a hang takes its time.
const FUZZING_SHARE: f64 = 0.5;
/// Part of the budget that this may take besides, where something is suspected, so that no proof is broken off.
const FUZZING_OVERTIME: f64 = 0.3;
/// Part of the time that is left for watching; injections have the rest.
const WATCHING_SHARE: f64 = 0.3;
/// Calls of each tool that are watched.
const WATCHED_CALLS: usize = 4;
/// Part of the time that is left for rules.
const RULES_SHARE: f64 = 0.25;
/// Servers that are started before the first call of a rule, and before the first that is watched.
const STARTS_FOR_RULES: u32 = 6;
const STARTS_FOR_WATCHING: u32 = 3;
/// Inputs of a rule that names no number.
const RULE_CASES: u32 = 3;

type Perform = fn(&mut Work<'_>, &mut dyn Listener) -> Result<(), FuzzError>;

/// What a step works on.
struct Work<'a> {
    connector: &'a Connector,
    options: &'a CheckOptions,
    begun: Instant,
    run: Run,
    /// Whether some calls of fuzzing were not answered.
    silent: bool,
    /// Whether what calls do to the world was seen in some step.
    observed: bool,
}

impl Work<'_> {
    /// The time that is left; none where there is no limit.
    fn rest(&self) -> Option<Duration> {
        Some(self.options.fuzz.budget?.saturating_sub(self.begun.elapsed()))
    }

    /// This part of it.
    fn part_of_the_rest(&self, share: f64) -> Option<Duration> {
        Some(self.rest()?.mul_f64(share))
    }

    /// Whether one call that is not answered would take more than there is.
    fn is_over(&self) -> bool {
        self.rest().is_some_and(|rest| rest < self.connector.target().timeouts.call)
    }

    /// Whether to start this many servers would use up all of this time, so that nothing could be asked of them. Then the
    /// time is better spent on what comes later; what is left out is told.
    fn is_left_out(&mut self, what: &str, starts: u32, time: Option<Duration>) -> bool {
        let left_out = time.is_some_and(|time| self.run.server.startup * starts >= time);
        if left_out {
            let why = "the server takes too long to start for the budget that is left".to_owned();
            self.run.not_tested.push(NotTested { what: what.to_owned(), why });
            self.run.out_of_time = true;
        }
        left_out
    }
}

/// Checks one target.
pub fn check(
    mut connector: Connector,
    options: &CheckOptions,
    listener: &mut dyn Listener,
) -> Result<Run, FuzzError> {
    let begun = Instant::now();
    let run = look(&mut connector, options, listener)?;
    let mut work = Work { connector: &connector, options, begun, run, silent: false, observed: false };
    exercise(&mut work, listener)?;
    let Work { mut run, observed, .. } = work;
    if !observed {
        run.not_tested.extend(unobserved(&run.server.standing));
    }
    // Two steps may leave the same undone, or see the same.
    let mut told = BTreeSet::new();
    run.not_tested.retain(|not_tested| told.insert(not_tested.clone()));
    let mut noted = BTreeSet::new();
    run.notes.retain(|note| noted.insert(note.clone()));
    run.took = begun.elapsed();
    Ok(run)
}

/// Fuzzes first, and again at the end, where it had more to do and the steps between left time for it.
fn exercise(work: &mut Work<'_>, listener: &mut dyn Listener) -> Result<(), FuzzError> {
    let mut options = work.options.fuzz.clone();
    options.overtime = work.part_of_the_rest(FUZZING_OVERTIME).unwrap_or_default();
    options.budget = work.part_of_the_rest(FUZZING_SHARE);
    let begun = Instant::now();
    let mut between = Duration::ZERO;
    let (noted, left) = (work.run.notes.len(), work.run.not_tested.len());
    let connector = work.connector.clone();
    let fuzzed = fuzz_around(connector, &options, listener, &mut |summary, listener| {
        let interval = Instant::now();
        work.silent = summary.silent > 0;
        for (name, perform) in STEPS {
            let step = Instant::now();
            unless_stopped(perform(work, listener))?;
            work.run.steps.push(StepDone { name, took: step.elapsed() });
        }
        between = interval.elapsed();
        Ok(work.rest().filter(|_| !work.is_over()))
    });
    let Some(fuzzed) = unless_stopped(fuzzed)? else { return Ok(()) };
    work.run.steps.insert(1, StepDone { name: "fuzz", took: begun.elapsed() - between });
    let (notes, not_tested) = (work.run.notes.split_off(noted), work.run.not_tested.split_off(left));
    work.run.add_fuzzing(fuzzed);
    work.run.notes.extend(notes);
    work.run.not_tested.extend(not_tested);
    Ok(())
}

/// A step that was told to end before it had begun leaves the run as it was.
fn unless_stopped<T>(done: Result<T, FuzzError>) -> Result<Option<T>, FuzzError> {
    match done {
        Err(FuzzError::Stopped(_)) => Ok(None),
        done => done.map(Some),
    }
}

/// What nobody saw is not known to be clean.
fn unobserved(standing: &Standing) -> Option<NotTested> {
    let what = "effects on files, network and other programs".to_owned();
    let where_to = if standing.is_confined() { "in a sandbox" } else { "without a sandbox" };
    let because = standing.remarks.first().map(|remark| format!(" ({remark})")).unwrap_or_default();
    let why = format!("the server ran {where_to}, and nothing of that was observed{because}");
    (!standing.observed.calls).then_some(NotTested { what, why })
}

/// The look that every run begins with: without it nothing is known of the server.
fn look(
    connector: &mut Connector,
    options: &CheckOptions,
    listener: &mut dyn Listener,
) -> Result<Run, FuzzError> {
    let begun = Instant::now();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let seen = runtime.block_on(options.fuzz.stop.unless(examine(connector, listener)))??;
    let mut run = Run::begun(options.command, options.started.clone(), &seen);
    run.seed = options.fuzz.seed;
    run.budget = options.fuzz.budget;
    run.locked = Some(Lock::new(&seen.server, &seen.catalogue, None));
    run.not_tested.extend(NotTested::cut(&seen.catalogue));
    run.notes.extend(remarks(&seen).into_iter().map(|text| Note { tool: None, text }));
    run.steps.push(StepDone { name: "look", took: begun.elapsed() });
    Ok(run)
}

/// What the tools do to the world; only where it is a world that nothing leaves.
fn watch(work: &mut Work<'_>, listener: &mut dyn Listener) -> Result<(), FuzzError> {
    if !work.run.server.standing.is_harmless() {
        return Ok(());
    }
    let budget = work.part_of_the_rest(WATCHING_SHARE);
    if work.is_left_out("calls that are watched", STARTS_FOR_WATCHING, budget) {
        return Ok(());
    }
    let CheckOptions { fuzz, .. } = work.options;
    let options = BehaveOptions {
        command: work.options.command,
        started: String::new(),
        seed: fuzz.seed,
        calls: WATCHED_CALLS,
        include: fuzz.include.clone(),
        exclude: fuzz.exclude.clone(),
        destructive: fuzz.destructive.clone(),
        budget,
        noise: work.options.noise.clone(),
        stop: fuzz.stop.clone(),
    };
    match behave(work.connector.clone(), &options, &mut |_, _| {}, listener) {
        Ok(watched) => work.run.add_watching(watched.run),
        Err(BehaveError::Fuzz(error)) => return Err(error),
        Err(BehaveError::Noise(error)) => {
            let what = "effects on files, network and other programs".to_owned();
            work.run.not_tested.push(NotTested { what, why: error.to_string() });
        }
    }
    Ok(())
}

/// The rules that are given, and those of the packs that fit.
fn try_rules(work: &mut Work<'_>, listener: &mut dyn Listener) -> Result<(), FuzzError> {
    let budget = work.part_of_the_rest(RULES_SHARE);
    let CheckOptions { fuzz, shelf, parameters, rules, .. } = work.options;
    // What somebody gave is tried in any case.
    if rules.is_empty() && work.is_left_out("rules", STARTS_FOR_RULES, budget) {
        return Ok(());
    }
    let choose = |tools: &[ToolShape]| {
        let fitting = suggest(tools).into_iter().filter_map(|suggestion| {
            let set = parameters.get(&suggestion.pack);
            let known = shelf.parameters(&suggestion.pack);
            let mut typed = suggestion.parameters;
            typed.retain(|name, _| {
                let is_set = set.is_some_and(|set| set.contains_key(name));
                !is_set && known.iter().any(|parameter| parameter.name == *name)
            });
            let given = shelf.given(&suggestion.pack, parameters, &typed);
            // A pack that cannot be read is told by the commands that are about packs.
            let rules = shelf.rules(&suggestion.pack, &given)?.ok()?;
            Some(RuleSet { name: suggestion.pack, rules })
        });
        rules.iter().cloned().chain(fitting).collect()
    };
    // What a rule makes suspicious is soon seen again, and goes before what is not tried yet.
    let overtime = work
        .part_of_the_rest(1.0)
        .zip(budget)
        .map_or(Duration::ZERO, |(left, budget)| left.saturating_sub(budget));
    let effort = FuzzOptions { budget, overtime, in_flight: 1, ..fuzz.clone() };
    let glances = work.silent;
    let options = PropertyOptions {
        effort,
        cases: RULE_CASES,
        looks_further: false,
        noise: work.options.noise.clone(),
        glances,
    };
    let tried = property(work.connector.clone(), &choose, &options, listener)?;
    work.run.add_fuzzing(tried);
    Ok(())
}

/// Where effects are not seen, that is told once for all steps.
fn penetrate(work: &mut Work<'_>, listener: &mut dyn Listener) -> Result<(), FuzzError> {
    if !work.connector.world().has_walls() {
        return Ok(());
    }
    let mut options = work.options.fuzz.clone();
    options.budget = work.rest();
    if work.is_over() {
        work.run.add_injections(Injected::not_tested("the budget was used up"));
        work.run.out_of_time = true;
        return Ok(());
    }
    let injected = inject(work.connector.clone(), &options, listener)?;
    work.observed |= injected.calls > 0;
    work.run.add_injections(injected);
    Ok(())
}
