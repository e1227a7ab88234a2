//! `suggest`: which rule packs fit a server, and with which parameters.

use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use wallfacer_core::findings::Redaction;
use wallfacer_core::observe::Examination;
use wallfacer_core::world::Standing;
use wallfacer_rules::{ToolShape, show_suggestions, suggest, suggestions_as_json, suggestions_as_toml};

use super::output::OutputArgs;
use super::target::{Chosen, TargetArgs, config_path, repository};
use super::{doctor, redaction};
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;
use crate::terminal;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer suggest -- python3 server.py
  wallfacer suggest --write -- python3 server.py  # add the parameters to wallfacer.toml";

/// Show which rule packs fit a server, and why
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// Add the parameters of the packs to wallfacer.toml; what is set there stays
    #[arg(long)]
    write: bool,
    #[command(flatten)]
    output: OutputArgs<Form>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Form {
    Human,
    Toml,
    Json,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let chosen = args.target.choose(config)?;
    let redaction = redaction::of_target(chosen.connector.target());
    let set = chosen.settings.packs.clone();
    let mut found = suggest(&shapes(chosen, &args.output, &redaction, watch)?);
    if args.write {
        found.retain(|suggestion| !set.contains_key(&suggestion.pack));
        let text = suggestions_as_toml(&found);
        write(&text, config)?;
    }
    let text = match args.output.format {
        Form::Human => show_suggestions(&found),
        Form::Toml => suggestions_as_toml(&found),
        Form::Json => suggestions_as_json(&found),
    };
    args.output.deliver(&redaction.of(&text))
}

/// How long it may take until a server has listed its tools.
const LOOK: Duration = Duration::from_secs(60);

/// The tools of a server as rules see them.
pub fn shapes<F: ValueEnum + Send + Sync + 'static>(
    chosen: Chosen,
    output: &OutputArgs<F>,
    redaction: &Redaction,
    watch: &Watch,
) -> Result<Vec<ToolShape>, Failure> {
    look(chosen, output, redaction, watch).map(|(tools, _)| tools)
}

/// The same, with how far the server is confined.
pub fn look<F: ValueEnum + Send + Sync + 'static>(
    chosen: Chosen,
    output: &OutputArgs<F>,
    redaction: &Redaction,
    watch: &Watch,
) -> Result<(Vec<ToolShape>, Standing), Failure> {
    let mut connector = chosen.connector;
    let mut listeners = output.listeners(redaction)?;
    let seen = doctor::look(&mut connector, LOOK, &mut listeners, watch);
    listeners.finish();
    let seen = seen?.map_err(|error| Failure::from(error).redacted(redaction))?;
    if seen.not_seen.contains(&Examination::LISTS) {
        let message = format!("the server did not list its tools within {}s", LOOK.as_secs());
        return Err(Failure { exit: Exit::NotTested, message });
    }
    let tools = seen.catalogue.tools.entries;
    let tools = tools.into_iter().map(|tool| ToolShape::new(tool.listed)).collect();
    Ok((tools, seen.server.standing))
}

/// Adds tables at the end: nothing that stands in the file is touched.
fn write(tables: &str, config: Option<&Path>) -> Result<(), Failure> {
    let path = config_path(config)?;
    let cannot =
        |error: &dyn std::fmt::Display| super::output::cannot_write(&format!("`{}`", path.display()), error);
    let repository = repository()?;
    let before = match repository.read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(cannot(&error)),
    };
    if tables.is_empty() {
        terminal::note(&format!("there is nothing to add to `{}`", path.display()));
        return Ok(());
    }
    let gap = if before.is_empty() || before.ends_with("\n\n") { "" } else { "\n" };
    repository.write(&path, &format!("{before}{gap}{tables}")).map_err(|error| cannot(&error))?;
    terminal::note(&format!("added to `{}`", path.display()));
    Ok(())
}
