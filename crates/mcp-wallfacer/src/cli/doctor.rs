//! `doctor`: connect, and show what is there.

use std::path::Path;

use wallfacer_core::report;
use wallfacer_core::session::{examine, machine};
use wallfacer_core::wire::ConnectError;

use super::output::{Format, OutputArgs};
use super::redaction;
use super::target::TargetArgs;
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// Connect to a server and show what it says about itself
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let mut connector = args.target.choose(config)?.connector;
    let redaction = redaction::of_target(connector.target());
    let mut listeners = args.output.listeners(&redaction)?;
    let examined = watch.wait_for(examine(&mut connector, &mut listeners));
    listeners.finish();
    let seen = examined?.map_err(|error| failure(error).redacted(&redaction))?;
    let report = match args.output.format {
        Format::Human => report::examination(&seen),
        Format::Json => report::written(&report::examination_json(&seen)),
    };
    args.output.deliver(&redaction.of(&report))
}

/// Who cannot be shown the server is shown at least what it was to be confined with.
fn failure(error: ConnectError) -> Failure {
    let is_by_sandbox = matches!(error, ConnectError::NotInSandbox { .. });
    let failure = Failure::from(error);
    match is_by_sandbox {
        true => Failure { message: format!("{}\n{}", failure.message, machine().trim_end()), ..failure },
        false => failure,
    }
}
