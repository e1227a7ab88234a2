//! `diff`: what is new, fixed and still there between two sets of findings.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use wallfacer_core::findings::{Finding, Tried, diff, read_findings};
use wallfacer_core::report::{differences, written};
use wallfacer_core::repository::{MAX_BYTES, read_text};

use super::corpus_place::CorpusArgs;
use super::output::{Format, OutputArgs};
use super::store;
use crate::exit::{Exit, Failure};
use crate::terminal;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer diff before.json after.json             # the JSON reports of two runs
  wallfacer diff --fail-on-regression before after  # two corpora";

/// Compare two corpora, or the JSON documents of two runs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What was found before: a corpus or a JSON report
    base: PathBuf,
    /// What is found now: a corpus or a JSON report [default: the corpus]
    candidate: Option<PathBuf>,
    /// Exit with 1 where something is new; what is flaky does not count
    #[arg(long)]
    fail_on_regression: bool,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: OutputArgs,
}

pub fn run(args: &Args, config: Option<&Path>) -> Result<Exit, Failure> {
    args.output.check()?;
    let candidate = match &args.candidate {
        Some(candidate) => candidate.clone(),
        None => args.corpus.corpus(config)?.directory().to_owned(),
    };
    let tried = tried(&candidate);
    let (base, candidate) = (read(&args.base)?, read(&candidate)?);
    let changes = diff(&base, &candidate, &tried);
    let regressions =
        changes.new.iter().filter(|finding| finding.reproduced.k >= finding.reproduced.n).count();
    let text = match args.output.format {
        Format::Human => differences(&changes, args.output.look()),
        Format::Json => {
            let document = json!({
                "wallfacer": env!("CARGO_PKG_VERSION"),
                "run": { "command": "diff" },
                "new": changes.new,
                "fixed": changes.fixed,
                "not_seen": changes.not_seen,
                "persisting": changes.persisting,
                "regressions": regressions,
            });
            written(&document)
        }
    };
    args.output.deliver(&text)?;
    Ok(if args.fail_on_regression && regressions > 0 { Exit::Findings } else { Exit::Clean })
}

/// What the candidate has tried, where it is the document of a run.
fn tried(candidate: &Path) -> Tried {
    let text = read_text(candidate, MAX_BYTES).unwrap_or_default();
    let document: Value = serde_json::from_str(&text).unwrap_or_default();
    Tried::of_document(&document)
}

fn read(path: &Path) -> Result<Vec<Finding>, Failure> {
    let listing = read_findings(path).map_err(|error| store::failure(&error))?;
    for unreadable in &listing.unreadable {
        terminal::note(&format!("{} is left out: {}", unreadable.path.display(), unreadable.why));
    }
    Ok(listing.findings)
}
