//! `coverage`: which tools of a server the rule packs reach, and what is in the way of the others.

use std::collections::BTreeMap;
use std::path::Path;

use wallfacer_core::catalogue::Entry;
use wallfacer_core::plan::held_back;
use wallfacer_rules::{Means, Rules, ToolShape, coverage, coverage_as_json, show_coverage};

use super::output::{Format, OutputArgs};
use super::pack;
use super::redaction;
use super::suggest::look;
use super::target::{TargetArgs, working_directory};
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer coverage -- python3 server.py
  wallfacer coverage --strict -- python3 server.py  # fail where a tool is not reached";

/// Show which tools the rule packs reach
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// A rule pack [default: all]
    #[arg(long, value_name = "NAME")]
    pack: Vec<String>,
    /// All packs, built in and in packs/, which is also what is meant without --pack
    #[arg(long, conflicts_with = "pack")]
    pack_all: bool,
    /// Exit with 3 if a tool is reached by no pack
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let shelf = pack::shelf(&working_directory()?)?;
    let chosen = args.target.choose(config)?;
    let redaction = redaction::of_target(chosen.connector.target());
    let (set, destructive) = (chosen.settings.packs.clone(), chosen.settings.destructive.clone());
    let (tools, standing) = look(chosen, &args.output, &redaction, watch)?;
    let all: Vec<String> = shelf.names().into_iter().map(str::to_owned).collect();
    let names = if args.pack_all || args.pack.is_empty() { &all } else { &args.pack };
    let mut rules: BTreeMap<&str, Rules> = BTreeMap::new();
    for name in names {
        rules.insert(name, pack::loaded(&shelf, name, &shelf.given(name, &set, &BTreeMap::new()))?);
    }
    let packs: Vec<(&str, &Rules)> = rules.iter().map(|(name, rules)| (*name, rules)).collect();
    let why = |name: &str| {
        // What leaves nothing behind may be called.
        if standing.is_harmless() {
            return None;
        }
        let shape = tools.iter().find(|tool| tool.name() == name).map(ToolShape::definition)?;
        let tool = wallfacer_core::catalogue::Tool::read(shape.as_object()?).ok()?;
        held_back(&tool, &destructive)
    };
    let seen = coverage(&tools, &packs, Means { held_back: &why, observes: false });
    let text = match args.output.format {
        Format::Human => show_coverage(&seen),
        Format::Json => coverage_as_json(&seen),
    };
    args.output.deliver(&redaction.of(&text))?;
    let open = args.strict && !seen.uncovered().is_empty();
    Ok(if open { Exit::NotTested } else { Exit::Clean })
}
