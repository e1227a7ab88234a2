//! `fuzz`: exercise every tool, and show what broke.

use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::ValueEnum;
use globset::{Glob, GlobSet, GlobSetBuilder};
use wallfacer_core::findings::rfc3339;
use wallfacer_core::plan::Mode;
use wallfacer_core::session::{FuzzOptions, fuzz};
use wallfacer_core::summary::Run;
use wallfacer_core::target::Severity;

use super::conclude::{conclude, failure};
use super::keeping::Keeping;
use super::output::{OutputArgs, RunFormat};
use super::redaction::Redaction;
use super::store::Store;
use super::target::TargetArgs;
use super::units;
use crate::exit::{Exit, Failure};

/// Exercise every tool with valid, boundary, invalid and hostile arguments
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// Same seed, same cases
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Cases of each tool, at most
    #[arg(long, default_value_t = 200)]
    iterations: usize,
    /// Which arguments are tried
    #[arg(long, value_enum, default_value = "mixed")]
    mode: ModeArg,
    /// Only tools whose name matches
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    /// No tools whose name matches
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// So many tools at most
    #[arg(long, value_name = "N")]
    max_tools: Option<usize>,
    /// The time for the whole run
    #[arg(long, value_name = "TIME", value_parser = units::duration, aliases = ["duration", "max-duration", "global-deadline"])]
    budget: Option<Duration>,
    /// Servers that run at once
    #[arg(long, default_value_t = 1)]
    workers: usize,
    /// Calls in flight on one server
    #[arg(long, default_value_t = 16)]
    in_flight: usize,
    /// The largest payload
    #[arg(long, value_name = "SIZE", value_parser = units::size, default_value = "1MiB")]
    max_bytes: usize,
    /// Send malformed protocol frames too
    #[arg(long)]
    protocol_frames: bool,
    /// Exit with 3 where a tool was left out, or none of its valid calls succeeded
    #[arg(long)]
    coverage_strict: bool,
    /// Findings below this do not fail the run
    #[arg(long, value_name = "SEVERITY", value_parser = severity, default_value = "medium")]
    severity_threshold: Severity,
    #[command(flatten)]
    output: OutputArgs<RunFormat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    Conform,
    Adversarial,
    Mixed,
}

pub fn run(args: &Args, config: Option<&Path>) -> Result<Exit, Failure> {
    args.output.check()?;
    let chosen = args.target.choose(config)?;
    let redaction = Redaction::new(chosen.connector.target().secrets());
    let store = Store::new(&chosen, &args.target, config)?;
    let options = FuzzOptions {
        seed: args.seed,
        mode: match args.mode {
            ModeArg::Conform => Mode::Conform,
            ModeArg::Adversarial => Mode::Adversarial,
            ModeArg::Mixed => Mode::Mixed,
        },
        iterations: args.iterations,
        max_bytes: args.max_bytes,
        include: globs(&args.include)?,
        exclude: globs(&args.exclude)?,
        max_tools: args.max_tools,
        in_flight: args.in_flight,
        workers: args.workers,
        budget: args.budget,
        protocol_frames: args.protocol_frames,
        destructive: chosen.settings.destructive.clone(),
        stored: store.stored_cases(),
    };
    let started = rfc3339(SystemTime::now());
    let listeners = args.output.listeners(&redaction)?;
    let mut keeping = Keeping { store: &store, settings: &chosen.settings, listeners };
    let fuzzed = fuzz(chosen.connector, &options, &mut keeping);
    keeping.listeners.finish();
    let fuzzed = fuzzed.map_err(|error| redaction.of_failure(failure(error)))?;
    let mut run = Run::of_fuzzing(started, fuzzed);
    run.weigh(&chosen.settings);
    store.keep(run.findings.iter_mut().chain(&mut run.flaky))?;
    let exit = conclude(&run, args.severity_threshold, chosen.source, &args.output, &redaction)?;
    Ok(if exit == Exit::Clean && args.coverage_strict && has_gaps(&run) { Exit::NotTested } else { exit })
}

fn has_gaps(run: &Run) -> bool {
    !run.not_tested.is_empty() || run.tools.values().any(|tool| tool.valid_completed == 0)
}

pub(super) fn severity(text: &str) -> Result<Severity, String> {
    Severity::parse(text)
        .ok_or_else(|| format!("`{text}` is no severity; write low, medium, high or critical"))
}

pub(super) fn globs(patterns: &[String]) -> Result<Option<GlobSet>, Failure> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        set.add(Glob::new(pattern).map_err(|error| Failure::usage(&error))?);
    }
    set.build().map(Some).map_err(|error| Failure::usage(&error))
}
