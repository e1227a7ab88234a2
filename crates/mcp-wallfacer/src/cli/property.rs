//! `property`: rules of a file or of packs, tried on a server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use wallfacer_core::findings::rfc3339;
use wallfacer_core::report::Report;
use wallfacer_core::session::{FuzzOptions, PropertyOptions, RuleSet, property};
use wallfacer_core::summary::Run;
use wallfacer_rules::nearest;

use super::behave::noise;
use super::conclude::{conclude, failure};
use super::corpus_place::CorpusArgs;
use super::feedback::FeedbackArgs;
use super::output::RunOutput;
use super::pack::{self, ParameterArgs};
use super::recorder::{ReportContext, RunRecorder};
use super::redaction::{self, Written};
use super::rule_files;
use super::selection::SelectionArgs;
use super::settle::settle;
use super::shard::ShardArgs;
use super::store::Store;
use super::target::{TargetArgs, working_directory};
use super::units;
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer property invariants.yaml -- python3 server.py  # rules of a file
  wallfacer property --pack error-shape --demo             # rules of a pack";

/// Try rules on a server: those of a file, or of packs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A rule file
    file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// A rule pack; see `wallfacer pack list`
    #[arg(long, value_name = "NAME", help_heading = "Rules")]
    pack: Vec<String>,
    /// All packs, built in and in packs/
    #[arg(long, conflicts_with = "pack", help_heading = "Rules")]
    pack_all: bool,
    #[command(flatten)]
    parameters: ParameterArgs,
    /// Inputs of a rule that names no number
    #[arg(long, value_name = "N", default_value_t = 5, help_heading = "Effort")]
    cases: u32,
    /// Same seed, same inputs
    #[arg(long, value_parser = units::seed, default_value_t = 0, help_heading = "Effort")]
    seed: u64,
    /// So many tools at most
    #[arg(long, value_name = "N", help_heading = "Effort")]
    max_tools: Option<usize>,
    #[command(flatten)]
    feedback: FeedbackArgs,
    #[command(flatten)]
    shard: ShardArgs,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: RunOutput,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let (sets, written) = args.sets(config)?;
    let chosen = args.corpus.placed(args.target.choose(config)?);
    let redaction = redaction::of_rules(chosen.connector.target(), &written);
    let store = Arc::new(Store::new(&chosen, &args.target, &args.corpus, config, &redaction)?);
    watch.hold_to(args.selection.budget);
    let effort = FuzzOptions {
        seed: args.seed,
        include: args.selection.include()?,
        exclude: args.selection.exclude()?,
        max_tools: args.max_tools,
        shard: args.shard.shard()?,
        feedback: args.feedback.feedback(&chosen)?,
        // A rule may be about how long a call takes, or what it changes.
        in_flight: 1,
        budget: args.selection.budget,
        destructive: chosen.settings.destructive.clone(),
        stop: watch.stop().clone(),
        ..FuzzOptions::default()
    };
    let options =
        PropertyOptions { effort, cases: args.cases, looks_further: true, noise: noise(&chosen.settings)? };
    let (target, selection) = (chosen.connector.target().shown(), &args.selection);
    let part =
        args.shard.part(&format!("property {target} {} {} {selection:?} {sets:?}", args.seed, args.cases))?;
    let started = rfc3339(SystemTime::now());
    let listeners = args.output.listeners(&redaction)?;
    let source = chosen.source.as_ref();
    let context = ReportContext::new(
        "property",
        &started,
        args.seed,
        &args.selection,
        source,
        &args.output,
        &redaction,
    );
    let mut recorder = RunRecorder::begin(&store, &chosen.settings, listeners, context, watch);
    let tried = property(chosen.connector, &|_| sets.clone(), &options, &mut recorder);
    recorder.finish(watch);
    let tried = tried.map_err(|error| failure(error, watch).redacted(&redaction))?;
    args.feedback.keep_or_say(tried.news.iter(), &chosen.settings, &redaction);
    let mut run = Run::of_step("property", started, tried);
    run.belong_to(part);
    settle(&mut run, &chosen.settings, &store, watch);
    conclude(&Report::new(&run, args.selection.severity_threshold, chosen.source), &args.output, &redaction)
}

impl Args {
    /// The rules that are tried, and what of them may be a secret.
    fn sets(&self, config: Option<&Path>) -> Result<(Vec<RuleSet>, Written), Failure> {
        let shelf = pack::shelf(&working_directory()?)?;
        let all: Vec<String> = shelf.names().into_iter().map(str::to_owned).collect();
        let names = if self.pack_all { &all } else { &self.pack };
        if names.is_empty() && self.file.is_none() {
            return Err(Failure {
                exit: Exit::Usage,
                message: "there are no rules to try; name a rule file, --pack NAME or --pack-all".to_owned(),
            });
        }
        let mut sets = Vec::new();
        let mut written = Written::default();
        written.parameters(&self.parameters.typed());
        if let Some(file) = &self.file {
            let given: BTreeMap<String, Value> = match self.pack.is_empty() && !self.pack_all {
                true => self.parameters.typed(),
                false => BTreeMap::new(),
            };
            let set = rule_files::read(file, &given, &shelf)?;
            written.rules(&set.rules);
            sets.push(set);
        }
        let set = super::target::settings(config)?.packs;
        let mut known = BTreeSet::new();
        for name in names {
            let declared: BTreeSet<String> =
                shelf.parameters(name).into_iter().map(|parameter| parameter.name).collect();
            known.extend(declared.iter().cloned());
            let given = self.parameters.given_to(&shelf, name, &set, &declared);
            let rules = pack::loaded(&shelf, name, &given)?;
            written.pack(&shelf, name, &rules, &given);
            sets.push(RuleSet { name: name.clone(), rules, own: false });
        }
        let unused = self.parameters.names().find(|typed| !known.contains(*typed));
        match unused.filter(|_| self.file.is_none()) {
            Some(typed) => Err(undeclared(typed, &known)),
            None => Ok((sets, written)),
        }
    }
}

fn undeclared(typed: &str, known: &BTreeSet<String>) -> Failure {
    let help = match nearest(typed, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "see `wallfacer pack params NAME`".to_owned(),
    };
    let message = format!("no pack that is tried has a parameter `{typed}`; {help}");
    Failure { exit: Exit::Usage, message }
}
