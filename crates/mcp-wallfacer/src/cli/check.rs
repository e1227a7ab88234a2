//! `check`: a look at the server and every test that is safe, within one budget.

use std::path::Path;
use std::time::Duration;

use super::checking::{Asked, Checked, perform};
use super::conclude::conclude;
use super::effort::EffortArgs;
use super::output::{OutputArgs, RunFormat};
use super::target::TargetArgs;
use super::units;
use crate::exit::{Exit, Failure};

/// Test a server for a minute, and say what is broken and what was not tested
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// The time for the whole run
    #[arg(long, value_name = "TIME", value_parser = units::duration, default_value = "60s", help_heading = "Effort")]
    #[arg(aliases = ["duration", "max-duration", "global-deadline"])]
    budget: Duration,
    #[command(flatten)]
    effort: EffortArgs,
    #[command(flatten)]
    output: OutputArgs<RunFormat>,
}

pub fn run(args: &Args, config: Option<&Path>) -> Result<Exit, Failure> {
    args.output.check()?;
    let Args { target, effort, budget, output } = args;
    let asked = Asked { command: "check", target, effort, budget: *budget, iterations: None, output };
    let Checked { run, source, redaction } = perform(&asked, config)?;
    conclude(&run, effort.severity_threshold, source, output, &redaction)
}
