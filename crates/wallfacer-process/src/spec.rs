//! What to run, with nothing left open.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::jail::Jail;

/// A program and the world it starts in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// A path, or a name to be found in the `PATH` of [`Spec::env`].
    pub program: OsString,
    pub args: Vec<OsString>,
    /// The whole environment: nothing of ours is added to it.
    pub env: BTreeMap<OsString, OsString>,
    /// Where the process starts, and what a relative `program` is relative to; `None` is our own directory.
    pub cwd: Option<PathBuf>,
    /// Confines the process, as far as the machine allows; `None` leaves it all the rights of the user.
    pub jail: Option<Jail>,
    /// How many of the last bytes of stderr are kept.
    pub stderr_keep: usize,
}

impl Spec {
    /// Enough of stderr for a stack trace and the lines that led to it.
    pub const STDERR_KEEP: usize = 64 * 1024;

    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            jail: None,
            stderr_keep: Self::STDERR_KEEP,
        }
    }
}
