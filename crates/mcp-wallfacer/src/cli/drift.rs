//! Compares a run with the lock file that flags name, and tells what has changed.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use wallfacer_core::findings::Redaction;
use wallfacer_core::lock::{Direction, FILE_NAME, Lock};
use wallfacer_core::summary::{NotTested, Run};
use wallfacer_core::target::Settings;

use super::store::Store;
use crate::exit::{Exit, Failure, without_number};

#[derive(Debug, Args)]
pub struct DriftArgs {
    /// The lock file that the server is compared with [default: wallfacer.lock, where it is there]
    #[arg(long, value_name = "FILE", help_heading = "Lock")]
    lock: Option<PathBuf>,
    /// Which differences to the lock file are findings [default: widened and changed]
    #[arg(long, value_name = "WHAT", value_delimiter = ',', help_heading = "Lock")]
    fail_on: Vec<FailOn>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FailOn {
    Widened,
    Changed,
    Narrowed,
}

/// A lock file that was read, and which differences to it are findings.
#[derive(Debug)]
pub struct Locked {
    file: PathBuf,
    lock: Lock,
    failing: BTreeSet<Direction>,
}

impl DriftArgs {
    /// A file that is asked for must be there; the usual one need not. To be read before anything is started.
    pub fn read(&self) -> Result<Option<Locked>, Failure> {
        let file = self.lock.clone().unwrap_or_else(|| PathBuf::from(FILE_NAME));
        if self.lock.is_none()
            && std::fs::symlink_metadata(&file).is_err_and(|error| error.kind() == ErrorKind::NotFound)
        {
            return Ok(None);
        }
        let lock = read(&file)?;
        Ok(Some(Locked { file, lock, failing: failing(&self.fail_on) }))
    }
}

impl Locked {
    /// Adds what is other than in the file to the run.
    pub fn hold_against(&self, run: &mut Run, settings: &Settings, store: &Store, redaction: &Redaction) {
        if run.interrupted {
            // What was not seen yet would count as gone.
            let what = format!("differences to `{}`", self.file.display());
            run.not_tested.push(NotTested { what, why: "the run was interrupted".to_owned() });
            return;
        }
        run.locked = run.locked.take().map(|now| as_written(now, &redaction.with_tokens(&run.tokens)));
        let known = run.findings.len();
        run.compare_with(&self.lock, &self.failing);
        for finding in &mut run.findings[known..] {
            finding.replay = Some(store.compared_again(&self.file));
            store.complete(finding);
        }
        run.weigh(settings);
    }
}

/// A lock as its file holds it, without secrets: what is compared with the file would differ by them.
pub fn as_written(lock: Lock, redaction: &Redaction) -> Lock {
    Lock::read(&redaction.of(&lock.written())).unwrap_or(lock)
}

/// The directions that fail a comparison.
pub fn failing(asked: &[FailOn]) -> BTreeSet<Direction> {
    match asked {
        [] => BTreeSet::from([Direction::Widened, Direction::Changed]),
        asked => asked.iter().map(|each| each.direction()).collect(),
    }
}

/// The lock in a file.
pub fn read(file: &Path) -> Result<Lock, Failure> {
    let shown = file.display();
    let text = super::target::repository()?.read(file).map_err(|error| {
        let reason = error.to_string();
        let reason = without_number(&reason);
        usage(format!("cannot read the lock file `{shown}`: {reason}; `wallfacer lock` writes it"))
    })?;
    Lock::read(&text).map_err(|error| usage(format!("`{shown}` is no lock file: {error}")))
}

fn usage(message: String) -> Failure {
    Failure { exit: Exit::Usage, message }
}

impl FailOn {
    fn direction(self) -> Direction {
        match self {
            FailOn::Widened => Direction::Widened,
            FailOn::Changed => Direction::Changed,
            FailOn::Narrowed => Direction::Narrowed,
        }
    }
}
