//! `doctor`: connect, and show what is there.

use std::path::Path;

use wallfacer_core::report;
use wallfacer_core::session::examine;

use super::output::{Format, OutputArgs};
use super::redaction::Redaction;
use super::target::TargetArgs;
use crate::exit::{Exit, Failure};

/// Connect to a server and show what it says about itself
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: &Args, config: Option<&Path>) -> Result<Exit, Failure> {
    args.output.check()?;
    let mut connector = args.target.choose(config)?.connector;
    let redaction = Redaction::new(connector.target().secrets());
    let mut listeners = args.output.listeners(&redaction)?;
    let examined = super::runtime()?.block_on(examine(&mut connector, &mut listeners));
    listeners.finish();
    let seen = examined.map_err(|error| redaction.of_failure(error.into()))?;
    let report = match args.output.format {
        Format::Human => report::examination(&seen),
        Format::Json => format!("{:#}\n", report::examination_json(&seen)),
    };
    args.output.deliver(&redaction.of(&report))
}
