//! `check`: a look at the server and every test that is safe, within one budget.

use std::path::Path;

use wallfacer_core::report::Report;

use super::all::AllArgs;
use super::checking::{Asked, Checked, perform};
use super::conclude::conclude;
use super::corpus_place::CorpusArgs;
use super::effort::EffortArgs;
use super::output::RunOutput;
use super::target::TargetArgs;
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer check -- npx -y some-mcp-server        # a command, over stdio
  wallfacer check --url http://localhost:8000/mcp  # a server that runs already
  wallfacer check --demo                           # the flawed server that is built in
  wallfacer check --all --jobs 2                   # every server of the workspace";

/// Test a server for a minute, and say what is broken and what was not tested
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("budget", |budget| budget.default_value("60s")))]
pub struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    #[command(flatten)]
    effort: EffortArgs,
    #[command(flatten)]
    all: AllArgs,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: RunOutput,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let Args { target, effort, all, corpus, output } = args;
    if all.is_asked() {
        return all.run(effort.shard.shard()?, output, watch);
    }
    let asked = Asked { command: "check", target, effort, iterations: None, baseline: None, corpus, output };
    let Checked { run, source, redaction } = perform(&asked, config, watch)?;
    conclude(&Report::new(&run, effort.selection.severity_threshold, source), output, &redaction)
}
