//! The effect by which an injection is proven. It stands in the case, so that a stored case can be judged without the
//! run it came from.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Injection {
    /// The argument, as a JSON pointer.
    pub at: String,
    /// How it is tried, in a few words.
    pub way: String,
    pub aim: Aim,
    /// Whether the network refuses everything: some code is reached only then.
    #[serde(default)]
    pub offline: bool,
    /// Whether the first call asks for the same openly. Where that has the effect too, nothing was got around.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub openly_first: bool,
    /// Whether the argument is a name by its own words and those of its tool, and nobody means a whole path by it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_name: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Aim {
    /// A program of ours is executed.
    Execute { program: String },
    /// A text of ours becomes an option of a program, or makes this file appear.
    Pass { option: String, file: PathBuf },
    /// A file or directory outside a scope is opened or changed, or what it holds comes back.
    Reach {
        escape: Escape,
        scope: PathBuf,
        /// Whether the scope was declared, rather than just being where the server was started.
        declared: bool,
        outside: PathBuf,
        /// Stands in every text that leads there, and in no other.
        name: String,
        token: String,
    },
    /// An address that begins with a scheme of ours is handed to another program.
    Hand { address: String },
    /// One of these inner addresses is connected to.
    Connect {
        addresses: Vec<SocketAddr>,
        /// Whether to connect to what it is told is the tool's job.
        meant: bool,
    },
    /// A tool that is only to read, as it says itself or as the settings of its server say, changes something.
    Change {
        /// Files that it changes anyway do not count.
        known: Vec<PathBuf>,
        /// What a later call shows where it was changed; it stands in no call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        shows: Option<String>,
        /// A new file that only the change creates; other new files may be caches.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        makes: Option<PathBuf>,
    },
    /// A tool that is in no list answers. The first call asks for a name that nobody has.
    Hidden {
        tool: String,
        /// Whether it was seen in the list of a server that nothing was taken away from.
        taken_away: bool,
    },
    /// Each call asks twice as much as the one before; time or memory grow faster than that.
    Grow,
    /// Each call sends something small that unpacks to twice as much as the one before, and the server holds all of it.
    Inflate,
}

/// How a scope is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Escape {
    /// A path that leads out of it.
    Outside,
    /// A directory beside it whose name begins with its name.
    Prefix,
    /// A link within it that points out.
    Symlink,
    /// Steps up from a directory of the server's own, where a whole path does not lead out.
    Relative,
    /// The address of a file, for a tool that fetches pages.
    Address,
}

impl Injection {
    /// What leads out of this directory counts from now on.
    pub fn declare(&mut self, stated: &Path) {
        if let Aim::Reach { scope, declared, .. } = &mut self.aim {
            *declared |= scope == stated;
        }
    }

    /// The argument of the call that its place lies in.
    pub fn argument(&self) -> &str {
        top(&self.at)
    }
}

/// The first key of a pointer.
pub fn top(at: &str) -> &str {
    at.trim_start_matches('/').split('/').next().unwrap_or_default()
}

impl Aim {
    /// Whether what it takes is measured, rather than what is done.
    pub fn is_measured(&self) -> bool {
        matches!(self, Aim::Grow | Aim::Inflate)
    }

    /// What sort of injection it is; a part of what makes two findings one.
    pub fn class(&self) -> &'static str {
        match self {
            Aim::Execute { .. } => "command",
            Aim::Pass { .. } => "option",
            Aim::Reach { escape: Escape::Outside | Escape::Relative | Escape::Address, .. } => "path",
            Aim::Reach { escape: Escape::Prefix, .. } => "path prefix",
            Aim::Reach { escape: Escape::Symlink, .. } => "symlink",
            Aim::Hand { .. } => "scheme",
            Aim::Connect { .. } => "request",
            Aim::Change { .. } => "statement",
            Aim::Hidden { .. } => "hidden tool",
            Aim::Grow => "growth",
            Aim::Inflate => "inflation",
        }
    }
}
