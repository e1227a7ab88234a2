//! Paths in, a Landlock ruleset out: for machines that give no namespaces. Made before the fork, applied after it.
//!
//! It refuses rather than redirects: what is not listed can neither be read nor written, and TCP and UDP are refused.
//! It cannot keep the server from Unix sockets that have a path, nor from asking whether a file is there.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::Network;
use super::operation::Operation;

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

#[repr(C, packed)]
struct Rule {
    allowed: u64,
    place: i32,
}

#[derive(Debug)]
pub(crate) struct Fence {
    ruleset: OwnedFd,
    /// All rights there are.
    rights: u64,
}

impl Fence {
    pub(crate) fn new(readable: &[PathBuf], writable: &[PathBuf], network: Network) -> io::Result<Self> {
        // SAFETY: without attributes the call gives the version.
        let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0, 0, ASK_VERSION) };
        if version < 1 {
            return Err(io::Error::last_os_error());
        }
        let files = match version {
            1 => (1 << 13) - 1,
            2 => (1 << 14) - 1,
            3 | 4 => (1 << 15) - 1,
            _ => (1 << 16) - 1,
        };
        let fenced = network != Network::Host;
        let ruleset = Ruleset {
            files,
            network: if fenced && version >= 4 { TCP } else { 0 },
            scopes: if version >= 6 { SCOPES } else { 0 },
        };
        // Each version knows a longer structure than the one before.
        let length = match version {
            ..4 => 8,
            4 | 5 => 16,
            _ => size_of_val(&ruleset),
        };
        // SAFETY: the structure is at least as long as the length says; the new descriptor is ours alone.
        let ruleset = unsafe {
            let made = libc::syscall(libc::SYS_landlock_create_ruleset, &raw const ruleset, length, 0)
                as libc::c_int;
            if made < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(made)
        };
        let fence = Self { ruleset, rights: files };
        for path in readable {
            fence.allow(path, READ & files)?;
        }
        for path in writable {
            fence.allow(path, files)?;
        }
        Ok(fence)
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
