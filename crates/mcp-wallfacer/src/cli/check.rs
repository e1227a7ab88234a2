//! `check`: a look at the server and every test that is safe, within one budget.

use std::path::Path;
use std::time::{Duration, SystemTime};

use wallfacer_core::findings::rfc3339;
use wallfacer_core::session::{CheckOptions, check};

use super::behave;
use super::conclude::{conclude, failure};
use super::effort::EffortArgs;
use super::keeping::Keeping;
use super::output::{OutputArgs, RunFormat};
use super::pack;
use super::redaction::Redaction;
use super::store::Store;
use super::target::{TargetArgs, working_directory};
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
    let chosen = args.target.choose(config)?;
    let redaction = Redaction::new(chosen.connector.target().secrets());
    let store = Store::new(&chosen, &args.target, config)?;
    let mut fuzz = args.effort.options(&chosen, Some(args.budget))?;
    fuzz.stored = store.stored_cases();
    let options = CheckOptions {
        command: "check",
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
    conclude(&run, args.effort.severity_threshold, chosen.source, &args.output, &redaction)
}
