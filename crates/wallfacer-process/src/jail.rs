//! Gives one server a world of its own, as far as it is asked for: its own files, network and processes, made of what
//! is really there, so that the server may do anything and harm nothing.
//!
//! | file | in → out |
//! |---|---|
//! | `canary` | a home and a seed → secrets that are none |
//! | `private` | the machine → homes, and places with keys |
//! | `scope` | a command line → the files and directories it names |
//! | `home` | a home directory → the parts of it that programs are installed in |
//! | `layout` | all of these, and the machine → what lies where in the jail |
//! | `plan` | the layout → steps |
//! | `operation`, `netlink` | the steps, and carrying them out in the keeper |
//! | `restraint`, `refusals` | limits → what the server gives up before its program is executed |
//! | `opener`, `passing` | an address → a socket of the jail's network |
//! | `upper`, `change` | the upper layers → what the server did to files |
//! | `meddle` | a running server → one whose disk fails |
//! | `second` | a running server → a second process of it in the same jail |
//! | `fence`, `refuge` | for machines without namespaces: Landlock, and a home elsewhere |
//! | `rungs` | what this machine allows, and what to do where it does not |
//!
//! On Linux the keeper is cloned into fresh namespaces (user, mount, process, network, IPC, host name), whose process 1
//! it is. It puts an overlay over each directory of the root: what the server writes goes to a size-limited file
//! system in memory, is read from there as if it had been written, and is gone with the server. The same user number
//! is kept, and no capability. Directories keep their rights: what the user may not write outside cannot be written
//! inside, except that the root of an overlay belongs to the user, who could change its mode and then write: which
//! harms nothing and is seen.

mod canary;
mod change;
mod confinement;
#[cfg(target_os = "linux")]
pub(crate) mod fence;
#[cfg(target_os = "linux")]
mod home;
#[cfg(target_os = "linux")]
pub(crate) mod inside;
#[cfg(target_os = "linux")]
mod layout;
#[cfg(target_os = "linux")]
pub(crate) mod meddle;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod netlink;
#[cfg(target_os = "linux")]
pub(crate) mod opener;
#[cfg(target_os = "linux")]
pub(crate) mod operation;
#[cfg(target_os = "linux")]
pub(crate) mod passing;
#[cfg(target_os = "linux")]
pub(crate) mod plan;
#[cfg(target_os = "linux")]
mod private;
#[cfg(target_os = "linux")]
mod refuge;
#[cfg(target_os = "linux")]
mod refusals;
#[cfg(target_os = "linux")]
pub(crate) mod restraint;
mod rungs;
#[cfg(target_os = "linux")]
mod scope;
#[cfg(target_os = "linux")]
pub(crate) mod second;
#[cfg(target_os = "linux")]
pub(crate) mod upper;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

pub use canary::{Canary, canaries, project_canaries};
pub use change::{Change, Changes, Effect, Entry};
pub use confinement::{Confinement, Gap, Rung};
#[cfg(target_os = "linux")]
pub use opener::Opener;
pub use rungs::{Offer, Offers, offers, rungs_from, watching};

/// The home of whoever we act as, as the user database has it: for where nothing else says.
pub fn home_of_the_user() -> Option<PathBuf> {
    #[cfg(target_os = "linux")]
    let homes = private::own_homes();
    #[cfg(not(target_os = "linux"))]
    let homes = Vec::new();
    homes.into_iter().find(|home: &PathBuf| home.is_absolute() && home.is_dir())
}

/// How a server is to be confined. Paths are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jail {
    /// Replaced in place by canaries; what programs are installed in stays readable.
    pub home: PathBuf,
    /// Decides the canaries' tokens.
    pub seed: u64,
    /// Directories and files that stay visible, without the right to write, wherever they are.
    pub readable: Vec<PathBuf>,
    /// Directories and files that stay visible and can be written to, as far as the server can tell. The working
    /// directory and what the command line names are so anyway.
    pub writable: Vec<PathBuf>,
    /// The same, and no canary takes their place; even all of the home can be kept.
    pub kept: Vec<PathBuf>,
    /// Directories that are really written to: what is left there is there afterwards.
    pub lasting: Vec<PathBuf>,
    /// Of what is really there only the system stays, what the program is loaded from, and what is listed here; not the
    /// working directory, not what the command line names, and not the caches in the home directory.
    pub bare: bool,
    /// What else is to be found in the jail, with what is above it; it takes the place of what is really there.
    pub plants: BTreeMap<PathBuf, Plant>,
    /// Variables that the server has other than they were given, where it is confined.
    pub variables: BTreeMap<OsString, OsString>,
    /// The one certificate authority that is trusted in the jail, as PEM; `None` leaves those of the system.
    pub authority: Option<Vec<u8>>,
    pub limits: Limits,
    pub network: Network,
    /// A second process of the program waits in the same jail, with the same disk and network, until
    /// [`Process::second`](crate::Process::second) opens its pipes. Only where the jail has a disk of its own.
    pub second: bool,
    /// The best rung that is tried; where the machine does not have it, the next is.
    pub best: Rung,
    /// The last rung that is tried; where the machine does not have it either, nothing is started.
    pub worst: Rung,
}

/// How the disk of a running server fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiskTrouble<'a> {
    /// Nothing more can be written.
    Full,
    /// This file, and the directory that it lies in, cannot be written to.
    ReadOnly(&'a Path),
    /// This file is gone.
    Gone(&'a Path),
    /// All is as it was, but for what is gone.
    Over,
}

/// Something that is only there in the jail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Plant {
    File { content: Vec<u8>, executable: bool },
    Directory,
    Symlink(PathBuf),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// Every address is local, and nobody listens but whom [`Opener`] lets listen.
    Sink,
    /// Loopback and nothing else.
    Deny,
    /// The machine's own network.
    Host,
}

/// What a server and all it starts may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of data, for each process; a tree that holds more than this is killed.
    pub memory_bytes: u64,
    /// Processes and threads together.
    pub processes: u32,
    /// All that is written to files.
    pub disk_bytes: u64,
}

impl Default for Limits {
    /// More than any server we know needs; far below what would hurt the machine.
    fn default() -> Self {
        Self { memory_bytes: 4 << 30, processes: 1024, disk_bytes: 1 << 30 }
    }
}

impl Jail {
    pub fn new(home: impl Into<PathBuf>, seed: u64) -> Self {
        Self {
            home: home.into(),
            seed,
            readable: Vec::new(),
            writable: Vec::new(),
            lasting: Vec::new(),
            bare: false,
            kept: Vec::new(),
            plants: BTreeMap::new(),
            variables: BTreeMap::new(),
            authority: None,
            limits: Limits::default(),
            network: Network::Sink,
            second: false,
            best: Rung::Overlay,
            worst: Rung::Unconfined,
        }
    }

    /// What is planted in the home directory, and the tokens in it. Nothing is planted over what is kept.
    pub fn canaries(&self) -> Vec<Canary> {
        let home = real(&self.home);
        let kept: Vec<PathBuf> = self.kept.iter().flat_map(|path| [path.clone(), real(path)]).collect();
        let is_kept = |canary: &Canary| {
            let name = canary.path.strip_prefix(&self.home).unwrap_or(&canary.path);
            [self.home.join(name), home.join(name)]
                .iter()
                .any(|place| kept.iter().any(|kept| place.starts_with(kept)))
        };
        canaries(&self.home, self.seed).into_iter().filter(|canary| !is_kept(canary)).collect()
    }

    /// Whether nothing of the real home is hidden.
    pub fn keeps_home(&self) -> bool {
        let home = real(&self.home);
        self.kept.iter().any(|path| real(path) == home)
    }
}

/// A path without links in it, as far as it exists.
fn real(path: &Path) -> PathBuf {
    if let Ok(path) = path.canonicalize() {
        return path;
    }
    match (path.parent(), path.components().next_back()) {
        (Some(parent), Some(Component::Normal(name))) => real(parent).join(name),
        _ => path.to_path_buf(),
    }
}
