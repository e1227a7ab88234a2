//! Put payloads into every string that a server takes, one call at a time in a world where every effect is seen, and keep
//! what is proven by its effect.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::json;
use wallfacer_process::sink::Mode as Net;
use wallfacer_schema::Schema;

use super::fuzz::{FuzzError, FuzzOptions, look};
use super::proving::Proving;
use super::shard::lessons;
use crate::catalogue::{Catalogue, Tool};
use crate::event::{Event, Listener};
use crate::judge::{Context, judge, proof};
use crate::observe::{Answer, observe};
use crate::plan::{
    Aim, Case, Ground, Intent, Known, Lesson, Mode, Options, Phase, Planner, Purpose, demanded,
    injection_cases, said,
};
use crate::run::{Patience, Recording, Runner};
use crate::summary::{Injected, NotTested, Note};
use crate::wire::{Body, ConnectError, Connector, Content, Outcome, Server};

/// Valid calls of each tool that are made to learn what leads into it.
const LEARNING: usize = 16;
/// The part of the time that is kept for seeing suspicions again.
const KEPT_FOR_CONFIRMING: f64 = 0.35;
/// With less time than this, what is found is left as it was sent.
const TIME_TO_MINIMISE: Duration = Duration::from_secs(120);
/// Calls after which a server is replaced, so that what it has gathered does not slow the rest down.
const LIFE: usize = 250;
/// Deaths and silences of one tool after which it is left alone: fuzzing is for those.
const MAX_TROUBLE: usize = 4;
/// The checks whose charges are of interest here; the others have had their turn.
const CHECKS: [&str; 2] = ["no-injection", "no-blow-up"];

/// Tries injections on one target.
pub fn inject(
    mut connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Injected, FuzzError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = Instant::now();
    connector.world_mut().watch = true;
    if !connector.world().has_walls() {
        return Ok(Injected::not_tested("the server ran without a sandbox"));
    }
    let (server, catalogue) = runtime.block_on(look(&mut connector))?;
    if let Some(why) = unseen(&connector) {
        return Ok(Injected::not_tested(&why));
    }
    let ground = prepare(&mut connector, &catalogue, options.seed, false);
    let until = options.budget.map(|budget| started + budget);
    let mut attempt = Attempt::new(options, &server, &catalogue, &ground, until);
    runtime.block_on(attempt.perform(connector, listener))?;
    Ok(attempt.finish())
}

/// Why the effects of a call on this target are not seen; none where they are.
pub(super) fn unseen(connector: &Connector) -> Option<String> {
    let standing = connector.standing()?;
    if standing.is_harmless() && standing.observed.calls {
        return None;
    }
    let why = standing.remarks.first().cloned();
    Some(why.unwrap_or_else(|| "what the server does could not be observed".to_owned()))
}

/// Plants what injections are after into the world of all lives to come.
pub(super) fn prepare(connector: &mut Connector, catalogue: &Catalogue, seed: u64, offline: bool) -> Ground {
    let world = connector.world_mut();
    let ground = Ground::new(world.scopes(), catalogue, seed);
    world.watch = true;
    world.network = if offline { Net::Refuse } else { Net::Answer };
    world.plants = ground.plants.clone();
    ground
}

struct Attempt<'a> {
    options: &'a FuzzOptions,
    catalogue: &'a Catalogue,
    context: Context,
    ground: &'a Ground,
    tools: Vec<&'a Tool>,
    known: BTreeMap<String, Known>,
    trouble: BTreeMap<String, usize>,
    /// What of which place is suspected already, so that nothing more is tried there.
    met: BTreeSet<(String, String, &'static str)>,
    proving: Proving<'a>,
    calls: u64,
    lives: u64,
    until: Option<Instant>,
    started: Instant,
    out_of_time: bool,
}

impl<'a> Attempt<'a> {
    fn new(
        options: &'a FuzzOptions,
        server: &'a Server,
        catalogue: &'a Catalogue,
        ground: &'a Ground,
        until: Option<Instant>,
    ) -> Attempt<'a> {
        let wanted = |tool: &&Tool| {
            let included = options.include.as_ref().is_none_or(|include| include.is_match(&tool.name));
            included && !options.exclude.as_ref().is_some_and(|exclude| exclude.is_match(&tool.name))
        };
        let tools: Vec<&Tool> = catalogue.tools.entries.iter().filter(wanted).collect();
        // Payloads are small as they are: where time is short, it is better spent on seeing more of them again.
        let minimise = options.budget.is_none_or(|budget| budget >= TIME_TO_MINIMISE);
        let compiled = |tool: &&Tool| {
            let schema = Schema::compile(&serde_json::Value::Object(tool.input_schema.clone())).ok()?;
            Some((tool.name.clone(), schema))
        };
        Attempt {
            options,
            catalogue,
            context: Context::new(catalogue, server.protocol),
            ground,
            proving: Proving::new(
                server,
                tools.iter().filter(|_| minimise).filter_map(compiled).collect(),
                options.seed,
                until,
            ),
            tools,
            known: BTreeMap::new(),
            trouble: BTreeMap::new(),
            met: BTreeSet::new(),
            calls: 0,
            lives: 0,
            until,
            started: Instant::now(),
            out_of_time: false,
        }
    }

    async fn perform(
        &mut self,
        connector: Connector,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let patience = Patience::new(connector.target().timeouts.clone());
        let mut offline = connector.clone();
        offline.world_mut().network = Net::Refuse;
        let mut runner = Runner::new(connector, self.catalogue, patience.clone());
        self.learn(&mut runner).await?;
        let cases = self.cases();
        // Some code is reached only when the network fails. These are few, so they come first.
        let mut without = Runner::new(offline, self.catalogue, patience);
        self.round("injection without network", &self.offline_cases(&cases), &mut without, listener).await?;
        self.proving.confirm(&mut without, &self.context, listener).await?;
        self.round("injection", &cases, &mut runner, listener).await?;
        self.proving.confirm(&mut runner, &self.context, listener).await?;
        self.lives += runner.lives + without.lives;
        Ok(())
    }

    /// Valid calls, so that it is known what leads into each tool and what it does anyway.
    async fn learn(&mut self, runner: &mut Runner) -> Result<(), ConnectError> {
        let Attempt { options, .. } = *self;
        let plan =
            Options { seed: options.seed, mode: Mode::Conform, iterations: LEARNING, max_bytes: 1_000 };
        let (mut planner, _) = Planner::new(self.tools.iter().copied(), plan);
        planner.learn_success(&Case::tool("", json!({}), Intent::Example, 0), self.places_that_are_there());
        while let Some(round) = planner.next_round().filter(|round| round.phase == Phase::Examples) {
            for case in round.cases {
                if self.is_over() {
                    return Ok(());
                }
                let Some(recording) = self.call(&case, runner).await? else { continue };
                let answer = observe(&recording).steps.last().map(|step| step.answer.clone());
                let Some(answer) = answer else { continue };
                self.note_known(&case, &recording, &answer);
                let lessons = lessons(&answer, &recording);
                match answer {
                    Answer::Completed => planner.learn_success(&case, lessons),
                    _ => planner.learn_refusal(&case, lessons),
                }
            }
        }
        Ok(())
    }

    fn note_known(&mut self, case: &Case, recording: &Recording, answer: &Answer) {
        let (Some(tool), Some(arguments)) = (case.subject.tool(), case.arguments()) else { return };
        let known = self.known.entry(tool.to_owned()).or_default();
        known.valid.push(arguments.clone());
        match answer {
            Answer::Completed => known.good.push(arguments.clone()),
            _ => known.demanded.extend(demanded(&refusal(recording))),
        }
        for traced in recording.steps.iter().filter_map(|taken| taken.traced.as_ref()) {
            known.uses_network |= !traced.flows.is_empty();
            known.changes.extend(traced.changes.iter().map(|change| change.path.clone()));
        }
    }

    /// Directories and files that a call may name, under every name that an argument of this sort has.
    fn places_that_are_there(&self) -> Vec<Lesson> {
        let Some((directory, file)) = &self.ground.inside else { return Vec::new() };
        let arguments = self.tools.iter().flat_map(|tool| tool.arguments());
        let lesson = |name: &str| {
            let path = match Purpose::of(name) {
                Purpose::Directory => directory,
                Purpose::File => file,
                _ => return None,
            };
            Some(Lesson { field: name.to_owned(), value: path.to_string_lossy().into() })
        };
        arguments.filter_map(|argument| lesson(argument.name)).collect()
    }

    /// The likeliest of each tool first.
    fn cases(&self) -> Vec<Case> {
        let nothing = Known::default();
        let of_tool = |tool: &&Tool| {
            let known = self.known.get(&tool.name).unwrap_or(&nothing);
            injection_cases(tool, known, self.ground, self.options.seed)
        };
        let mut lists: Vec<_> = self.tools.iter().map(|tool| of_tool(tool).into_iter()).collect();
        let mut cases = Vec::new();
        loop {
            let before = cases.len();
            cases.extend(lists.iter_mut().filter_map(Iterator::next));
            if cases.len() == before {
                return cases;
            }
        }
    }

    fn offline_cases(&self, cases: &[Case]) -> Vec<Case> {
        let uses_network = |case: &&Case| {
            case.subject.tool().and_then(|tool| self.known.get(tool)).is_some_and(|known| known.uses_network)
        };
        let turned = |case: &Case| {
            let mut injection = case.intent.injection()?.clone();
            injection.offline = true;
            let runs = matches!(injection.aim, Aim::Execute { .. } | Aim::Pass { .. });
            runs.then(|| Case { intent: Intent::Injection(Box::new(injection)), ..case.clone() })
        };
        cases.iter().filter(uses_network).filter_map(turned).collect()
    }

    async fn round(
        &mut self,
        phase: &str,
        cases: &[Case],
        runner: &mut Runner,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        if cases.is_empty() {
            return Ok(());
        }
        listener.hear(&Event::RoundBegun { phase, cases: cases.len() });
        let until = self.trying_until();
        for (number, case) in cases.iter().enumerate() {
            if until.is_some_and(|until| Instant::now() >= until) {
                self.out_of_time = true;
                break;
            }
            if number % LIFE == LIFE - 1 {
                runner.rest().await;
            }
            if self.is_met(case) {
                continue;
            }
            if let Some(recording) = self.call(case, runner).await? {
                self.weigh(case, &recording);
            }
        }
        let suspicions = self.proving.len();
        listener.hear(&Event::RoundDone { phase, calls: self.calls, suspicions });
        Ok(())
    }

    /// Performs a case; none where its tool has made too much trouble.
    async fn call(&mut self, case: &Case, runner: &mut Runner) -> Result<Option<Recording>, ConnectError> {
        let tool = case.subject.tool().unwrap_or_default();
        if self.trouble.get(tool).is_some_and(|trouble| *trouble >= MAX_TROUBLE) {
            return Ok(None);
        }
        let recording = runner.perform(case, &runner.patience().clone()).await?;
        self.calls += recording.steps.len() as u64;
        if recording.steps.iter().any(|taken| taken.is_fatal()) {
            *self.trouble.entry(tool.to_owned()).or_default() += 1;
        }
        Ok(Some(recording))
    }

    fn weigh(&mut self, case: &Case, recording: &Recording) {
        let seen = observe(recording);
        let charges = judge(case, recording, &seen, &self.context);
        for charge in charges.into_iter().filter(|charge| CHECKS.contains(&charge.check)) {
            self.met.extend(key(case));
            self.proving.suspect(case, charge, &[]);
        }
        self.note_reach(case, recording);
    }

    /// A server that was told of no directory may take any path; that is worth knowing.
    fn note_reach(&mut self, case: &Case, recording: &Recording) {
        let Some(injection) = case.intent.injection() else { return };
        let Aim::Reach { declared: false, scope, .. } = &injection.aim else { return };
        let seen =
            recording.steps.iter().find_map(|taken| proof(case, injection, taken, taken.traced.as_ref()?));
        if seen.is_some() {
            self.met.extend(key(case));
            let text = format!(
                "through `{}` it reaches files outside {}, where it was started; it was given no directory to keep to",
                injection.at,
                scope.display()
            );
            self.proving.notes.insert(Note { tool: case.subject.tool().map(str::to_owned), text });
        }
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

    fn finish(mut self) -> Injected {
        let mut not_tested = Vec::new();
        let out_of_time = self.out_of_time || self.proving.out_of_time;
        if out_of_time {
            let why = "the budget was used up".to_owned();
            not_tested.push(NotTested { what: "the rest of the injections".to_owned(), why });
        }
        for (tool, _) in self.trouble.iter().filter(|(_, trouble)| **trouble >= MAX_TROUBLE) {
            let why = "it kept ending or silencing the server".to_owned();
            not_tested.push(NotTested { what: format!("some injections into {tool}"), why });
        }
        let notes = std::mem::take(&mut self.proving.notes).into_iter().collect();
        let (findings, flaky) = self.proving.finish();
        Injected { calls: self.calls, lives: self.lives, findings, flaky, notes, not_tested, out_of_time }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn trying_until(&self) -> Option<Instant> {
        let all = self.until?.saturating_duration_since(self.started);
        Some(self.started + Duration::from_secs_f64(all.as_secs_f64() * (1.0 - KEPT_FOR_CONFIRMING)))
    }
}

/// What a call was refused with.
fn refusal(recording: &Recording) -> String {
    let Some(Outcome::Reply(reply)) = recording.steps.last().and_then(|taken| taken.outcome.as_ref()) else {
        return String::new();
    };
    match &reply.content {
        Content::Reply { body: Body::Error(error), .. } => error.message.clone(),
        _ => reply.result().map(|result| said(&result)).unwrap_or_default(),
    }
}

/// The class of a path that leads out in the plainest way, which explains all others.
const OUTSIDE: &str = "path";

/// What of which place a case is about.
fn key(case: &Case) -> Option<(String, String, &'static str)> {
    let injection = case.intent.injection()?;
    Some((case.subject.tool()?.to_owned(), injection.at.clone(), injection.aim.class()))
}
