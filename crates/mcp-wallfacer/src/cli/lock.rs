//! `lock`: writes down what a server declares and does, or tells what has changed since.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::json;
use wallfacer_core::findings::{Redaction, rfc3339};
use wallfacer_core::lock::{Difference, FILE_NAME, Lock, Texts, compare};
use wallfacer_core::report::{counted, written as document};
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

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer lock -- npx -y some-mcp-server          # write wallfacer.lock
  wallfacer lock --check -- npx -y some-mcp-server  # tell what has changed since";

/// Write down what a server declares and does; with --check, tell what is other than it was
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
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
    #[arg(long, value_parser = units::seed, default_value_t = 0, help_heading = "Effort")]
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
        Format::Human => {
            let unseen = if is_watched { unseen(now) } else { String::new() };
            format!("{name} holds {}, {seen}{unseen}\n", counted(now.tools.len(), "tool"))
        }
        Format::Json => {
            document(&json!({ "file": args.file, "tools": now.tools.len(), "observed": is_watched }))
        }
    };
    args.output.deliver(&redaction.of(&text))
}

/// Tools of which nothing was seen: a later look may see more, and that is no change.
fn unseen(now: &Lock) -> String {
    let names = now.tools.iter().filter(|(_, tool)| tool.effects.is_none());
    let names: Vec<String> = names.map(|(name, _)| format!("`{}`", shown(name))).collect();
    match names.len() {
        0 => String::new(),
        _ => format!("; no call of {} worked, so what is done there is not recorded", names.join(", ")),
    }
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
        0 => "nothing differs from the lock file\n".to_owned(),
        1 => "1 thing differs from the lock file\n".to_owned(),
        count => format!("{count} things differ from the lock file\n"),
    };
    for Difference { direction, subject, what, texts } in differences {
        let name = subject.name().unwrap_or("the server");
        text.push_str(&format!("  {:<8} {}: {}\n", direction.as_str(), shown(name), shown(what)));
        if let Some(Texts { before, now }) = texts {
            let (before, now) = differing(before, now);
            text.push_str(&format!("           was  {}\n           is   {}\n", shown(&before), shown(&now)));
        }
    }
    if !is_watched {
        text.push_str("what the tools do was not observed, so only what is declared was compared\n");
    }
    text
}

/// Letters of a text that are shown, and those of them that come before what differs.
const MOST_SHOWN: usize = 160;
const LEAD_IN: usize = 40;

/// Two texts from a little before the place where they part, so that long ones show what matters.
fn differing(before: &str, now: &str) -> (String, String) {
    let common = before.chars().zip(now.chars()).take_while(|(one, other)| one == other).count();
    let longest = before.chars().count().max(now.chars().count());
    let skipped = if longest <= MOST_SHOWN { 0 } else { common.saturating_sub(LEAD_IN) };
    let part = |text: &str| {
        let lead = if skipped > 0 { "…" } else { "" };
        let shown: String = text.chars().skip(skipped).take(MOST_SHOWN).collect();
        let rest = if text.chars().count() > skipped + MOST_SHOWN { "…" } else { "" };
        if text.is_empty() { "(nothing)".to_owned() } else { format!("{lead}{shown}{rest}") }
    };
    (part(before), part(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_shown_where_they_part() {
        let old = format!("{}old end", "x".repeat(300));
        let new = format!("{}new end", "x".repeat(300));
        let (old, new) = differing(&old, &new);
        assert_eq!(old, format!("…{}old end", "x".repeat(LEAD_IN)));
        assert_eq!(new, format!("…{}new end", "x".repeat(LEAD_IN)));
        assert_eq!(differing("", "Adds."), ("(nothing)".to_owned(), "Adds.".to_owned()));
    }
}
