//! How a process ended, and what it took to end its tree.

use std::time::Duration;

use crate::tree::Descendant;

/// The end of the main process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    pub status: Status,
    /// Time from the start of the program to its end.
    pub after: Duration,
    /// The most memory the main process held at once. `None` where the system does not tell, as with less than we held
    /// ourselves when it was started.
    pub max_rss_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Exited(i32),
    Signalled {
        signal: i32,
        core_dumped: bool,
    },
    /// The keeper was killed by someone else, so nobody saw the end.
    Unknown,
}

impl Status {
    /// From what `wait` gave.
    #[cfg(target_os = "linux")]
    pub(crate) fn from_wait(raw: i32) -> Self {
        if libc::WIFEXITED(raw) {
            Self::Exited(libc::WEXITSTATUS(raw))
        } else {
            Self::Signalled { signal: libc::WTERMSIG(raw), core_dumped: libc::WCOREDUMP(raw) }
        }
    }
}

/// The end of the whole tree, as [`Process::end`](crate::Process::end) brought it about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// `None` when even SIGKILL did not end the main process in time.
    pub ending: Option<Ending>,
    pub means: Means,
    /// Who was still alive after the main process had ended by [`Means::Itself`] or [`Means::Terminate`]; they have
    /// been killed since. `None` where the tree cannot be seen.
    pub left_behind: Option<Vec<Descendant>>,
    /// Who is alive even after SIGKILL. `None` where the tree cannot be seen.
    pub unkillable: Option<Vec<Descendant>>,
    /// Somebody killed the process that watches over the tree, which nobody but the server had a reason to.
    pub keeper_killed: bool,
}

/// What it took to end the main process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Means {
    /// It ended before a signal had to be sent.
    Itself,
    Terminate,
    Kill,
}
