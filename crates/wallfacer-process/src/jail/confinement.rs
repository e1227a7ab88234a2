//! What really holds a server.

use std::fmt;
use std::path::PathBuf;

/// How far a server is confined, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// Namespaces, and writes that go nowhere but are seen.
    Overlay,
    /// Namespaces; whatever is not the server's own scratch cannot be written.
    ReadOnly,
    /// Landlock: the server reads and writes what it is given and nothing else, and reaches no network. What is
    /// refused is refused, so a server may not work. Canaries lie in a home elsewhere.
    Fence,
    /// Nothing but a home with canaries elsewhere: the server has all the rights of the user, and need not believe
    /// what its environment says.
    OtherHome,
    /// Nothing: the server has all the rights of the user.
    Unconfined,
}

impl fmt::Display for Rung {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Overlay => "namespaces with an overlay",
            Self::ReadOnly => "namespaces, read-only",
            Self::Fence => "Landlock, with another home",
            Self::OtherHome => "another home, not confined",
            Self::Unconfined => "not confined",
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    pub rung: Rung,
    /// Directories of the root that can be read and not be written, because they have other mounts below them or the
    /// kernel allows no overlay of them. Sockets of others can be reached in them.
    pub read_only: Vec<PathBuf>,
    /// Plants and canaries that could not be placed.
    pub unplanted: Vec<PathBuf>,
    /// Where the canaries lie; `None` when there are none.
    pub home: Option<PathBuf>,
    /// Why the rungs above this one do not hold; empty on the first.
    pub why: Vec<String>,
}

impl Confinement {
    pub(crate) fn none() -> Self {
        Self {
            rung: Rung::Unconfined,
            read_only: Vec::new(),
            unplanted: Vec::new(),
            home: None,
            why: Vec::new(),
        }
    }
}
