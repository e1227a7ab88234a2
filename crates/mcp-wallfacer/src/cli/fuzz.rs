//! `fuzz`: exercise every tool, and show what broke.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use clap::ValueEnum;
use wallfacer_core::findings::{FindingId, merge, rfc3339};
use wallfacer_core::plan::Mode;
use wallfacer_core::report::Report;
use wallfacer_core::session::{FuzzError, FuzzOptions, foresee, fuzz};
use wallfacer_core::summary::{Fuzzed, Note, Run};

use super::conclude::{conclude, failure};
use super::corpus_place::CorpusArgs;
use super::differential;
use super::dry_run;
use super::feedback::FeedbackArgs;
use super::output::RunOutput;
use super::recorder::{ReportContext, RunRecorder};
use super::redaction;
use super::selection::SelectionArgs;
use super::settle::settle;
use super::shard::ShardArgs;
use super::store::Store;
use super::target::TargetArgs;
use super::units;
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// Beyond this nobody reads what comes of it.
const MOST_RUNS: u64 = 1_000;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer fuzz --iterations 1000 -- python3 server.py
  wallfacer fuzz --include \"read_*\" --budget 30s -- python3 server.py
  wallfacer fuzz --runs 3 --aggregate --demo  # which findings are stable";

/// Exercise every tool with valid, boundary, invalid and hostile arguments
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// Same seed, same cases
    #[arg(long, value_parser = units::seed, default_value_t = 0, help_heading = "Effort")]
    seed: u64,
    /// Cases of each tool, at most
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "Effort")]
    iterations: usize,
    /// Which arguments are tried
    #[arg(long, value_enum, default_value = "mixed", help_heading = "Effort")]
    mode: ModeArg,
    #[command(flatten)]
    shard: ShardArgs,
    #[command(flatten)]
    selection: SelectionArgs,
    /// So many tools at most
    #[arg(long, value_name = "N", help_heading = "Effort")]
    max_tools: Option<usize>,
    /// Servers that are asked at once: as many as there are processors, or one where they would share a disk
    #[arg(long, value_name = "N", help_heading = "Effort")]
    workers: Option<usize>,
    /// Calls in flight on one server
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "Effort")]
    in_flight: usize,
    /// The largest payload
    #[arg(long, value_name = "SIZE", value_parser = units::size, default_value = "1MiB", help_heading = "Effort")]
    max_bytes: usize,
    /// Send malformed protocol frames too
    #[arg(long, help_heading = "Effort")]
    protocol_frames: bool,
    /// Exit with 3 where a tool was left out, or none of its valid calls succeeded
    #[arg(long, help_heading = "Effort")]
    coverage_strict: bool,
    /// Show what would be called, and call nothing
    #[arg(long, help_heading = "Effort")]
    dry_run: bool,
    /// Run so many times, each time with the next seed
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=MOST_RUNS), help_heading = "Effort")]
    runs: u64,
    /// Tell of each finding in how many of the runs it was made
    #[arg(long, help_heading = "Effort")]
    aggregate: bool,
    #[command(flatten)]
    feedback: FeedbackArgs,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: RunOutput,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModeArg {
    Conform,
    Adversarial,
    Mixed,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    if args.aggregate && args.runs < 2 {
        let message = "--aggregate compares several runs; add --runs 2 or more".to_owned();
        return Err(Failure { exit: Exit::Usage, message });
    }
    let chosen = args.corpus.placed(args.target.choose(config)?);
    let redaction = redaction::of_target(chosen.connector.target());
    let store = Arc::new(Store::new(&chosen, &args.target, &args.corpus, config, &redaction)?);
    watch.hold_to(args.selection.budget);
    let mut options = FuzzOptions {
        seed: args.seed,
        mode: match args.mode {
            ModeArg::Conform => Mode::Conform,
            ModeArg::Adversarial => Mode::Adversarial,
            ModeArg::Mixed => Mode::Mixed,
        },
        iterations: args.iterations,
        max_bytes: args.max_bytes,
        include: args.selection.include()?,
        exclude: args.selection.exclude()?,
        max_tools: args.max_tools,
        shard: args.shard.shard()?,
        in_flight: args.in_flight,
        workers: args.workers,
        budget: args.selection.budget,
        protocol_frames: args.protocol_frames,
        destructive: chosen.settings.destructive.clone(),
        stored: store.cases(&store.stored()),
        learned: differential::committed(),
        feedback: args.feedback.feedback(&chosen)?,
        stop: watch.stop().clone(),
    };
    let Args { seed, iterations, mode, selection, runs, max_bytes, protocol_frames, max_tools, .. } = args;
    let target = chosen.connector.target().shown();
    let part = args.shard.part(&format!(
        "fuzz {target} {seed} {iterations} {mode:?} {selection:?} {runs} {max_bytes} {protocol_frames} {max_tools:?}"
    ))?;
    let started = rfc3339(SystemTime::now());
    let listeners = args.output.listeners(&redaction)?;
    let source = chosen.source.as_ref();
    let context =
        ReportContext::new("fuzz", &started, args.seed, &args.selection, source, &args.output, &redaction);
    let mut recorder = RunRecorder::begin(&store, &chosen.settings, listeners, context, watch);
    let fail = |error| failure(error, watch).redacted(&redaction);
    if args.dry_run {
        let foreseen = foresee(chosen.connector, &options, &mut recorder);
        recorder.finish(watch);
        return dry_run::deliver(&foreseen.map_err(fail)?, &args.output, &redaction);
    }
    let begun = Instant::now();
    let mut runs = Vec::new();
    for number in 0..args.runs {
        options.seed = args.seed.wrapping_add(number);
        // Each run has an equal share of the time that is left.
        let share = |budget: Duration| budget.saturating_sub(begun.elapsed()) / (args.runs - number) as u32;
        options.budget = args.selection.budget.map(share);
        let fuzzed = fuzz(chosen.connector.clone(), &options, &mut recorder);
        // What the runs before it found stands.
        if matches!(fuzzed, Err(FuzzError::Stopped(_))) && !runs.is_empty() {
            break;
        }
        let failed = fuzzed.is_err();
        runs.push(fuzzed);
        if failed || watch.stop().is_told() {
            break;
        }
    }
    recorder.finish(watch);
    let runs = runs.into_iter().collect::<Result<Vec<Fuzzed>, _>>().map_err(fail)?;
    let news = runs.iter().flat_map(|fuzzed| &fuzzed.news);
    args.feedback.keep_or_say(news, &chosen.settings, &redaction);
    let mut run = together(started, runs, args.aggregate);
    run.seed = args.seed;
    run.took = begun.elapsed();
    run.belong_to(part);
    settle(&mut run, &chosen.settings, &store, watch);
    let exit = conclude(
        &Report::new(&run, args.selection.severity_threshold, chosen.source),
        &args.output,
        &redaction,
    )?;
    Ok(if exit == Exit::Clean && args.coverage_strict && has_gaps(&run) { Exit::NotTested } else { exit })
}

/// Several runs as one, each finding once.
fn together(started: String, runs: Vec<Fuzzed>, aggregate: bool) -> Run {
    let count = runs.len();
    let mut made: BTreeMap<FindingId, usize> = BTreeMap::new();
    for fuzzed in &runs {
        let findings = fuzzed.findings.iter().chain(&fuzzed.flaky);
        let ids: BTreeSet<&FindingId> = findings.map(|finding| &finding.id).collect();
        ids.into_iter().for_each(|id| *made.entry(id.clone()).or_default() += 1);
    }
    let mut runs = runs.into_iter();
    let mut run = Run::of_fuzzing(started, runs.next().expect("there is at least one run"));
    runs.for_each(|fuzzed| run.add_fuzzing(fuzzed));
    run.findings = merge(std::mem::take(&mut run.findings));
    run.flaky = merge(std::mem::take(&mut run.flaky));
    // What one run saw each time is not flaky because another saw it now and then.
    let proven: BTreeSet<FindingId> = run.findings.iter().map(|finding| finding.id.clone()).collect();
    run.flaky.retain(|finding| !proven.contains(&finding.id));
    run.notes = BTreeSet::from_iter(std::mem::take(&mut run.notes)).into_iter().collect();
    run.not_tested = BTreeSet::from_iter(std::mem::take(&mut run.not_tested)).into_iter().collect();
    if aggregate {
        run.notes.extend(run.findings.iter().chain(&run.flaky).map(|finding| {
            let k = made.get(&finding.id).copied().unwrap_or_default();
            let (kind, id) = (finding.kind.name(), &finding.id);
            let text = format!("{kind} {id} is {}: found in {k} of {count} runs", how_often(k, count));
            Note { tool: finding.tool.clone(), text }
        }));
    }
    run
}

/// The word for what so many of the runs found.
fn how_often(found: usize, runs: usize) -> &'static str {
    match found {
        all if all == runs => "stable",
        1 => "seen once",
        _ => "flaky",
    }
}

fn has_gaps(run: &Run) -> bool {
    !run.not_tested.is_empty() || run.tools.values().any(|tool| tool.valid_completed == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_some_runs_find_is_not_stable() {
        let told = [(3, 3), (2, 3), (1, 3)].map(|(found, runs)| how_often(found, runs));
        assert_eq!(told, ["stable", "flaky", "seen once"]);
    }
}
