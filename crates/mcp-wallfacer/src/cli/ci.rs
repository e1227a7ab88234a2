//! `ci`: the same cases each time, known failures first, held against what was accepted.

use std::path::{Path, PathBuf};

use wallfacer_core::findings::{BASELINE_NAME, Baseline};
use wallfacer_core::summary::Run;

use super::checking::{Asked, Checked, perform};
use super::conclude::conclude;
use super::effort::EffortArgs;
use super::output::{OutputArgs, RunFormat, cannot_write};
use super::target::TargetArgs;
use crate::exit::{Exit, Failure, without_number};
use crate::terminal;

const BUDGET: &str = "The time for the whole run; what it cuts off is told";

/// Test a server the same way each time, and fail on what was not accepted before
#[derive(Debug, clap::Args)]
#[command(mut_arg("budget", |budget| budget.default_value("10m").help(BUDGET)))]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// Cases of each tool, at most
    #[arg(long, value_name = "N", default_value_t = 200, help_heading = "Effort")]
    iterations: usize,
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
    let Args { target, effort, iterations, output, .. } = args;
    let iterations = Some(*iterations);
    let asked = Asked { command: "ci", target, effort, iterations, output };
    let Checked { mut run, source, redaction } = perform(&asked, config)?;
    if let Some(reason) = &args.accept {
        accept(&mut baseline, &run, reason, args.baseline.as_deref())?;
    }
    run.hold_against(&baseline);
    if !args.effort.selection.is_whole() {
        // What was left out on purpose was not looked for.
        run.stale.clear();
    }
    conclude(&run, effort.selection.severity_threshold, source, output, &redaction)
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
    let day = run.day();
    for finding in run.findings.iter().filter(|finding| !baseline.accepts(finding, day)).collect::<Vec<_>>() {
        baseline.accept(finding, reason, day);
    }
    let path = asked.unwrap_or(Path::new(BASELINE_NAME));
    std::fs::write(path, baseline.written())
        .map_err(|error| cannot_write(&format!("`{}`", path.display()), &error))?;
    terminal::note(&format!("`{}` accepts {} findings now", path.display(), baseline.accepted.len()));
    Ok(())
}
