//! `report`: shows a run that was kept, in any format, alone or beside an earlier one.

use std::path::Path;

use wallfacer_core::report::{Comparison, Detail, Document, Look, PastRun};

use super::corpus_place::CorpusArgs;
use super::output::{self, RunOutput};
use super::runs::Runs;
use crate::exit::{Exit, Failure};
use crate::terminal;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer report  # the latest run, in full
  wallfacer report --list
  wallfacer report --format html -o report.html --against 20260102";

/// Show a kept run again, in any format
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The run, by its name or the beginning of it, or a JSON report [default: the latest run]
    run: Option<String>,
    /// Compare with this run
    #[arg(long, value_name = "RUN")]
    against: Option<String>,
    /// List the runs that are kept, and how each ended
    #[arg(long, conflicts_with_all = ["run", "against"])]
    list: bool,
    /// The heading of the page, with --format html
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: RunOutput,
}

pub fn run(args: &Args, config: Option<&Path>) -> Result<Exit, Failure> {
    args.output.check()?;
    let directory = Runs::beside(args.corpus.corpus(config)?.directory());
    let runs = Runs::new(&directory);
    if args.list {
        return list(&runs);
    }
    let (name, document) = runs.find(args.run.as_deref())?;
    let against = args.against.as_deref().map(|wanted| runs.find(Some(wanted))).transpose()?;
    let same = |other: &Document| other.server.name == document.server.name;
    let past = runs.all();
    let past = past.iter().filter(|(_, other)| same(other) && other.run.started <= document.run.started);
    let past: Vec<PastRun> = past.map(|(name, other)| PastRun::new(name, other)).collect();
    let beside = Comparison { title: args.title.clone(), against, past };
    // Who asks for a report again wants all of it.
    let fuller = |look: Look| match terminal::detail() {
        Detail::Usual => look.with_detail(Detail::Full),
        _ => look,
    };
    args.output.deliver_all(&|format, look| {
        let mut text = format.write_document(&document, Some(&beside), fuller(look));
        if format == wallfacer_core::report::Format::Human && terminal::detail() != Detail::Quiet {
            text += &beside.told(&document, look);
            text += &format!("\nrun {name}\n");
        }
        text
    })?;
    Ok(Exit::Clean)
}

fn list(runs: &Runs<'_>) -> Result<Exit, Failure> {
    let all = runs.all();
    if all.is_empty() {
        return output::print("No run is kept here; run `wallfacer check` first.\n");
    }
    output::print(&all.iter().map(|(name, document)| document.line(name)).collect::<String>())
}
