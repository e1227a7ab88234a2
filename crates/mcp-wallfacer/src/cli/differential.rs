//! `differential`: answers held against what is declared and what was learned, or one server against another.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::json;
use wallfacer_core::findings::{Redaction, rfc3339};
use wallfacer_core::learn::{Entry, FILE_NAME, Learned};
use wallfacer_core::plan::{Carrier, Mode};
use wallfacer_core::report::{Format, Report, written};
use wallfacer_core::session::{FuzzOptions, Taught, against, differential, learn};
use wallfacer_core::summary::Run;
use wallfacer_text::{shortened, shown};

use super::against::AgainstArgs;
use super::conclude::{conclude, failure};
use super::corpus_place::CorpusArgs;
use super::output::{RunOutput, cannot_write, write_whole};
use super::recorder::{ReportContext, RunRecorder};
use super::redaction;
use super::selection::SelectionArgs;
use super::settle::settle;
use super::store::Store;
use super::target::{Chosen, TargetArgs, repository, settings};
use super::units;
use crate::exit::{Exit, Failure, without_number};
use crate::interruption::Watch;
use crate::terminal;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer differential --learn -- node server.js  # write down what answers look like
  wallfacer differential -- node server.js          # tell which are other than that
  wallfacer differential --against \"node old.js\" -- node server.js";

/// Compare answers with the declared or learned schemas, or one server with another
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    target: TargetArgs,
    /// Write down what the tools declare and what their answers look like
    #[arg(long, help_heading = "Comparison")]
    learn: bool,
    /// The file that what is learned is written to and read from
    #[arg(long, value_name = "FILE", default_value = FILE_NAME, help_heading = "Comparison")]
    file: PathBuf,
    #[command(flatten)]
    against: AgainstArgs,
    /// Same seed, same cases
    #[arg(long, value_parser = units::seed, default_value_t = 0, help_heading = "Effort")]
    seed: u64,
    /// Cases of each tool, at most
    #[arg(long, value_name = "N", default_value_t = 20, help_heading = "Effort")]
    iterations: usize,
    #[command(flatten)]
    selection: SelectionArgs,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: RunOutput,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    repository()?.check_file(&args.file).map_err(|error| Failure::usage(&error))?;
    let learned = if args.learn { None } else { read(&args.file)? };
    let chosen = args.corpus.placed(args.target.choose(config)?);
    watch.hold_to(args.selection.budget);
    let redaction = redaction::of_target(chosen.connector.target());
    let options = FuzzOptions {
        seed: args.seed,
        mode: Mode::Conform,
        iterations: args.iterations,
        include: args.selection.include()?,
        exclude: args.selection.exclude()?,
        budget: args.selection.budget,
        // What a call answers may depend on those before it.
        in_flight: 1,
        destructive: chosen.settings.destructive.clone(),
        learned: learned.map(Arc::new),
        stop: watch.stop().clone(),
        ..FuzzOptions::default()
    };
    if args.learn {
        teach(args, chosen, &options, &redaction, watch)
    } else {
        hold(args, chosen, &options, &redaction, config, watch)
    }
}

/// What was learned earlier; none where nothing was.
fn read(file: &Path) -> Result<Option<Learned>, Failure> {
    let shown = file.display();
    let usage = |message: String| Failure { exit: Exit::Usage, message };
    let text = match repository()?.read(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && file == Path::new(FILE_NAME) => {
            return Ok(None);
        }
        Err(error) => {
            let why = error.to_string();
            let why = without_number(&why);
            return Err(usage(format!(
                "cannot read `{shown}`: {why}; `wallfacer differential --learn` writes it"
            )));
        }
    };
    Learned::read(&text)
        .map(Some)
        .map_err(|error| usage(format!("`{shown}` cannot be compared with: {error}")))
}

/// What was learned earlier and stands in the working directory, for runs that are about more than that.
pub(super) fn committed() -> Option<Arc<Learned>> {
    match read(Path::new(FILE_NAME)) {
        Ok(learned) => learned.map(Arc::new),
        Err(failure) => {
            terminal::note(&format!("what was learned is left out: {}", failure.message));
            None
        }
    }
}

fn hold(
    args: &Args,
    chosen: Chosen,
    options: &FuzzOptions,
    redaction: &Redaction,
    config: Option<&Path>,
    watch: &Watch,
) -> Result<Exit, Failure> {
    let other = args.against.choose(&args.target, &chosen, config)?;
    let both = other.as_ref().map(|other| redaction::of_both(chosen.connector.target(), other.target()));
    let redaction = both.as_ref().unwrap_or(redaction);
    let mut store = Store::new(&chosen, &args.target, &args.corpus, config, redaction)?;
    let mut configured = Vec::new();
    if let Some(other) = &other {
        store = store.against(other)?;
        configured = settings(config)?.ignore;
    }
    let ignored = args.against.ignored(&configured)?;
    let started = rfc3339(SystemTime::now());
    let listeners = args.output.listeners(redaction)?;
    let store = Arc::new(store);
    let source = chosen.source.as_ref();
    let context = ReportContext::new(
        "differential",
        &started,
        args.seed,
        &args.selection,
        source,
        &args.output,
        redaction,
    );
    let mut recorder = RunRecorder::begin(&store, &chosen.settings, listeners, context, watch);
    let held = match other {
        Some(other) => against(chosen.connector, other, options, &ignored, &mut recorder),
        None => differential(chosen.connector, options, &mut recorder),
    };
    recorder.finish(watch);
    let held = held.map_err(|error| failure(error, watch).redacted(redaction))?;
    let mut run = Run::of_step("differential", started, held);
    settle(&mut run, &chosen.settings, &store, watch);
    conclude(&Report::new(&run, args.selection.severity_threshold, chosen.source), &args.output, redaction)
}

fn teach(
    args: &Args,
    chosen: Chosen,
    options: &FuzzOptions,
    redaction: &Redaction,
    watch: &Watch,
) -> Result<Exit, Failure> {
    let format = args.output.format.0;
    if !matches!(format, Format::Human | Format::Json) {
        let message =
            format!("--learn finds nothing to report as {}; use --format human or json", format.name());
        return Err(Failure { exit: Exit::Usage, message });
    }
    let mut listeners = args.output.listeners(redaction)?;
    watch.begin_without_report();
    let taught = learn(chosen.connector, options, &mut listeners);
    watch.conclude();
    listeners.finish();
    // Half of what there is to be learned would be held against the rest of it later.
    watch.unless_interrupted()?;
    let taught = taught.map_err(|error| failure(error, watch).redacted(redaction))?;
    let name = format!("`{}`", args.file.display());
    write_whole(&args.file, &redaction.of(&taught.learned.written()))
        .map_err(|error| cannot_write(&name, &error))?;
    let text = match format {
        Format::Json => written(&told_json(args, &taught)),
        _ => told(&name, &taught),
    };
    args.output.deliver(&redaction.of(&text))?;
    let called =
        taught.run.summary.calls > 0 || taught.learned.tools.values().any(|tool| tool.declared.is_some());
    Ok(if called { Exit::Clean } else { Exit::NotTested })
}

fn told(name: &str, taught: &Taught) -> String {
    let tools = &taught.learned.tools;
    let count = |count: usize| if count == 1 { "1 tool".to_owned() } else { format!("{count} tools") };
    let mut text = format!("{name} holds {}, after {} calls\n", count(tools.len()), taught.run.summary.calls);
    for (tool, entry) in tools {
        text += &format!("  {}: {}\n", shortened(tool, 80), what_is_known(entry));
    }
    for not in &taught.run.not_tested {
        text += &format!("  not learned from {}: {}\n", shown(&not.what), shown(&not.why));
    }
    text
}

fn what_is_known(entry: &Entry) -> &'static str {
    match (&entry.declared, entry.learned.as_ref().map(|form| form.carrier)) {
        (Some(_), Some(_)) => "declares an output schema; what it answers is learned too",
        (Some(_), None) => "declares an output schema",
        (None, Some(Carrier::Structured)) => "learned, from its structuredContent",
        (None, Some(Carrier::Text)) => "learned, from the JSON in its text",
        (None, None) => "nothing; its answers are not JSON, not always JSON, or too few",
    }
}

fn told_json(args: &Args, taught: &Taught) -> serde_json::Value {
    let tools = &taught.learned.tools;
    json!({
        "wallfacer": env!("CARGO_PKG_VERSION"),
        "run": { "command": "differential", "learn": true, "seed": args.seed, "calls": taught.run.summary.calls },
        "file": args.file,
        "tools": tools.len(),
        "declared": tools.values().filter(|entry| entry.declared.is_some()).count(),
        "learned": tools.values().filter(|entry| entry.learned.is_some()).count(),
        "not_tested": taught.run.not_tested,
    })
}
