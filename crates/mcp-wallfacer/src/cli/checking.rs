//! Runs a check and stores what it finds. `check` and `ci` share this and differ only in what they do with the result.

use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use wallfacer_core::findings::{Baseline, Redaction, rfc3339};
use wallfacer_core::session::{CheckOptions, RuleSet, check};
use wallfacer_core::summary::Run;

use super::afterwards;
use super::behave;
use super::conclude::failure;
use super::corpus_place::CorpusArgs;
use super::differential;
use super::effort::EffortArgs;
use super::output::RunOutput;
use super::pack;
use super::recorder::{ReportContext, RunRecorder};
use super::redaction::{self, Written};
use super::rule_files;
use super::settle::settle;
use super::store::Store;
use super::target::{Chosen, TargetArgs, working_directory};
use crate::exit::Failure;
use crate::interruption::Watch;

/// What is asked for.
pub struct Asked<'a> {
    pub command: &'static str,
    pub target: &'a TargetArgs,
    pub effort: &'a EffortArgs,
    /// Cases of each tool, where not only the time bounds them.
    pub iterations: Option<usize>,
    /// What is accepted, where that is asked for.
    pub baseline: Option<&'a Baseline>,
    pub corpus: &'a CorpusArgs,
    pub output: &'a RunOutput,
}

impl Asked<'_> {
    /// All that the plan hangs on, but for the shard.
    fn plan(&self, chosen: &Chosen, rules: &[RuleSet]) -> String {
        let EffortArgs { seed, selection, .. } = self.effort;
        let (target, settings) = (chosen.connector.target().shown(), &chosen.settings);
        let (packs, severities) = (&settings.packs, &settings.severities);
        let (command, iterations) = (self.command, self.iterations);
        format!("{command} {target} {seed} {selection:?} {iterations:?} {packs:?} {severities:?} {rules:?}")
    }
}

/// What came of it.
pub struct Checked {
    pub run: Run,
    /// The file that the target came from.
    pub source: Option<String>,
    pub redaction: Redaction,
}

/// Checks the target that was asked for.
pub fn perform(asked: &Asked<'_>, config: Option<&Path>, watch: &Watch) -> Result<Checked, Failure> {
    let begun = Instant::now();
    let locked = asked.effort.drift.read()?;
    let chosen = asked.corpus.placed(asked.target.choose(config)?);
    let shelf = pack::shelf(&working_directory()?)?;
    let mut written = Written::default();
    written.packs(&shelf, &chosen.settings.packs);
    let mut rules = asked.target.own_rules()?;
    if rules.is_empty() {
        rules = rule_files::of_project(&chosen.settings, &shelf)?;
    }
    rules.iter().for_each(|set| written.rules(&set.rules));
    let redaction = redaction::of_rules(chosen.connector.target(), &written);
    let store = Arc::new(Store::new(&chosen, asked.target, asked.corpus, config, &redaction)?);
    let mut fuzz = asked.effort.options(&chosen)?;
    fuzz.iterations = asked.iterations.unwrap_or(fuzz.iterations);
    let mut stored = store.stored();
    fuzz.stored = store.cases(&stored);
    stored.retain(|finding| fuzz.shard.takes("stored", finding.id.as_str()));
    let part = asked.effort.shard.part(&asked.plan(&chosen, &rules))?;
    let whole = fuzz.budget;
    // Some of the time is for what earlier runs have found and this one does not come upon.
    fuzz.budget = whole.map(|whole| whole - afterwards::share(whole, stored.len()));
    fuzz.learned = differential::committed();
    fuzz.stop = watch.stop().clone();
    watch.hold_to(whole);
    let options = CheckOptions {
        command: asked.command,
        started: rfc3339(SystemTime::now()),
        fuzz,
        noise: behave::noise(&chosen.settings)?,
        shelf,
        parameters: chosen.settings.packs.clone(),
        shared: chosen.settings.shared,
        rules,
    };
    let listeners = asked.output.listeners(&redaction)?;
    let (selection, source) = (&asked.effort.selection, chosen.source.as_ref());
    let CheckOptions { started, fuzz, .. } = &options;
    let context =
        ReportContext::new(asked.command, started, fuzz.seed, selection, source, asked.output, &redaction);
    let context = ReportContext { budget: whole, baseline: asked.baseline.cloned(), ..context };
    let mut recorder = RunRecorder::begin(&store, &chosen.settings, listeners, context, watch);
    let mut run = check(chosen.connector, &options, &mut recorder);
    if let Ok(run) = &mut run {
        afterwards::look(run, &stored, asked, config, watch, whole.map(|whole| begun + whole));
    }
    recorder.finish(watch);
    let mut run = run.map_err(|error| failure(error, watch).redacted(&redaction))?;
    run.budget = whole;
    run.belong_to(part);
    settle(&mut run, &chosen.settings, &store, watch);
    if let Some(locked) = &locked {
        locked.hold_against(&mut run, &chosen.settings, &store, &redaction);
    }
    Ok(Checked { run, source: chosen.source, redaction })
}
