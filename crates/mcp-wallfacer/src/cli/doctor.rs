//! `doctor`: connect, and show what is there.

use std::path::Path;
use std::time::Duration;

use wallfacer_core::observe::Examination;
use wallfacer_core::report;
use wallfacer_core::session::{examine, machine};
use wallfacer_core::wire::{ConnectError, Connector};

use super::output::{Format, Listeners, OutputArgs};
use super::target::TargetArgs;
use super::{redaction, units};
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer doctor -- npx -y some-mcp-server
  wallfacer doctor --url http://localhost:8000/mcp --format json";

/// Connect to a server and show what it says about itself
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// The time for the whole look, downloads not counted; what was not seen by then is told
    #[arg(long, value_name = "TIME", value_parser = units::duration, default_value = "60s")]
    budget: Duration,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let mut connector = args.target.choose(config)?.connector;
    let redaction = redaction::of_target(connector.target());
    let mut listeners = args.output.listeners(&redaction)?;
    let examined = look(&mut connector, args.budget, &mut listeners, watch);
    listeners.finish();
    let seen = examined?.map_err(|error| failure(error).redacted(&redaction))?;
    let report = match args.output.format {
        Format::Human => report::examination(&seen, args.output.look()),
        Format::Json => report::written(&report::examination_json(&seen)),
    };
    args.output.deliver(&redaction.of(&report))
}

/// Looks at the server within its time, which begins when all that it needs has been downloaded.
pub fn look(
    connector: &mut Connector,
    budget: Duration,
    listeners: &mut Listeners,
    watch: &Watch,
) -> Result<Result<Examination, ConnectError>, Failure> {
    if let Err(error) = watch.wait_for(connector.prepare())? {
        return Ok(Err(error));
    }
    watch.hold_to(Some(watch.elapsed() + budget));
    watch.wait_for(examine(connector, budget, listeners))
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
