//! Confines a server with Landlock on machines that give no namespaces. The ruleset is made before the fork and applied
//! after it.
//!
//! It refuses rather than redirects: what is not listed can neither be read nor written, and TCP is refused. What it
//! cannot keep the server from, [`Refusals`](super::refusals::Refusals) does: UDP, Unix sockets and what has no path.
//! What neither does is told as a [`Gap`].

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::ptr;

use super::operation::Operation;
use super::refusals::Internet;
use super::{Gap, Network};

/// Rights to files: execute, write, read, list; from 1 << 4 on, making and removing; the last ones came later.
const EXECUTE: u64 = 1;
const WRITE_FILE: u64 = 1 << 1;
const READ_FILE: u64 = 1 << 2;
const READ_DIRECTORY: u64 = 1 << 3;
const TRUNCATE: u64 = 1 << 14;
const DEVICE_COMMANDS: u64 = 1 << 15;
const READ: u64 = EXECUTE | READ_FILE | READ_DIRECTORY;
/// What can be granted on a file that is no directory.
const OF_FILES: u64 = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | DEVICE_COMMANDS;

/// Binding and connecting TCP, since version 4.
const TCP: u64 = 0b11;

/// Abstract Unix sockets and signals of others, since version 6.
const SCOPES: u64 = 0b11;

/// `landlock_create_ruleset` gives the version of the interface.
const ASK_VERSION: u32 = 1;

/// A rule for a file and all beneath it.
const PATH_BENEATH: u32 = 1;

#[repr(C)]
#[derive(Default)]
struct Ruleset {
    files: u64,
    network: u64,
    scopes: u64,
}

impl Ruleset {
    fn make(&self, version: libc::c_long) -> io::Result<OwnedFd> {
        // Each version knows a longer structure than the one before.
        let length = match version {
            ..4 => 8,
            4 | 5 => 16,
            _ => size_of_val(self),
        };
        // SAFETY: the structure is at least as long as the length says; the new descriptor is ours alone.
        unsafe {
            let made = libc::syscall(libc::SYS_landlock_create_ruleset, ptr::from_ref(self), length, 0);
            if made < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(OwnedFd::from_raw_fd(made as libc::c_int))
        }
    }
}

fn version() -> io::Result<libc::c_long> {
    // SAFETY: without attributes the call gives the version.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0, 0, ASK_VERSION) };
    if version < 1 { Err(io::Error::last_os_error()) } else { Ok(version) }
}

#[repr(C, packed)]
struct Rule {
    allowed: u64,
    place: i32,
}

/// The versions that can keep from TCP, and from signals.
const KNOWS_TCP: libc::c_long = 4;
const KNOWS_SIGNALS: libc::c_long = 6;

#[derive(Debug)]
pub(crate) struct Fence {
    ruleset: OwnedFd,
    /// All rights there are.
    rights: u64,
    version: libc::c_long,
    network: Network,
}

impl Fence {
    pub(crate) fn new(readable: &[PathBuf], writable: &[PathBuf], network: Network) -> io::Result<Self> {
        let version = version()?;
        let files = match version {
            1 => (1 << 13) - 1,
            2 => (1 << 14) - 1,
            3 | 4 => (1 << 15) - 1,
            _ => (1 << 16) - 1,
        };
        let fenced = network != Network::Host;
        let ruleset = Ruleset {
            files,
            network: if fenced && version >= KNOWS_TCP { TCP } else { 0 },
            scopes: if version >= KNOWS_SIGNALS { SCOPES } else { 0 },
        };
        let fence = Self { ruleset: ruleset.make(version)?, rights: files, version, network };
        for path in readable {
            fence.allow(path, READ & files)?;
        }
        for path in writable {
            fence.allow(path, files)?;
        }
        Ok(fence)
    }

    /// For a server that shares the machine's network, and with it Unix sockets that have no path: it is kept from those.
    /// `None` where the kernel has no such fence.
    pub(crate) fn around_sockets() -> Option<Self> {
        let version = version().ok().filter(|version| *version >= KNOWS_SIGNALS)?;
        let ruleset = Ruleset { scopes: SCOPES, ..Ruleset::default() };
        Some(Self { ruleset: ruleset.make(version).ok()?, rights: 0, version, network: Network::Host })
    }

    /// What of the internet must be refused by other means.
    pub(crate) fn internet(&self) -> Internet {
        match self.network {
            Network::Host => Internet::Open,
            _ if self.version >= KNOWS_TCP => Internet::StreamsOnly,
            _ => Internet::Refused,
        }
    }

    /// What the server can do all the same.
    pub(crate) fn gaps(&self) -> Vec<Gap> {
        let host = (self.network == Network::Host).then_some(Gap::HostNetwork);
        let signals = (self.version < KNOWS_SIGNALS).then_some(Gap::Signals);
        let always =
            [Gap::ProcessesSeen, Gap::FilesAsked, Gap::FilesLocked, Gap::DevicesRead, Gap::DiskFilled];
        host.into_iter().chain(signals).chain(always).collect()
    }

    /// What is not there needs no right.
    fn allow(&self, path: &Path, rights: u64) -> io::Result<()> {
        let Ok(place) = File::options().read(true).custom_flags(libc::O_PATH).open(path) else {
            return Ok(());
        };
        let rights = if place.metadata()?.is_dir() { rights } else { rights & OF_FILES };
        add(self.ruleset.as_raw_fd(), place.as_raw_fd(), rights).map_err(io::Error::from_raw_os_error)
    }

    /// The step that gives all rights to a directory which is not there yet.
    pub(crate) fn grant(&self, directory: &CStr) -> Operation {
        Operation::Grant { fence: self.descriptor(), path: directory.into(), rights: self.rights }
    }

    /// Goes behind the fence for good. Runs after a fork: no allocation, no locks.
    ///
    /// # Safety
    /// Runs in a fresh process that has given up new rights, right before `execve`.
    pub(crate) unsafe fn apply(&self) -> Result<(), i32> {
        // SAFETY: the call takes no pointers.
        check(unsafe { libc::syscall(libc::SYS_landlock_restrict_self, self.ruleset.as_raw_fd(), 0) })
    }

    pub(crate) fn descriptor(&self) -> RawFd {
        self.ruleset.as_raw_fd()
    }
}

/// Runs after a fork: no allocation, no locks.
///
/// # Safety
/// The ruleset is open.
pub(crate) unsafe fn grant(ruleset: RawFd, directory: &CStr, rights: u64) -> Result<(), i32> {
    // SAFETY: the path is a C string, and the descriptor is ours.
    unsafe {
        let place = libc::open(directory.as_ptr(), libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC);
        check(place.into())?;
        let added = add(ruleset, place, rights);
        libc::close(place);
        added
    }
}

fn add(ruleset: RawFd, place: RawFd, rights: u64) -> Result<(), i32> {
    let rule = Rule { allowed: rights, place };
    // SAFETY: the rule is laid out as the kernel takes it.
    check(unsafe { libc::syscall(libc::SYS_landlock_add_rule, ruleset, PATH_BENEATH, &raw const rule, 0) })
}

fn check(result: libc::c_long) -> Result<(), i32> {
    // SAFETY: the address is that of this thread's own number.
    if result < 0 { Err(unsafe { *libc::__errno_location() }) } else { Ok(()) }
}
