//! Call every tool as it is meant to be called, in a world where every effect is seen, and hold what was done against
//! what was said.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use globset::GlobSet;
use serde_json::{Value, json};
use wallfacer_process::Descendant;
use wallfacer_schema::Schema;

use super::entrust::entrust;
use super::examine::tell_connected;
use super::foothold::footholds;
use super::fuzz::{FuzzError, look};
use super::proving::Proving;
use super::shard::teach;
use crate::catalogue::{Catalogue, Tool};
use crate::event::{Event, Listener};
use crate::judge::{Context, Watched, judge, left_running, observations};
use crate::lock::Lock;
use crate::observe::{
    Answer, BadNoise, Behaviour, Effects, Noise, Observation, Place, Places, Tokens, Whose, observe,
};
use crate::plan::{Case, Intent, Mode, Options, Planner, Step, Subject, held_back, offer_cases};
use crate::run::{Patience, Recording, Runner};
use crate::stop::{Stop, Stopped};
use crate::summary::{NotTested, Note, Run, StepDone, Summary, ToolSummary};
use crate::target::Destructive;
use crate::wire::{ConnectError, Connector, Server};
use crate::world::{DeclaredBy, Traced};

/// The longest argument: a call as it is meant needs no more.
const MAX_BYTES: usize = 1_000;
/// How long the server may still be busy with what it was asked before it is looked at again.
const AFTERWARDS_MS: u64 = 300;
/// Steps that are tried again where something happens only behind them.
const MAX_BEFORE: usize = 64;
/// Deaths and silences of one tool after which it is left alone: fuzzing is for those.
const MAX_TROUBLE: usize = 3;
/// The part of the time that is kept for seeing suspicions again.
const KEPT_FOR_CONFIRMING: f64 = 0.35;

/// The checks whose charges are of interest here.
const CHECKS: [&str; 6] = [
    "keeps-what-is-planted",
    "leaves-secrets-alone",
    "only-reads",
    "stays-inside",
    "takes-nothing-away",
    "changes-once",
];

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
    pub include: Option<GlobSet>,
    pub exclude: Option<GlobSet>,
    pub destructive: Destructive,
    pub budget: Option<Duration>,
    /// Further lines of noise.
    pub noise: Vec<String>,
    /// Tells the session to end.
    pub stop: Stop,
}

/// Why nothing could be watched.
#[derive(Debug, thiserror::Error)]
pub enum BehaveError {
    #[error(transparent)]
    Fuzz(#[from] FuzzError),
    #[error(transparent)]
    Noise(#[from] BadNoise),
}

impl From<ConnectError> for BehaveError {
    fn from(error: ConnectError) -> BehaveError {
        BehaveError::Fuzz(error.into())
    }
}

/// A watched run.
#[derive(Debug)]
pub struct Behaved {
    pub run: Run,
    pub behaviour: Behaviour,
    /// What was declared.
    pub catalogue: Catalogue,
}

/// Whoever wants to have all that was seen, step by step, with the name of what was asked for.
pub type Keep<'a> = &'a mut dyn FnMut(&str, &Traced);

/// Watches one target.
pub fn behave(
    mut connector: Connector,
    options: &BehaveOptions,
    keep: Keep<'_>,
    listener: &mut dyn Listener,
) -> Result<Behaved, BehaveError> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(FuzzError::from)?;
    let begun = Instant::now();
    let target = connector.target().shown();
    listener.hear(&Event::Connecting { target: &target });
    connector.world_mut().watch = true;
    let secrets = entrust(&mut connector, options.seed);
    let looked = runtime.block_on(options.stop.unless(look(&mut connector)));
    let (server, catalogue) = looked.map_err(FuzzError::from)??;
    tell_connected(&server, listener);
    let mut run = Run::empty(options.command, options.started.clone(), target, server.clone());
    run.seed = options.seed;
    run.budget = options.budget;
    if !server.standing.observed.calls {
        let why = server.standing.remarks.first().cloned();
        let why = why.unwrap_or_else(|| "the server ran without a sandbox".to_owned());
        run.not_tested
            .push(NotTested { what: "effects on files, network and other programs".to_owned(), why });
        run.took = begun.elapsed();
        run.locked = Some(Lock::new(&server, &catalogue, None));
        return Ok(Behaved { run, behaviour: Behaviour::default(), catalogue });
    }
    let watched = watched(&connector, &server, &options.noise)?;
    let mut context = Context::new(&catalogue, server.protocol).with_secrets(secrets);
    context.server_said = said(&server);
    let until = options.budget.map(|budget| begun + budget);
    let mut watch = Watch {
        options,
        catalogue: &catalogue,
        server: &server,
        proving: Proving::new(&server, schemas(&catalogue), options.seed, until, &options.stop),
        behaviour: Behaviour { places: watched.places.clone(), ..Behaviour::default() },
        context: context.with_watched(watched),
        summary: Summary::default(),
        tools: BTreeMap::new(),
        trouble: BTreeMap::new(),
        command: words(&connector),
        scopes: connector.world().scopes().clone(),
        before: Vec::new(),
        not_tested: BTreeSet::new(),
        rounds_until: options.budget.map(|budget| begun + budget.mul_f64(1.0 - KEPT_FOR_CONFIRMING)),
        out_of_time: false,
        keep,
    };
    let patience = Patience::new(connector.target().timeouts.clone());
    let mut runner = Runner::new(connector, &catalogue, patience);
    let performed = runtime.block_on(options.stop.unless(watch.perform(&mut runner, listener)));
    watch.out_of_time |= performed.is_err();
    performed.unwrap_or_else(|Stopped| Ok(()))?;
    let Watch { proving, context, .. } = &mut watch;
    runtime.block_on(proving.confirm(&mut runner, context, listener))?;
    run.lives += runner.lives;
    Ok(watch.finish(run, begun))
}

/// All that a server says of itself, in small letters.
pub(super) fn said(server: &Server) -> String {
    let said = [server.name.as_deref(), server.title.as_deref(), server.instructions.as_deref()];
    said.into_iter().flatten().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// What is known of the world before anything is asked.
pub(super) fn watched(connector: &Connector, server: &Server, extra: &[String]) -> Result<Watched, BadNoise> {
    let world = connector.world();
    let canaries = world.canaries(&server.standing);
    let home = server.standing.home.clone().unwrap_or_default();
    let declared = world.scopes().iter();
    let at = |by: fn(&DeclaredBy) -> bool| {
        let found = declared.clone().filter(move |(_, each)| by(each)).map(|(path, _)| path.clone());
        found.collect::<Vec<PathBuf>>()
    };
    let command = connector.target().reach.command();
    let working_directory =
        at(|by| *by == DeclaredBy::WorkingDirectory).into_iter().next().unwrap_or_default();
    let words = command.into_iter().flat_map(|command| {
        let arguments = command.args.iter().map(|word| word.to_string_lossy().into_owned());
        arguments.chain(command.environment.set.values().cloned())
    });
    let named: Vec<String> = words.collect();
    let program = command.map(|command| PathBuf::from(&command.program));
    let parts = program.into_iter().chain(named.iter().map(PathBuf::from));
    let places = Places {
        canaries: canaries.iter().map(|canary| canary.path.clone()).collect(),
        own: parts.filter_map(|path| own(&working_directory.join(path))).collect(),
        scopes: at(|by| *by != DeclaredBy::WorkingDirectory),
        working_directory,
        home,
    };
    Ok(Watched {
        noise: Noise::new(&places.home, extra)?,
        tokens: Tokens::new(&canaries),
        places,
        by_itself: BTreeSet::new(),
        named,
    })
}

fn words(connector: &Connector) -> Vec<String> {
    let command = connector.target().reach.command();
    let words = command.into_iter().flat_map(|command| &command.args);
    words.map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The directory that a program or a script lies in.
fn own(file: &Path) -> Option<PathBuf> {
    let file = file.canonicalize().ok().filter(|file| file.is_file())?;
    file.parent().filter(|directory| directory.parent().is_some()).map(Path::to_owned)
}

fn schemas(catalogue: &Catalogue) -> BTreeMap<String, Schema> {
    let compiled = |tool: &Tool| {
        let schema = Schema::compile(&Value::Object(tool.input_schema.clone())).ok()?;
        Some((tool.name.clone(), schema))
    };
    catalogue.tools.entries.iter().filter_map(compiled).collect()
}

struct Watch<'a> {
    options: &'a BehaveOptions,
    catalogue: &'a Catalogue,
    server: &'a Server,
    context: Context,
    proving: Proving<'a>,
    behaviour: Behaviour,
    summary: Summary,
    tools: BTreeMap<String, ToolSummary>,
    trouble: BTreeMap<Subject, usize>,
    /// The words behind the program's name.
    command: Vec<String>,
    /// The directories that it was told of.
    scopes: BTreeMap<PathBuf, DeclaredBy>,
    /// The latest steps that the server at hand has taken.
    before: Vec<Step>,
    not_tested: BTreeSet<NotTested>,
    rounds_until: Option<Instant>,
    out_of_time: bool,
    keep: Keep<'a>,
}

impl Watch<'_> {
    async fn perform(
        &mut self,
        runner: &mut Runner,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        self.start(runner).await?;
        let tools = self.chosen();
        listener.hear(&Event::RoundBegun { phase: "behaviour", cases: tools.len() * self.options.calls });
        self.call_tools(&tools, runner).await?;
        let completes = self.server.claims("completions");
        for case in offer_cases(self.catalogue, completes, MAX_BYTES, self.options.seed) {
            if case.intent == Intent::Example && !self.is_over() {
                self.call(&case, runner).await?;
            }
        }
        self.look_again(runner).await?;
        self.part(runner).await;
        let calls = self.summary.calls;
        let (suspicions, suspected) = (self.proving.len(), &self.proving.in_words());
        listener.hear(&Event::RoundDone { phase: "behaviour", calls, suspicions, suspected });
        Ok(())
    }

    /// What the server does before it is asked anything, and when it is asked for nothing, is learned to be noise.
    async fn start(&mut self, runner: &mut Runner) -> Result<(), ConnectError> {
        let case = start_case(self.options.seed);
        let recording = runner.perform(&case, &runner.patience().clone()).await?;
        self.tell("start", &recording);
        self.charge(&case, &recording, &observe(&recording));
        let Some(watched) = &mut self.context.watched else { return Ok(()) };
        let [started, idle] = learn(watched, &recording);
        let command = self.command.as_slice();
        self.behaviour.startup = without_own_files(started);
        // That it was started is no news.
        self.behaviour.startup.programs.retain(|ran| ran.arguments.get(1..).unwrap_or_default() != command);
        self.behaviour.background = without_own_files(idle);
        Ok(())
    }

    fn chosen(&mut self) -> Vec<Tool> {
        let BehaveOptions { include, exclude, destructive, .. } = self.options;
        let mut chosen = Vec::new();
        for tool in &self.catalogue.tools.entries {
            let left_out = if include.as_ref().is_some_and(|include| !include.is_match(&tool.name)) {
                Some("it is not among --include".to_owned())
            } else if exclude.as_ref().is_some_and(|exclude| exclude.is_match(&tool.name)) {
                Some("it is among --exclude".to_owned())
            } else if self.server.standing.is_harmless() {
                None
            } else {
                held_back(tool, destructive).map(|why| format!("{why}, and its effects would be real"))
            };
            match left_out {
                Some(why) => drop(self.not_tested.insert(NotTested { what: tool.name.clone(), why })),
                None => chosen.push(tool.clone()),
            }
        }
        self.not_tested.extend(NotTested::cut(self.catalogue));
        chosen
    }

    async fn call_tools(&mut self, tools: &[Tool], runner: &mut Runner) -> Result<(), ConnectError> {
        let plan = Options {
            seed: self.options.seed,
            mode: Mode::Conform,
            iterations: self.options.calls,
            max_bytes: MAX_BYTES,
        };
        let (mut planner, refused) = Planner::new(tools, plan);
        for (what, why) in refused {
            self.not_tested
                .insert(NotTested { what, why: format!("its input schema cannot be used: {why}") });
        }
        planner.know(footholds(tools, &self.scopes));
        let mut twice = BTreeSet::new();
        while let Some(round) = planner.next_round() {
            for case in round.cases {
                if self.is_over() {
                    self.out_of_time = true;
                    return Ok(());
                }
                let Some((answer, recording)) = self.call(&case, runner).await? else { continue };
                if teach(&mut planner, &case, &answer, &recording)
                    && self.is_idempotent(&case)
                    && twice.insert(case.subject.clone())
                {
                    let steps = [case.steps.clone(), case.steps.clone()].concat();
                    self.call(&Case { steps, ..case }, runner).await?;
                }
            }
        }
        Ok(())
    }

    fn is_idempotent(&self, case: &Case) -> bool {
        let facts = case.subject.tool().and_then(|tool| self.context.tools.get(tool));
        facts.is_some_and(|facts| facts.declared.idempotent.is_some())
    }

    /// Performs a case and takes in what was seen; none where its subject has made too much trouble.
    async fn call(
        &mut self,
        case: &Case,
        runner: &mut Runner,
    ) -> Result<Option<(Answer, Recording)>, ConnectError> {
        if self.trouble.get(&case.subject).is_some_and(|trouble| *trouble >= MAX_TROUBLE) {
            return Ok(None);
        }
        let recording = runner.perform(case, &runner.patience().clone()).await?;
        self.tell(case.subject.name().unwrap_or("the server"), &recording);
        let seen = observe(&recording);
        let Some(answer) = seen.steps.last().map(|step| step.answer.clone()) else { return Ok(None) };
        self.count(case, &seen, &recording);
        self.charge(case, &recording, &seen);
        self.before.extend(case.steps.iter().cloned());
        let surplus = self.before.len().saturating_sub(MAX_BEFORE);
        self.before.drain(..surplus);
        if recording.steps.iter().any(|taken| taken.is_fatal()) {
            *self.trouble.entry(case.subject.clone()).or_default() += 1;
            self.before.clear();
        }
        Ok(Some((answer, recording)))
    }

    fn count(&mut self, case: &Case, seen: &Observation, recording: &Recording) {
        if case.subject == Subject::Server {
            return;
        }
        let done = self.behaviour.done.entry(case.subject.clone()).or_default();
        for step in &seen.steps {
            let completed = u64::from(step.answer == Answer::Completed);
            self.summary.count(&step.answer);
            self.summary.of_offers += u64::from(case.subject.tool().is_none());
            (done.calls, done.completed) = (done.calls + 1, done.completed + completed);
            if let Some(tool) = case.subject.tool() {
                let counts = self.tools.entry(tool.to_owned()).or_default();
                counts.calls.count(&step.answer);
                counts.valid_calls += 1;
                counts.valid_completed += completed;
            }
        }
        let Some(watched) = &self.context.watched else { return };
        for taken in &recording.steps {
            done.effects.add(&watched.effects(taken, Whose::Call).unwrap_or_default());
            self.behaviour.background.add(&watched.effects(taken, Whose::Background).unwrap_or_default());
        }
    }

    fn charge(&mut self, case: &Case, recording: &Recording, seen: &Observation) {
        for charge in judge(case, recording, seen, &self.context) {
            // The rest is for fuzzing, which knows what to make of it.
            if CHECKS.contains(&charge.check) {
                let late = case.subject == Subject::Server && !self.before.is_empty();
                let before = if late { self.before.as_slice() } else { &[] };
                self.proving.suspect(case, charge, before);
            }
        }
    }

    /// What a server does late, after its answer, is seen when nothing is asked of it any more.
    async fn look_again(&mut self, runner: &mut Runner) -> Result<(), ConnectError> {
        let case = of_server(vec![Step::Pause(AFTERWARDS_MS), Step::Probe], self.options.seed);
        let recording = runner.perform(&case, &runner.patience().clone()).await?;
        self.tell("afterwards", &recording);
        self.charge(&case, &recording, &observe(&recording));
        let Some(watched) = &self.context.watched else { return Ok(()) };
        for taken in &recording.steps {
            self.behaviour.background.add(&watched.effects(taken, Whose::Background).unwrap_or_default());
        }
        Ok(())
    }

    /// What the server does when it is told to go, and who outlives it.
    async fn part(&mut self, runner: &mut Runner) {
        let Some(farewell) = runner.part().await else { return };
        let left = farewell.process.and_then(|ended| ended.left_behind).unwrap_or_default();
        let command = |child: &Descendant| match child.command_line.trim() {
            "" => child.name.clone(),
            line => line.to_owned(),
        };
        self.behaviour.left_running = left.iter().map(command).collect();
        if let Some(traced) = farewell.traced {
            (self.keep)("end", &traced);
            let Some(watched) = &self.context.watched else { return };
            self.behaviour.background.add(&watched.gathered(&traced, Whose::Background));
        }
    }

    fn tell(&mut self, name: &str, recording: &Recording) {
        recording
            .steps
            .iter()
            .filter_map(|taken| taken.traced.as_ref())
            .for_each(|traced| (self.keep)(name, traced));
    }

    fn is_over(&self) -> bool {
        self.rounds_until.is_some_and(|until| Instant::now() >= until)
    }

    fn finish(mut self, mut run: Run, begun: Instant) -> Behaved {
        self.observe();
        for (name, subject, done) in self.behaviour.by_name() {
            if done.completed > 0 {
                continue;
            }
            let mut tools = self.catalogue.tools.entries.iter();
            let is_a_task = tools.any(|tool| subject.tool() == Some(&tool.name) && tool.is_a_task());
            self.not_tested.insert(match is_a_task {
                true => NotTested::only_as_task(&name),
                false => {
                    let calls = done.calls;
                    let why = format!("none of its {calls} calls succeeded, so what it does is not known");
                    NotTested { what: name, why }
                }
            });
        }
        if !self.behaviour.done.values().any(|done| done.completed > 0) && self.summary.calls > 0 {
            run.in_vain = Some("no call succeeded, so what the server does is not known");
        }
        if self.out_of_time {
            let why = self.options.stop.why().to_owned();
            self.not_tested.insert(NotTested { what: "some calls that were to be watched".to_owned(), why });
        }
        run.out_of_time = self.out_of_time || self.proving.out_of_time;
        run.notes.extend(std::mem::take(&mut self.proving.notes));
        let (findings, flaky) = self.proving.finish();
        run.add_findings(findings, flaky);
        run.summary = self.summary;
        run.tools = self.tools;
        run.not_tested.extend(self.not_tested);
        run.locked = Some(Lock::new(self.server, self.catalogue, Some(&self.behaviour)));
        run.took = begun.elapsed();
        run.steps.push(StepDone { name: "behave", took: run.took });
        Behaved { run, behaviour: self.behaviour, catalogue: self.catalogue.clone() }
    }

    /// What is worth knowing, in words.
    fn observe(&mut self) {
        let Some(watched) = &self.context.watched else { return };
        let server = self.context.server_said.as_str();
        let mut all: Vec<(Option<String>, Vec<String>)> = Vec::new();
        let at_start = observations(&self.behaviour.startup, server, watched);
        all.push((None, at_start.into_iter().map(|text| format!("at its start {text}")).collect()));
        let meanwhile = observations(&self.behaviour.background, server, watched);
        all.push((None, meanwhile.into_iter().map(|text| format!("in the background {text}")).collect()));
        let left = left_running(&self.behaviour.left_running);
        all.push((None, left.into_iter().collect()));
        for (name, subject, done) in self.behaviour.by_name() {
            let facts = subject.tool().and_then(|tool| self.context.tools.get(tool));
            let tool = facts.map_or("", |facts| facts.declared.said.as_str());
            all.push((Some(name), observations(&done.effects, &format!("{tool} {server}"), watched)));
        }
        for (tool, texts) in all {
            let notes = texts.into_iter().map(|text| Note { tool: tool.clone(), text });
            self.proving.notes.extend(notes);
        }
    }
}

/// What a server does before it is asked anything, and when it is asked for nothing.
pub(super) fn start_case(seed: u64) -> Case {
    of_server(vec![Step::Restart, Step::Probe], seed)
}

/// Learns the noise of a server from its start; what it did then, and what it did when it was asked for nothing.
pub(super) fn learn(watched: &mut Watched, recording: &Recording) -> [Effects; 2] {
    let [started, idle] = [0, 1].map(|step| {
        let mut effects = Effects::default();
        for whose in [Whose::Background, Whose::Call] {
            let done = recording.steps.get(step).and_then(|taken| watched.effects(taken, whose));
            effects.add(&done.unwrap_or_default());
        }
        effects
    });
    for touch in started.reads.iter().chain(&idle.reads).chain(&started.lists).chain(&started.sought) {
        watched.noise.learn_read(&touch.path);
    }
    idle.writes.iter().chain(&idle.deletes).for_each(|touch| watched.noise.learn_write(&touch.path));
    let met = started.connects.iter().chain(&idle.connects);
    watched.by_itself.extend(met.map(|contact| contact.host.clone()));
    [started, idle]
}

fn of_server(steps: Vec<Step>, seed: u64) -> Case {
    Case { subject: Subject::Server, steps, ..Case::tool("", json!({}), Intent::Example, seed) }
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
