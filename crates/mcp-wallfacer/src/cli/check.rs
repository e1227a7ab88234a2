//! `check`: a look at the server and every test that is safe, within one budget.

use std::path::Path;

use super::checking::{Asked, Checked, perform};
use super::conclude::conclude;
use super::effort::EffortArgs;
use super::output::{OutputArgs, RunFormat};
use super::target::TargetArgs;
use crate::exit::{Exit, Failure};

/// Test a server for a minute, and say what is broken and what was not tested
#[derive(Debug, clap::Args)]
#[command(mut_arg("budget", |budget| budget.default_value("60s")))]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    effort: EffortArgs,
    #[command(flatten)]
    output: OutputArgs<RunFormat>,
}

pub fn run(args: &Args, config: Option<&Path>) -> Result<Exit, Failure> {
    args.output.check()?;
    let Args { target, effort, output } = args;
    let asked = Asked { command: "check", target, effort, iterations: None, output };
    let Checked { run, source, redaction } = perform(&asked, config)?;
    conclude(&run, effort.selection.severity_threshold, source, output, &redaction)
}
