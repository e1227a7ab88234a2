//! Put payloads into every string that a server takes, one call at a time in a world where every effect is seen, and keep
//! what is proven by its effect.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde_json::json;
use wallfacer_process::sink::Mode as Net;
use wallfacer_schema::Schema;

use super::confirm::{Confirmed, Inquiry};
use super::fuzz::{FuzzError, FuzzOptions, look};
use super::shard::lessons;
use super::shared::Shared;
use super::suspicion::{Suspicion, Suspicions};
use crate::catalogue::{Catalogue, Tool};
use crate::event::{Event, Listener};
use crate::findings::{Finding, Origin, Repro, Reproduced, ServerName, merge};
use crate::judge::{Charge, Context, judge, proof};
use crate::observe::{Answer, observe};
use crate::plan::{
    Aim, Case, Ground, Intent, Known, Lesson, Mode, Options, Phase, Planner, Purpose, injection_cases,
};
use crate::run::{Patience, Recording, Runner};
use crate::summary::{Injected, NotTested, Note};
use crate::wire::{ConnectError, Connector, Server};

/// Valid calls of each tool that are made to learn what leads into it.
const LEARNING: usize = 16;
/// The part of the time that is kept for seeing suspicions again.
const KEPT_FOR_CONFIRMING: f64 = 0.35;
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
    let ground = prepare(&mut connector, &catalogue, options.seed);
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
pub(super) fn prepare(connector: &mut Connector, catalogue: &Catalogue, seed: u64) -> Ground {
    let world = connector.world_mut();
    let ground = Ground::new(world.scopes(), catalogue, seed);
    world.watch = true;
    world.plants = ground.plants.clone();
    ground
}

struct Attempt<'a> {
    options: &'a FuzzOptions,
    catalogue: &'a Catalogue,
    server: &'a Server,
    context: Context,
    ground: &'a Ground,
    tools: Vec<&'a Tool>,
    schemas: BTreeMap<String, Schema>,
    known: BTreeMap<String, Known>,
    trouble: BTreeMap<String, usize>,
    /// What of which place is suspected already, so that nothing more is tried there.
    met: BTreeSet<(String, String, &'static str)>,
    suspicions: Suspicions,
    findings: Shared,
    flaky: Vec<Finding>,
    notes: BTreeSet<Note>,
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
        let compiled = |tool: &&Tool| {
            let schema = Schema::compile(&serde_json::Value::Object(tool.input_schema.clone())).ok()?;
            Some((tool.name.clone(), schema))
        };
        Attempt {
            options,
            catalogue,
            server,
            context: Context::new(catalogue, server.protocol),
            ground,
            schemas: tools.iter().filter_map(compiled).collect(),
            tools,
            known: BTreeMap::new(),
            trouble: BTreeMap::new(),
            met: BTreeSet::new(),
            suspicions: Suspicions::default(),
            findings: Shared::default(),
            flaky: Vec::new(),
            notes: BTreeSet::new(),
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
        self.round("injection", &cases, &mut runner, listener).await?;
        self.confirm(&mut runner, listener).await?;
        // Some code is reached only when the network fails.
        let cases = self.offline_cases(&cases);
        let mut runner = Runner::new(offline, self.catalogue, patience);
        self.round("injection without network", &cases, &mut runner, listener).await?;
        self.confirm(&mut runner, listener).await
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
                self.note_known(&case, &recording, answer == Answer::Completed);
                let lessons = lessons(&answer, &recording);
                match answer {
                    Answer::Completed => planner.learn_success(&case, lessons),
                    _ => planner.learn_refusal(&case, lessons),
                }
            }
        }
        Ok(())
    }

    fn note_known(&mut self, case: &Case, recording: &Recording, completed: bool) {
        let (Some(tool), Some(arguments)) = (case.subject.tool(), case.arguments()) else { return };
        let known = self.known.entry(tool.to_owned()).or_default();
        known.valid.push(arguments.clone());
        if completed {
            known.good.push(arguments.clone());
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
        let suspicions = self.suspicions.len();
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
            self.suspicions.add(self.server.name.as_deref(), case, charge, Vec::new);
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
            self.notes.insert(Note { tool: case.subject.tool().map(str::to_owned), text });
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

    async fn confirm(
        &mut self,
        runner: &mut Runner,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        for suspicion in self.suspicions.take() {
            let Suspicion { case, charge, .. } = &suspicion;
            if self.findings.explains(&charge.kind, &charge.cause, &case.subject) {
                continue;
            }
            let schema = case.subject.tool().and_then(|tool| self.schemas.get(tool));
            let mut inquiry = Inquiry {
                runner,
                context: &self.context,
                server: self.server.name.as_deref(),
                tool: None,
                era: self.server.era(),
                until: self.until,
                minimise: !self.findings.has(&charge.kind, &charge.cause),
            };
            match inquiry.look_into(case, charge, schema, &[]).await? {
                Confirmed::Finding { charge, case: smallest, reproduced } => {
                    self.keep(&charge, &smallest, case, reproduced, listener);
                }
                Confirmed::Slow(text) => {
                    self.notes.insert(Note { tool: case.subject.tool().map(str::to_owned), text });
                }
                Confirmed::Never => {
                    let text = format!("seen once, never again: {}", charge.message);
                    self.notes.insert(Note { tool: case.subject.tool().map(str::to_owned), text });
                }
                Confirmed::OutOfTime => {
                    self.out_of_time = true;
                    let text = format!("seen once, with no time left to see it again: {}", charge.message);
                    self.notes.insert(Note { tool: case.subject.tool().map(str::to_owned), text });
                }
            }
        }
        runner.rest().await;
        self.lives += std::mem::take(&mut runner.lives);
        Ok(())
    }

    fn keep(
        &mut self,
        charge: &Charge,
        case: &Case,
        original: &Case,
        reproduced: Reproduced,
        listener: &mut dyn Listener,
    ) {
        let name = self.server.name.as_deref();
        let origin = Origin::new(name, &charge.kind, &case.subject, &charge.cause);
        let repro = Repro::new(case, original);
        let mut finding = Finding::new(&origin, charge.kind.clone(), &charge.message, repro);
        finding.severity = charge.severity.unwrap_or(finding.severity);
        finding.details = charge.details.clone();
        finding.evidence = charge.evidence.clone();
        finding.references = charge.references.clone();
        finding.reproduced = reproduced;
        finding.seed = self.options.seed;
        finding.server = ServerName { name: self.server.name.clone(), version: self.server.version.clone() };
        finding.protocol = Some(self.server.protocol.to_string());
        if reproduced.always() {
            let (finding, replaces) = self.findings.add(origin, finding, name);
            listener.hear(&Event::finding_widened(&finding, &replaces));
        } else {
            listener.hear(&Event::finding_made(&finding));
            self.flaky.push(finding);
        }
    }

    fn finish(self) -> Injected {
        let mut not_tested = Vec::new();
        if self.out_of_time {
            let why = "the budget was used up".to_owned();
            not_tested.push(NotTested { what: "the rest of the injections".to_owned(), why });
        }
        for (tool, _) in self.trouble.iter().filter(|(_, trouble)| **trouble >= MAX_TROUBLE) {
            let why = "it kept ending or silencing the server".to_owned();
            not_tested.push(NotTested { what: format!("some injections into {tool}"), why });
        }
        Injected {
            calls: self.calls,
            lives: self.lives,
            findings: merge(self.findings.into_findings(self.server.name.as_deref())),
            flaky: merge(self.flaky),
            notes: self.notes.into_iter().collect(),
            not_tested,
            out_of_time: self.out_of_time,
        }
    }

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn trying_until(&self) -> Option<Instant> {
        let all = self.until?.saturating_duration_since(self.started);
        Some(self.started + Duration::from_secs_f64(all.as_secs_f64() * (1.0 - KEPT_FOR_CONFIRMING)))
    }
}

/// The class of a path that leads out in the plainest way, which explains all others.
const OUTSIDE: &str = "path";

/// What of which place a case is about.
fn key(case: &Case) -> Option<(String, String, &'static str)> {
    let injection = case.intent.injection()?;
    Some((case.subject.tool()?.to_owned(), injection.at.clone(), injection.aim.class()))
}
