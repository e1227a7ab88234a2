//! Where a report goes: `--format`, `-o` and the event log, the same for every command.

use std::fmt::Display;
use std::fs::File;
use std::io;
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

impl<F: ValueEnum + Send + Sync + 'static> OutputArgs<F> {
    /// Says at once what would otherwise be found out when all work is done.
    pub fn check(&self) -> Result<(), Failure> {
        self.output.iter().chain(&self.events).try_for_each(|path| check_place(path))
    }

    /// How the report looks where it goes.
    pub fn look(&self) -> Look {
        if self.output.is_some() { Look::PLAIN } else { terminal::look() }
    }

    /// Those who listen to the session: the terminal, and the log where it is wanted.
    pub fn listeners(&self, redaction: &Redaction) -> Result<Listeners, Failure> {
        let log = match &self.events {
            Some(path) => Some(Log::new(Redacted::new(create(path)?, redaction))),
            None => None,
        };
        Ok(Listeners { progress: Progress::new(), log, redaction: redaction.clone() })
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
            Event::FindingMade { id, kind, place, replaces, finding } => {
                let place = &self.redaction.of(place);
                self.progress.hear(&Event::FindingMade { id, kind, place, replaces, finding });
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
    // A pipe or a device is written to as it is. A link is replaced, for it may lead to a file that is not ours.
    let is_other = |there: std::fs::Metadata| !there.is_file() && !there.is_symlink();
    if std::fs::symlink_metadata(path).is_ok_and(is_other) {
        return std::fs::write(path, text);
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
