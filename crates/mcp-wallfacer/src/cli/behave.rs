//! `behave`: watch what every tool does, and hold it against what the tool says.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use wallfacer_core::findings::{Redaction, rfc3339};
use wallfacer_core::report::{Report, manifest, trace_lines, written};
use wallfacer_core::repository::{MAX_BYTES, read_text};
use wallfacer_core::session::{BehaveError, BehaveOptions, Behaved, behave};
use wallfacer_core::target::Settings;
use wallfacer_core::world::Traced;

use super::conclude::{conclude, failure};
use super::corpus_place::CorpusArgs;
use super::drift::DriftArgs;
use super::output::{RunOutput, cannot_write};
use super::recorder::{ReportContext, RunRecorder};
use super::redaction;
use super::selection::SelectionArgs;
use super::settle::settle;
use super::store::Store;
use super::target::TargetArgs;
use super::units;
use crate::environment;
use crate::exit::{Exit, Failure, without_number};
use crate::interruption::Watch;

/// What is kept of what was seen; a server can do more than anyone has room for.
const MAX_TRACE: usize = 64 << 20;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer behave -- npx -y some-mcp-server
  wallfacer behave --out-dir seen -- node server.js  # keep every event";

/// Watch what every tool does to files, network and programs, and hold it against what it says
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(flatten)]
    pub(super) target: TargetArgs,
    /// Same seed, same calls
    #[arg(long, value_parser = units::seed, default_value_t = 0, help_heading = "Effort")]
    seed: u64,
    /// Calls of each tool, at most
    #[arg(long, value_name = "N", default_value_t = 8, help_heading = "Effort")]
    calls: usize,
    #[command(flatten)]
    selection: SelectionArgs,
    /// Keep manifest.json (what was declared) and trace.jsonl (every event with its call) in a directory
    #[arg(long, value_name = "DIR", env = "OUT_DIR", help_heading = "Output")]
    out_dir: Option<PathBuf>,
    /// List the accesses of the language runtime too
    #[arg(long, help_heading = "Output")]
    show_noise: bool,
    #[command(flatten)]
    drift: DriftArgs,
    #[command(flatten)]
    corpus: CorpusArgs,
    #[command(flatten)]
    output: RunOutput,
}

pub fn run(args: &Args, config: Option<&Path>, watch: &Watch) -> Result<Exit, Failure> {
    args.output.check()?;
    let locked = args.drift.read()?;
    let chosen = args.corpus.placed(args.target.choose(config)?);
    let redaction = redaction::of_target(chosen.connector.target());
    let store = Arc::new(Store::new(&chosen, &args.target, &args.corpus, config, &redaction)?);
    watch.hold_to(args.selection.budget);
    let options = BehaveOptions {
        command: "behave",
        started: rfc3339(SystemTime::now()),
        seed: args.seed,
        calls: args.calls,
        include: args.selection.include()?,
        exclude: args.selection.exclude()?,
        destructive: chosen.settings.destructive.clone(),
        budget: args.selection.budget,
        noise: noise(&chosen.settings)?,
        stop: watch.stop().clone(),
    };
    let mut kept = args.out_dir.as_deref().map(Kept::new).transpose()?;
    let mut keep = |name: &str, traced: &Traced| {
        if let Some(kept) = &mut kept {
            kept.take(name, traced);
        }
    };
    let listeners = args.output.listeners(&redaction)?;
    let source = chosen.source.as_ref();
    let context = ReportContext::new(
        "behave",
        &options.started,
        args.seed,
        &args.selection,
        source,
        &args.output,
        &redaction,
    );
    let mut recorder = RunRecorder::begin(&store, &chosen.settings, listeners, context, watch);
    let watched = behave(chosen.connector, &options, &mut keep, &mut recorder);
    recorder.finish(watch);
    let mut watched = watched.map_err(|error| told(error, watch).redacted(&redaction))?;
    if let Some(kept) = kept {
        let redaction = redaction.with_tokens(&watched.run.tokens);
        kept.finish(&written(&manifest(&watched.run.server, &watched.catalogue)), &redaction)?;
    }
    settle(&mut watched.run, &chosen.settings, &store, watch);
    if let Some(locked) = &locked {
        locked.hold_against(&mut watched.run, &chosen.settings, &store, &redaction);
    }
    let Behaved { run, behaviour, .. } = &watched;
    let report = Report {
        behaviour: Some(behaviour),
        show_noise: args.show_noise,
        ..Report::new(run, args.selection.severity_threshold, chosen.source)
    };
    conclude(&report, &args.output, &redaction)
}

/// Further lines of noise: those of the configuration, of the files that it names, and of the environment, where colons
/// stand between them.
pub(super) fn noise(settings: &Settings) -> Result<Vec<String>, Failure> {
    let mut lines = settings.noise.clone();
    for file in &settings.noise_files {
        let text = read_text(file, MAX_BYTES).map_err(|error| {
            let reason = error.to_string();
            let message = format!(
                "cannot read the file of noise `{}`: {}; `[behave] noise_files` names it",
                file.display(),
                without_number(&reason)
            );
            Failure { exit: Exit::Usage, message }
        })?;
        lines.extend(text.lines().map(str::to_owned));
    }
    let extra = environment::variable("WALLFACER_NOISE_EXTRA").unwrap_or_default();
    lines.extend(extra.split(':').map(str::to_owned));
    Ok(lines)
}

pub(super) fn told(error: BehaveError, watch: &Watch) -> Failure {
    match error {
        BehaveError::Fuzz(error) => failure(error, watch),
        BehaveError::Noise(error) => Failure::usage(&error),
    }
}

/// The folder that `--out-dir` names. The trace is held back to the end of the run, because only then all tokens are known
/// that the server gave.
struct Kept {
    folder: PathBuf,
    file: File,
    trace: String,
    steps: u64,
    left_out: u64,
}

impl Kept {
    fn new(folder: &Path) -> Result<Kept, Failure> {
        let shown = |path: &Path| format!("`{}`", path.display());
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(&shown(folder), &error))?;
        let path = folder.join("trace.jsonl");
        let file = File::create(&path).map_err(|error| cannot_write(&shown(&path), &error))?;
        Ok(Kept { folder: folder.to_owned(), file, trace: String::new(), steps: 0, left_out: 0 })
    }

    fn take(&mut self, name: &str, traced: &Traced) {
        self.steps += 1;
        for line in trace_lines(self.steps, name, traced) {
            let line = wallfacer_text::json(&line.to_string());
            if self.trace.len() + line.len() > MAX_TRACE {
                self.left_out += 1;
                continue;
            }
            self.trace.extend([&line, "\n"]);
        }
    }

    fn finish(mut self, manifest: &str, redaction: &Redaction) -> Result<(), Failure> {
        if self.left_out > 0 {
            self.trace.push_str(&format!("{{\"left_out\":{}}}\n", self.left_out));
        }
        let mut out = BufWriter::new(&self.file);
        let mut lines = self.trace.lines();
        let written = lines.try_for_each(|line| writeln!(out, "{}", redaction.of(line)));
        let written = written.and_then(|()| out.flush());
        let path = self.folder.join("manifest.json");
        let written = written.and_then(|()| std::fs::write(&path, redaction.of(manifest)));
        written.map_err(|error| cannot_write(&format!("`{}`", self.folder.display()), &error))
    }
}
