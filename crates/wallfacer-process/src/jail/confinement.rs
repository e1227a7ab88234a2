//! Tells which means of confinement really hold a server.

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

/// Something that a rung does not keep a server from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gap {
    Everything,
    HostNetwork,
    NamelessSockets,
    Signals,
    ModesChanged,
    ProcessesSeen,
    FilesAsked,
    FilesLocked,
    DevicesRead,
    DiskFilled,
    /// Directories that are shown as they are.
    Pipes(Vec<PathBuf>),
}

impl Gap {
    /// Whether a server gets out through it, so that one cannot say that it is confined. The machine's own network is only
    /// open to one for which that was wished.
    pub fn is_way_out(&self) -> bool {
        matches!(self, Self::Everything | Self::NamelessSockets | Self::Signals | Self::ModesChanged)
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Everything => "it has all the rights of the user: files, network and processes",
            Self::HostNetwork => "it reaches the machine's own network",
            Self::NamelessSockets => {
                "it reaches Unix sockets that have no path: Landlock prevents that since Linux 6.12"
            }
            Self::ModesChanged => "it can change the modes, owners and times of the user's files",
            Self::Signals => {
                "it can signal other processes of the user: Landlock prevents that since Linux 6.12"
            }
            Self::ProcessesSeen => "it sees the other processes of the machine, and their command lines",
            Self::FilesAsked => {
                "it can ask whether any file is there, how large it is and when it was changed"
            }
            Self::FilesLocked => "it can lock files that it may read, as long as it runs",
            Self::DevicesRead => "it can read device nodes outside of /dev, where it may read at all",
            Self::DiskFilled => "each file that it writes is limited, but not how many there are",
            Self::Pipes(directories) => {
                let names: Vec<_> = directories.iter().map(|path| path.display().to_string()).collect();
                return write!(
                    formatter,
                    "it can open named pipes in {}: no overlay of that could be made",
                    names.join(", ")
                );
            }
        })
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confinement {
    pub rung: Rung,
    /// Directories that are shown as they are, without the right to write, because no overlay of them can be had. No socket
    /// in them can be reached.
    pub bound: Vec<PathBuf>,
    /// What the server can do all the same.
    pub gaps: Vec<Gap>,
    /// Plants and canaries that could not be placed.
    pub unplanted: Vec<PathBuf>,
    /// Where the canaries lie; `None` when there are none.
    pub home: Option<PathBuf>,
    /// Why the rungs above this one do not hold; empty on the first.
    pub why: Vec<String>,
}

impl Confinement {
    /// Whether the server is kept from what is none of its business.
    pub fn is_confining(&self) -> bool {
        !self.gaps.iter().any(Gap::is_way_out)
    }

    pub(crate) fn none() -> Self {
        Self {
            rung: Rung::Unconfined,
            bound: Vec::new(),
            gaps: vec![Gap::Everything],
            unplanted: Vec::new(),
            home: None,
            why: Vec::new(),
        }
    }
}
