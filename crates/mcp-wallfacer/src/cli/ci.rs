//! `ci`: the same cases each time, known failures first, held against what was accepted.

use std::path::{Path, PathBuf};

use wallfacer_core::findings::{BASELINE_NAME, Baseline};
use wallfacer_core::report::{Report, counted};
use wallfacer_core::summary::Run;

use super::checking::{Asked, Checked, perform};
use super::conclude::conclude;
use super::corpus_place::CorpusArgs;
use super::effort::EffortArgs;
use super::output::{RunOutput, cannot_write, write_whole};
use super::target::{TargetArgs, repository};
use crate::exit::{Exit, Failure, without_number};
use crate::interruption::Watch;
use crate::terminal;

const BUDGET: &str = "The time for the whole run; what it cuts off is told";

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer ci --report sarif=wallfacer.sarif --report markdown
  wallfacer ci --accept \"mended in the next release\"
  wallfacer ci --shard 1/4 --report json=1.json  # the first of four parts";

/// Test a server the same way each time, and fail on what was not accepted before
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("budget", |budget| budget.default_value("10m").help(BUDGET)))]
pub struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
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
    corpus: CorpusArgs,
    #[command(flatten)]
    output: RunOutput,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let mut baseline = read_baseline(args.baseline.as_deref())?;
    let Args { target, effort, iterations, corpus, output, .. } = args;
    let iterations = Some(*iterations);
    let known = Some(&baseline);
    let asked = Asked { command: "ci", target, effort, iterations, baseline: known, corpus, output };
    let Checked { mut run, source, redaction } = perform(&asked, config, watch)?;
    if let Some(reason) = args.accept.as_ref().filter(|_| !run.interrupted) {
        accept(&mut baseline, &run, reason, args.baseline.as_deref())?;
    }
    run.hold_against(&baseline);
    if !args.effort.selection.is_whole() || run.part.is_some() || run.interrupted {
        // What was left out was not looked for.
        run.stale.clear();
    }
    conclude(&Report::new(&run, effort.selection.severity_threshold, source), output, &redaction)
}

/// A file that is asked for must be there; the usual one need not.
fn read_baseline(asked: Option<&Path>) -> Result<Baseline, Failure> {
    let path = asked.unwrap_or(Path::new(BASELINE_NAME));
    match repository()?.read(path) {
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
    repository()?.check_file(path).map_err(|error| Failure::usage(&error))?;
    write_whole(path, &baseline.written())
        .map_err(|error| cannot_write(&format!("`{}`", path.display()), &error))?;
    terminal::note(&format!(
        "`{}` accepts {} now",
        path.display(),
        counted(baseline.accepted.len(), "finding")
    ));
    Ok(())
}
