//! `merge`: joins the reports of the parts of one plan into the report of one run.

use std::path::{Path, PathBuf};

use wallfacer_core::report::{Detail, merge};

use super::conclude::exit;
use super::output::RunOutput;
use super::runs;
use crate::exit::{Exit, Failure};
use crate::terminal;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer merge shards  # all JSON reports of a directory
  wallfacer merge 1.json 2.json --format html -o report.html";

/// Join the reports of runs with --shard into the report of one run
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// JSON reports, as `--report json=FILE` writes them, or directories that hold some
    #[arg(required = true, value_name = "FILES")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    output: RunOutput,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    args.output.check()?;
    let mut parts = Vec::new();
    for file in args.files.iter().map(|path| files(path)).collect::<Result<Vec<_>, _>>()?.concat() {
        parts.push((file.display().to_string(), runs::read(&file)?));
    }
    let whole = merge(parts).map_err(|error| Failure::usage(&error))?;
    args.output.deliver_all(&|format, look| match terminal::detail() {
        Detail::Usual => format.write_document(&whole, None, look),
        detail => format.write_document(&whole, None, look.with_detail(detail)),
    })?;
    Ok(exit(whole.verdict.conclusion))
}

/// The file itself, or the JSON files of a directory.
fn files(path: &Path) -> Result<Vec<PathBuf>, Failure> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let cannot = |error: std::io::Error| {
        let message = format!("cannot read `{}`: {error}", path.display());
        Failure { exit: Exit::Usage, message: crate::exit::without_number(&message).to_owned() }
    };
    let entries = std::fs::read_dir(path).map_err(cannot)?.collect::<Result<Vec<_>, _>>().map_err(cannot)?;
    let files = entries.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|end| end == "json")).collect();
    files.sort();
    match files.is_empty() {
        true => Err(Failure {
            exit: Exit::Usage,
            message: format!("there is no JSON report in `{}`", path.display()),
        }),
        false => Ok(files),
    }
}
