//! `lock`: writes down what a server declares and does, or tells what has changed since.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::json;
use wallfacer_core::findings::{Redaction, rfc3339};
use wallfacer_core::lock::{Difference, FILE_NAME, Lock, compare};
use wallfacer_core::report::written as document;
use wallfacer_core::session::{BehaveOptions, behave};
use wallfacer_text::shown;

use super::behave::{noise, told};
use super::drift::{FailOn, as_written, failing, read};
use super::output::{Format, OutputArgs, cannot_write, write_whole};
use super::redaction;
use super::target::{TargetArgs, repository};
use super::units;
use crate::exit::{Exit, Failure};
use crate::interruption::Watch;

/// Write down what a server declares and does; with --check, tell what is other than it was
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// Compare with the lock file instead of writing it
    #[arg(long)]
    check: bool,
    /// With --check: what fails it [default: widened and changed]
    #[arg(long, value_name = "WHAT", value_delimiter = ',', requires = "check")]
    fail_on: Vec<FailOn>,
    /// The lock file
    #[arg(long, value_name = "FILE", default_value = FILE_NAME)]
    file: PathBuf,
    /// Same seed, same calls
    #[arg(long, default_value_t = 0, help_heading = "Effort")]
    seed: u64,
    /// Calls of each tool, at most
    #[arg(long, value_name = "N", default_value_t = 8, help_heading = "Effort")]
    calls: usize,
    /// The time for the whole run; when it is over, nothing is written
    #[arg(long, value_name = "TIME", value_parser = units::duration, default_value = "10m", help_heading = "Effort")]
    #[arg(aliases = ["duration", "max-duration", "global-deadline"])]
    budget: Duration,
    #[command(flatten)]
    output: OutputArgs<Format>,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    repository()?.check_file(&args.file).map_err(|error| Failure::usage(&error))?;
    // What cannot be compared with is said before anything is started.
    let before = args.check.then(|| read(&args.file)).transpose()?;
    let chosen = args.target.choose(config)?;
    let redaction = redaction::of_target(chosen.connector.target());
    let options = BehaveOptions {
        command: "lock",
        started: rfc3339(SystemTime::now()),
        seed: args.seed,
        calls: args.calls,
        include: None,
        exclude: None,
        destructive: chosen.settings.destructive.clone(),
        budget: Some(args.budget),
        noise: noise(&chosen.settings)?,
        stop: watch.stop().clone(),
    };
    let mut listeners = args.output.listeners(&redaction)?;
    watch.hold_to(Some(args.budget));
    watch.begin_without_report();
    let watched = behave(chosen.connector, &options, &mut |_, _| {}, &mut listeners);
    watch.conclude();
    listeners.finish();
    // A lock of half a server would let the other half change unseen.
    watch.unless_interrupted()?;
    let watched = watched.map_err(|error| told(error, watch).redacted(&redaction))?;
    if watched.run.out_of_time {
        let message = format!(
            "the time limit ended the run before all of the server was seen, so nothing was {}; --budget TIME gives it longer",
            if args.check { "compared" } else { "written" },
        );
        return Err(Failure { exit: Exit::NotTested, message });
    }
    let is_watched = watched.run.server.standing.observed.calls;
    let redaction = redaction.with_tokens(&watched.run.tokens);
    let Some(now) = watched.run.locked else { unreachable!("a watched run has what is locked") };
    let now = as_written(now, &redaction);
    match before {
        Some(before) => compared(args, &compare(&before, &now), is_watched, &redaction),
        None => written(args, &now, is_watched, &redaction),
    }
}

fn written(args: &Args, now: &Lock, is_watched: bool, redaction: &Redaction) -> Result<Exit, Failure> {
    let name = format!("`{}`", args.file.display());
    write_whole(&args.file, &now.written()).map_err(|error| cannot_write(&name, &error))?;
    let seen = if is_watched { "with what each was seen to do" } else { "what they do was not observed" };
    let text = match args.output.format {
        Format::Human => format!("{name} holds {} tools, {seen}\n", now.tools.len()),
        Format::Json => {
            document(&json!({ "file": args.file, "tools": now.tools.len(), "observed": is_watched }))
        }
    };
    args.output.deliver(&redaction.of(&text))
}

fn compared(
    args: &Args,
    differences: &[Difference],
    is_watched: bool,
    redaction: &Redaction,
) -> Result<Exit, Failure> {
    let text = match args.output.format {
        Format::Human => human(differences, is_watched),
        Format::Json => document(&json!({ "drift": differences, "observed": is_watched })),
    };
    args.output.deliver(&redaction.of(&text))?;
    let failing = failing(&args.fail_on);
    Ok(if differences.iter().any(|difference| failing.contains(&difference.direction)) {
        Exit::Findings
    } else {
        Exit::Clean
    })
}

fn human(differences: &[Difference], is_watched: bool) -> String {
    let mut text = match differences.len() {
        0 => "nothing is other than in the lock file\n".to_owned(),
        count => format!("{count} things are other than in the lock file\n"),
    };
    for Difference { direction, subject, what } in differences {
        let name = subject.name().unwrap_or("the server");
        text.push_str(&format!("  {:<8} {}: {}\n", direction.as_str(), shown(name), shown(what)));
    }
    if !is_watched {
        text.push_str("what the tools do was not observed, so only what is declared was compared\n");
    }
    text
}
