//! `ci`: the same cases each time, known failures first, held against what was accepted.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use wallfacer_core::findings::{BASELINE_NAME, Baseline, rfc3339};
use wallfacer_core::session::{CheckOptions, check};
use wallfacer_core::summary::Run;

use super::behave;
use super::conclude::{conclude, failure};
use super::effort::EffortArgs;
use super::keeping::Keeping;
use super::output::{OutputArgs, RunFormat, cannot_write};
use super::pack;
use super::redaction::Redaction;
use super::store::Store;
use super::target::{TargetArgs, working_directory};
use super::units;
use crate::exit::{Exit, Failure, without_number};
use crate::terminal;

/// Test a server the same way each time, and fail on what was not accepted before
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// Cases of each tool, at most
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "Effort")]
    iterations: usize,
    /// The time for the whole run; what it cuts off is told
    #[arg(long, value_name = "TIME", value_parser = units::duration, default_value = "10m", help_heading = "Effort")]
    #[arg(aliases = ["duration", "max-duration", "global-deadline"])]
    budget: Duration,
    #[command(flatten)]
    effort: EffortArgs,
    /// The findings that are accepted [default: wallfacer-baseline.toml, where it is there]
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    baseline: Option<PathBuf>,
    /// Accept all that is found, for this reason, and write it to the baseline
    #[arg(long, value_name = "REASON", help_heading = "Baseline")]
    accept: Option<String>,
    #[command(flatten)]
    output: OutputArgs<RunFormat>,
}

pub fn run(args: &Args, config: Option<&Path>) -> Result<Exit, Failure> {
    args.output.check()?;
    let mut baseline = read_baseline(args.baseline.as_deref())?;
    let chosen = args.target.choose(config)?;
    let redaction = Redaction::new(chosen.connector.target().secrets());
    let store = Store::new(&chosen, &args.target, config)?;
    let mut fuzz = args.effort.options(&chosen, Some(args.budget))?;
    fuzz.iterations = args.iterations;
    fuzz.stored = store.stored_cases();
    let options = CheckOptions {
        command: "ci",
        started: rfc3339(SystemTime::now()),
        fuzz,
        noise: behave::noise(),
        shelf: pack::shelf(&working_directory()?)?,
        parameters: chosen.settings.packs.clone(),
        rules: args.target.own_rules()?,
    };
    let listeners = args.output.listeners(&redaction)?;
    let mut keeping = Keeping { store: &store, settings: &chosen.settings, listeners };
    let run = check(chosen.connector, &options, &mut keeping);
    keeping.listeners.finish();
    let mut run = run.map_err(|error| redaction.of_failure(failure(error)))?;
    run.weigh(&chosen.settings);
    store.keep(run.findings.iter_mut().chain(&mut run.flaky))?;
    if let Some(reason) = &args.accept {
        accept(&mut baseline, &run, reason, args.baseline.as_deref())?;
    }
    run.hold_against(&baseline);
    if !args.effort.is_whole() {
        // What was left out on purpose was not looked for.
        run.stale.clear();
    }
    conclude(&run, args.effort.severity_threshold, chosen.source, &args.output, &redaction)
}

/// A file that is asked for must be there; the usual one need not.
fn read_baseline(asked: Option<&Path>) -> Result<Baseline, Failure> {
    let path = asked.unwrap_or(Path::new(BASELINE_NAME));
    match std::fs::read_to_string(path) {
        Ok(text) => Baseline::read(&text).map_err(|error| Failure::usage(&error)),
        Err(error) if asked.is_none() && error.kind() == std::io::ErrorKind::NotFound => {
            Ok(Baseline::default())
        }
        Err(error) => {
            let reason = without_number(&error.to_string()).to_owned();
            let message = format!("cannot read the baseline `{}`: {reason}", path.display());
            Err(Failure { exit: Exit::Usage, message })
        }
    }
}

/// Entries that nothing answers to are dropped, so that the file says what holds now.
fn accept(baseline: &mut Baseline, run: &Run, reason: &str, asked: Option<&Path>) -> Result<(), Failure> {
    let day = &run.started[..run.started.find('T').unwrap_or(run.started.len())];
    for finding in run.findings.iter().filter(|finding| !baseline.accepts(finding)).collect::<Vec<_>>() {
        baseline.accept(finding, reason, day);
    }
    let path = asked.unwrap_or(Path::new(BASELINE_NAME));
    std::fs::write(path, baseline.written())
        .map_err(|error| cannot_write(&format!("`{}`", path.display()), &error))?;
    terminal::note(&format!("`{}` accepts {} findings now", path.display(), baseline.accepted.len()));
    Ok(())
}
