//! Where a report goes: `--format`, `-o` and the event log, the same for every command.

use std::fmt::Display;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::Redaction;
use wallfacer_core::log::Log;
use wallfacer_core::report::{self, Look};
use wallfacer_text::page;

use super::redaction::Redacted;
use crate::environment;
use crate::exit::{Exit, Failure, without_number};
use crate::terminal::{self, Progress};

#[derive(Debug, Clone, Args)]
pub struct OutputArgs<F: ValueEnum + Send + Sync + 'static = Format> {
    /// The form of the report
    #[arg(long, value_enum, default_value = "human", help_heading = "Output")]
    pub format: F,
    /// Write the report to a file
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Write what happens, as it happens, to a file: one JSON object a line
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub events: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Human,
    Json,
}

/// The formats of the report of a run that tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunFormat(pub report::Format);

impl ValueEnum for RunFormat {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<RunFormat>> =
            LazyLock::new(|| report::Format::ALL.iter().copied().map(RunFormat).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()))
    }
}

/// Where the reports of a run that tests go.
#[derive(Debug, Clone, Args)]
pub struct RunOutput {
    #[command(flatten)]
    main: OutputArgs<RunFormat>,
    /// Write another report beside the main one, to a file or to standard output; can be given several times
    #[arg(long, value_name = "FORMAT[=FILE]", value_parser = Wanted::read, help_heading = "Output")]
    report: Vec<Wanted>,
    /// Do not keep the run for `wallfacer report`
    #[arg(long, help_heading = "Output")]
    pub no_record: bool,
}

impl Deref for RunOutput {
    type Target = OutputArgs<RunFormat>;

    fn deref(&self) -> &OutputArgs<RunFormat> {
        &self.main
    }
}

/// A report that is wanted beside the main one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    pub format: report::Format,
    pub file: Option<PathBuf>,
}

impl Wanted {
    /// `sarif=report.sarif`, or `github` for standard output.
    fn read(text: &str) -> Result<Wanted, String> {
        let (name, file) = match text.split_once('=') {
            Some((name, file)) => (name, Some(PathBuf::from(file))),
            None => (text, None),
        };
        let format = report::Format::ALL.iter().copied().find(|format| format.name() == name);
        let names = || report::Format::ALL.iter().map(|format| format.name()).collect::<Vec<_>>().join(", ");
        let format = format.ok_or_else(|| format!("there is no format `{name}`; there are {}", names()))?;
        if file.as_ref().is_some_and(|file| file.as_os_str().is_empty()) {
            return Err(format!("name a file behind the `=`, as in `{name}=FILE`"));
        }
        Ok(Wanted { format, file })
    }

    /// The file that GitHub Actions shows as the summary of the job, where this report goes there.
    fn summary(&self) -> Option<PathBuf> {
        let summary = environment::variable(STEP_SUMMARY).filter(|path| !path.is_empty());
        summary.filter(|_| self.format == report::Format::Markdown && self.file.is_none()).map(PathBuf::from)
    }
}

/// Names the file for the summary of a job in GitHub Actions.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// GitHub drops a summary that is longer.
const LONGEST_SUMMARY: u64 = 1024 * 1024;

impl RunOutput {
    /// Says at once what would otherwise be found out when all work is done.
    pub fn check(&self) -> Result<(), Failure> {
        self.main.check()?;
        self.report.iter().filter_map(|wanted| wanted.file.as_deref()).try_for_each(check_place)?;
        let beside = self.report.iter().filter(|wanted| wanted.file.is_none() && wanted.summary().is_none());
        let main = self.main.output.is_none().then_some(self.main.format.0);
        let printed: Vec<report::Format> =
            main.into_iter().chain(beside.map(|wanted| wanted.format)).collect();
        match printed.iter().find(|format| format.is_document()) {
            Some(format) if printed.len() > 1 => {
                let name = format.name();
                let message = format!(
                    "two reports would be mixed on standard output; give one a file: `--report {name}=FILE`"
                );
                Err(Failure { exit: Exit::Usage, message })
            }
            _ => Ok(()),
        }
    }

    /// Whether reports are wanted beside the main one.
    pub fn has_more(&self) -> bool {
        !self.report.is_empty()
    }

    /// Hands over every report that is wanted; `write` makes one.
    pub fn deliver_all(&self, write: &dyn Fn(report::Format, Look) -> String) -> Result<(), Failure> {
        self.main.deliver_as(self.main.format.0, &write(self.main.format.0, self.main.look()))?;
        for wanted in &self.report {
            let text = |look| write(wanted.format, look);
            match (&wanted.file, wanted.summary()) {
                (Some(file), _) => save(file, &text(Look::PLAIN), wanted.format)?,
                (None, Some(summary)) => append(&summary, &text(Look::PLAIN))?,
                (None, None) => print_as(wanted.format, &text(terminal::look()))?,
            }
        }
        Ok(())
    }
}

/// Adds to the summary of a job as much as there is room for.
fn append(path: &Path, text: &str) -> Result<(), Failure> {
    let there = std::fs::metadata(path).map_or(0, |file| file.len());
    let text = page(text, &[]);
    let fits = there + text.len() as u64 <= LONGEST_SUMMARY;
    let text = if fits { text } else { text.lines().take(1).map(|line| format!("{line}\n")).collect() };
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let written = file.and_then(|mut file| io::Write::write_all(&mut file, text.as_bytes()));
    written.map_err(|error| cannot_write(&quoted(path), &error))
}

fn save(path: &Path, text: &str, format: report::Format) -> Result<(), Failure> {
    let text = page(text, format.commands());
    std::fs::write(path, text).map_err(|error| cannot_write(&quoted(path), &error))
}

fn print_as(format: report::Format, text: &str) -> Result<(), Failure> {
    let ours: Vec<&str> = terminal::look().codes().iter().chain(format.commands()).copied().collect();
    terminal::print(&page(text, &ours)).map_err(|error| cannot_write("to standard output", &error))
}

impl<F: ValueEnum + Send + Sync + 'static> OutputArgs<F> {
    /// Says at once what would otherwise be found out when all work is done.
    pub fn check(&self) -> Result<(), Failure> {
        self.output.iter().chain(&self.events).try_for_each(|path| check_place(path))
    }

    /// How the report looks where it goes.
    pub fn look(&self) -> Look {
        if self.output.is_some() { Look::PLAIN.with_detail(terminal::detail()) } else { terminal::look() }
    }

    /// Those who listen to the session: the terminal, and the log where it is wanted.
    pub fn listeners(&self, redaction: &Redaction) -> Result<Listeners, Failure> {
        let log = match &self.events {
            Some(path) => Some(Log::new(Redacted::new(create(path)?, redaction))),
            None => None,
        };
        Ok(Listeners { progress: Progress::new(), log, redaction: redaction.clone() })
    }

    /// Hands over a report of this format.
    pub fn deliver_as(&self, format: report::Format, text: &str) -> Result<(), Failure> {
        match &self.output {
            Some(path) => save(path, text, format),
            None => print_as(format, text),
        }
    }

    /// Hands the report over.
    pub fn deliver(&self, text: &str) -> Result<Exit, Failure> {
        match &self.output {
            Some(path) => std::fs::write(path, page(text, &[]))
                .map(|()| Exit::Clean)
                .map_err(|error| cannot_write(&quoted(path), &error)),
            None => print(text),
        }
    }
}

#[derive(Debug)]
pub struct Listeners {
    progress: Progress,
    log: Option<Log<Redacted<File>>>,
    redaction: Redaction,
}

impl Listeners {
    /// Clears the terminal, and says if the log is not whole.
    pub fn finish(self) {
        drop(self.progress);
        if let Some(Err(error)) = self.log.map(Log::finish) {
            terminal::note(&format!("the event log is not complete: {error}"));
        }
    }
}

impl Listener for Listeners {
    fn hear(&mut self, event: &Event<'_>) {
        match event {
            // A server may call a tool by a secret.
            Event::FindingMade { kind, place, replaces, finding, .. } => {
                let (place, message) = (self.redaction.of(place), self.redaction.of(&finding.message));
                let severity = finding.severity.as_str();
                self.progress.tell(&format!("{severity} {kind} in {place}: {message}"), replaces.len());
            }
            other => self.progress.hear(other),
        }
        if let Some(log) = &mut self.log {
            log.hear(event);
        }
    }
}

/// Prints a report to stdout.
pub fn print(text: &str) -> Result<Exit, Failure> {
    let text = page(text, terminal::look().codes());
    terminal::print(&text).map(|()| Exit::Clean).map_err(|error| cannot_write("to standard output", &error))
}

fn create(path: &Path) -> Result<File, Failure> {
    File::create(path).map_err(|error| cannot_write(&quoted(path), &error))
}

/// Writes a file that is there as a whole or not at all, whenever the command is ended.
pub fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    // A link is replaced, for it may lead to a file that is not ours. A pipe would keep us waiting.
    let is_other = |there: std::fs::Metadata| !there.is_file() && !there.is_symlink();
    if std::fs::symlink_metadata(path).is_ok_and(is_other) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let placed = std::fs::write(&temporary, text).and_then(|()| std::fs::rename(&temporary, path));
    placed.inspect_err(|_| drop(std::fs::remove_file(&temporary)))
}

fn check_place(path: &Path) -> Result<(), Failure> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.is_dir() {
        return Err(cannot_write(&quoted(path), &"it is a directory; name a file in it"));
    }
    if !directory.is_dir() {
        let reason = format!("there is no directory {}; make it first", quoted(directory));
        return Err(cannot_write(&quoted(path), &reason));
    }
    Ok(())
}

fn quoted(path: &Path) -> String {
    format!("`{}`", path.display())
}

pub fn cannot_write(what: &str, reason: &dyn Display) -> Failure {
    let message = format!("cannot write {what}: {reason}");
    Failure { exit: Exit::Usage, message: without_number(&message).to_owned() }
}
