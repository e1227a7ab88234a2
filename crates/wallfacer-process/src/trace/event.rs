//! What a task of the target did: the nouns of the record.

use std::ffi::{OsStr, OsString};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Instant;

use super::question::Question;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When the call was made.
    pub at: Instant,
    /// The process, as our own pid namespace numbers it.
    pub pid: u32,
    /// The thread of it.
    pub tid: u32,
    /// The call in flight when this was asked for; `None`: none was, so it happened in the background.
    pub call: Option<u64>,
    pub kind: Kind,
    pub outcome: Outcome,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded; the value is what the call gave back.
    Done(i64),
    /// The kernel said no, with this `errno`.
    Failed(i32),
    /// We said no, with this `errno`; the kernel was never asked.
    Refused(i32),
    /// It has not come back: it still waits, or the task was killed while it did.
    Unfinished,
}

impl Outcome {
    /// What was named is not there.
    pub fn was_missing(self) -> bool {
        self == Self::Failed(libc::ENOENT)
    }

    pub fn succeeded(self) -> bool {
        matches!(self, Self::Done(_))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    Open {
        location: Location,
        access: Access,
    },
    /// `stat`, `access` or `readlink`, where the filter was made to watch them: only one that failed is recorded.
    Look {
        location: Location,
    },
    Unlink {
        location: Location,
    },
    Rename {
        from: Location,
        to: Location,
    },
    MakeDirectory {
        location: Location,
    },
    RemoveDirectory {
        location: Location,
    },
    Link {
        from: Location,
        to: Location,
    },
    /// `target` is only a text: nobody has resolved it yet.
    Symlink {
        target: OsString,
        location: Location,
    },
    MakeNode {
        location: Location,
        mode: u32,
    },
    ChangeMode {
        location: Location,
        mode: u32,
    },
    ChangeOwner {
        location: Location,
        user: u32,
        group: u32,
    },
    ChangeAttribute {
        location: Location,
        name: OsString,
    },
    Truncate {
        location: Location,
        length: u64,
    },
    /// A file without a name, in memory: from it a program can be run that was never on disk.
    MemoryFile {
        name: OsString,
    },
    /// `address` is what was asked for; `peer`, where known, whom the socket is connected to after the call.
    Connect {
        address: Address,
        peer: Option<Address>,
        socket: Option<Socket>,
    },
    Bind {
        address: Address,
        socket: Option<Socket>,
    },
    Listen {
        address: Option<Address>,
        socket: Option<Socket>,
    },
    /// `sendto`, `sendmsg`, `sendmmsg`; and `write` to a datagram socket, where the filter was made to watch it.
    Send {
        socket: Option<Socket>,
        messages: Vec<Message>,
    },
    Execute(Program),
    /// A new process, not a new thread.
    Fork {
        child: u32,
    },
    /// The process ended: the status as `wait` gives it.
    Exit {
        status: i32,
    },
    /// A call that reaches into the system or into other processes (`mount`, `ptrace`, `io_uring_setup` …).
    System {
        name: &'static str,
    },
}

/// A file, as it was asked for and as it was found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Location {
    /// The bytes in the call; `None` when they could not be read, or when the call named a descriptor instead.
    pub asked: Option<OsString>,
    /// What a relative path is relative to.
    pub base: Option<OsString>,
    /// The kernel's own answer after the call, through all links; `None` when there is none.
    pub resolved: Option<OsString>,
}

impl Location {
    /// The best that is known: resolved, or else as asked, made absolute. Empty when nothing is known.
    pub fn path(&self) -> PathBuf {
        if let Some(resolved) = &self.resolved {
            return PathBuf::from(resolved);
        }
        let base = PathBuf::from(self.base.as_deref().unwrap_or(OsStr::new("")));
        match &self.asked {
            Some(asked) if !asked.is_empty() => base.join(asked),
            _ => base,
        }
    }
}

/// What an open file may be used for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Access {
    pub read: bool,
    pub write: bool,
    /// Makes the file if it is not there.
    pub create: bool,
    /// Makes the file, and fails if it is there.
    pub exclusive: bool,
    /// Empties the file.
    pub truncate: bool,
    /// Opens a directory, or nothing.
    pub directory: bool,
    /// Neither reads nor writes: a handle on the place.
    pub place_only: bool,
    /// The flags of the call.
    pub flags: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Inet(SocketAddr),
    /// A Unix socket in the file system.
    Unix(Location),
    /// A Unix socket in the abstract name space of the network.
    Abstract(OsString),
    /// No address: ends an association, or asks the system to choose.
    Unspecified,
    /// Another family, such as netlink.
    Other(u16),
    Unreadable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Socket {
    pub family: Family,
    pub transport: Transport,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Inet,
    Inet6,
    Unix,
    Other(u16),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Stream,
    /// To connect such a socket sends nothing.
    Datagram,
    Raw,
    Other(u16),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The address it names, or the one its socket is connected to; `None` when neither is known.
    pub to: Option<Address>,
    /// The message itself names `to`.
    pub addressed: bool,
    /// The first bytes.
    pub bytes: Vec<u8>,
    pub length: u64,
    /// The name that a DNS message asks for.
    pub question: Option<Question>,
}

/// A program to execute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    pub location: Location,
    /// As asked for.
    pub arguments: Vec<OsString>,
    /// There were more arguments, or longer ones, than are kept.
    pub cut: bool,
    /// What runs since; `None` unless the call succeeded.
    pub image: Option<Image>,
}

/// A program that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The file; for a script, its interpreter. `/memfd:… (deleted)` for one that is only in memory.
    pub file: Option<OsString>,
    /// The first of its arguments as the kernel handed them over, with those of the `#!` line.
    pub arguments: Vec<OsString>,
}

impl Event {
    /// About how much memory it holds.
    pub(super) fn weight(&self) -> usize {
        size_of::<Self>().saturating_add(self.kind.weight())
    }
}

impl Kind {
    fn weight(&self) -> usize {
        match self {
            Self::Open { location, .. }
            | Self::Look { location }
            | Self::Unlink { location }
            | Self::MakeDirectory { location }
            | Self::RemoveDirectory { location }
            | Self::MakeNode { location, .. }
            | Self::ChangeMode { location, .. }
            | Self::ChangeOwner { location, .. }
            | Self::Truncate { location, .. } => location.weight(),
            Self::Rename { from, to } | Self::Link { from, to } => from.weight() + to.weight(),
            Self::Symlink { target: text, location } | Self::ChangeAttribute { name: text, location } => {
                text.len() + location.weight()
            }
            Self::MemoryFile { name } => name.len(),
            Self::Connect { address, peer, .. } => {
                address.weight() + peer.as_ref().map_or(0, Address::weight)
            }
            Self::Bind { address, .. } => address.weight(),
            Self::Listen { address, .. } => address.as_ref().map_or(0, Address::weight),
            Self::Send { messages, .. } => messages.iter().map(Message::weight).sum(),
            Self::Execute(program) => program.weight(),
            Self::Fork { .. } | Self::Exit { .. } | Self::System { .. } => 0,
        }
    }

    /// The files that it names.
    pub(super) fn locations(&mut self) -> [Option<&mut Location>; 2] {
        match self {
            Self::Open { location, .. }
            | Self::Unlink { location }
            | Self::MakeDirectory { location }
            | Self::RemoveDirectory { location }
            | Self::MakeNode { location, .. }
            | Self::ChangeMode { location, .. }
            | Self::ChangeOwner { location, .. }
            | Self::ChangeAttribute { location, .. }
            | Self::Truncate { location, .. }
            | Self::Symlink { location, .. }
            | Self::Connect { address: Address::Unix(location), .. }
            | Self::Bind { address: Address::Unix(location), .. } => [Some(location), None],
            Self::Rename { from, to } | Self::Link { from, to } => [Some(from), Some(to)],
            Self::Execute(program) => [Some(&mut program.location), None],
            _ => [None, None],
        }
    }
}

impl Location {
    fn weight(&self) -> usize {
        [&self.asked, &self.base, &self.resolved].into_iter().flatten().map(|text| text.len()).sum()
    }
}

impl Address {
    fn weight(&self) -> usize {
        match self {
            Self::Unix(location) => location.weight(),
            Self::Abstract(name) => name.len(),
            Self::Inet(_) | Self::Unspecified | Self::Other(_) | Self::Unreadable => 0,
        }
    }
}

impl Message {
    fn weight(&self) -> usize {
        size_of::<Self>()
            + self.bytes.len()
            + self.to.as_ref().map_or(0, Address::weight)
            + self.question.as_ref().map_or(0, |question| question.name.len())
    }
}

impl Program {
    fn weight(&self) -> usize {
        let running = self.image.iter().flat_map(|image| image.arguments.iter().chain(&image.file));
        let texts = self.arguments.iter().chain(running);
        texts.map(|text| text.len() + size_of::<OsString>()).sum::<usize>() + self.location.weight()
    }
}
