//! `torture`: calls at the same time, sessions beside each other, and how a server begins and ends.

use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use clap::ValueEnum;
use wallfacer_core::findings::rfc3339;
use wallfacer_core::report::Report;
use wallfacer_core::session::{FuzzOptions, Load, TortureMode, torture};
use wallfacer_core::summary::Run;

use super::conclude::{conclude, failure};
use super::corpus_place::CorpusArgs;
use super::output::RunOutput;
use super::recorder::{ReportContext, RunRecorder};
use super::redaction;
use super::selection::SelectionArgs;
use super::settle::settle;
use super::store::Store;
use super::target::TargetArgs;
use super::units;
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// Beyond this a server is only made to wait.
const MOST_CALLS: u16 = 1_000;
const MOST_CLIENTS: u16 = 64;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer torture -- node server.js
  wallfacer torture --concurrency 100 -- node server.js
  wallfacer torture --mode lifecycle -- node server.js";

/// Make concurrent calls, kill and restart the server, and see whether data is lost, swapped or leaked
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// Which tests to run: concurrent calls, leaks between sessions, or starts, stops and failures
    #[arg(long, value_enum, default_value = "all", help_heading = "Effort")]
    mode: ModeArg,
    /// Concurrent calls
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u16).range(2..=i64::from(MOST_CALLS)), help_heading = "Effort")]
    concurrency: u16,
    /// Clients that share them; over HTTP only
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_CLIENTS)), help_heading = "Effort")]
    clients: u16,
    /// Test only this tool
    #[arg(long, value_name = "NAME", help_heading = "Effort")]
    target_tool: Option<String>,
    /// Same seed, same calls
    #[arg(long, value_parser = units::seed, default_value_t = 0, help_heading = "Effort")]
    seed: u64,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: RunOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    All,
    Parallel,
    StateLeak,
    Lifecycle,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let chosen = args.corpus.placed(args.target.choose(config)?);
    watch.hold_to(args.selection.budget);
    let redaction = redaction::of_target(chosen.connector.target());
    let store = Arc::new(Store::new(&chosen, &args.target, &args.corpus, config, &redaction)?);
    let options = FuzzOptions {
        seed: args.seed,
        include: match &args.target_tool {
            Some(tool) => args.selection.include_only(tool)?,
            None => args.selection.include()?,
        },
        exclude: args.selection.exclude()?,
        budget: args.selection.budget,
        destructive: chosen.settings.destructive.clone(),
        stop: watch.stop().clone(),
        ..FuzzOptions::default()
    };
    let load = Load {
        mode: match args.mode {
            ModeArg::All => TortureMode::All,
            ModeArg::Parallel => TortureMode::Parallel,
            ModeArg::StateLeak => TortureMode::StateLeak,
            ModeArg::Lifecycle => TortureMode::Lifecycle,
        },
        concurrency: usize::from(args.concurrency),
        clients: usize::from(args.clients),
        thorough: true,
        shared: chosen.settings.shared,
    };
    let started = rfc3339(SystemTime::now());
    let listeners = args.output.listeners(&redaction)?;
    let (selection, source) = (&args.selection, chosen.source.as_ref());
    let context =
        ReportContext::new("torture", &started, args.seed, selection, source, &args.output, &redaction);
    let mut recorder = RunRecorder::begin(&store, &chosen.settings, listeners, context, watch);
    let done = torture(chosen.connector, &options, load, &mut recorder);
    recorder.finish(watch);
    let done = done.map_err(|error| failure(error, watch).redacted(&redaction))?;
    let mut run = Run::of_step("torture", started, done);
    settle(&mut run, &chosen.settings, &store, watch);
    conclude(&Report::new(&run, args.selection.severity_threshold, chosen.source), &args.output, &redaction)
}
