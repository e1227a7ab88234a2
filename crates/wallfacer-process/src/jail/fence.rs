//! Paths in, a Landlock ruleset out: for machines that give no namespaces. Made before the fork, applied after it.
//!
//! It refuses rather than redirects: what is not listed can neither be read nor written, and TCP and UDP are refused.
//! It cannot keep the server from Unix sockets that have a path, nor from asking whether a file is there.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::Network;

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
    /// Refuses the sockets that Landlock does not know of.
    filter: Option<Vec<libc::sock_filter>>,
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
        let fence = Self { ruleset, filter: fenced.then(no_datagrams).flatten() };
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
        let rule = Rule { allowed: rights, place: place.as_raw_fd() };
        // SAFETY: the rule is laid out as the kernel takes it.
        let added = unsafe {
            libc::syscall(
                libc::SYS_landlock_add_rule,
                self.ruleset.as_raw_fd(),
                PATH_BENEATH,
                &raw const rule,
                0,
            )
        };
        if added < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Goes behind the fence for good. Runs after a fork: no allocation, no locks.
    ///
    /// # Safety
    /// Runs in a fresh process that has given up new rights, right before `execve`.
    pub(crate) unsafe fn apply(&self) -> Result<(), i32> {
        // SAFETY: the program lives as long as the fence.
        unsafe {
            check(libc::syscall(libc::SYS_landlock_restrict_self, self.ruleset.as_raw_fd(), 0))?;
            let Some(filter) = &self.filter else { return Ok(()) };
            let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
            check(libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, &raw const program))
        }
    }

    pub(crate) fn descriptor(&self) -> libc::c_int {
        self.ruleset.as_raw_fd()
    }
}

/// Lets a program make no socket of the internet other than TCP, which Landlock refuses to connect. `None` where the
/// number of the call is not known.
fn no_datagrams() -> Option<Vec<libc::sock_filter>> {
    /// Where the kernel puts what a filter is asked about; of an argument the lower half.
    const NUMBER: u32 = 0;
    const ARCHITECTURE: u32 = 4;
    const FAMILY: u32 = 16;
    const KIND: u32 = 24;
    let native = match () {
        () if cfg!(target_arch = "x86_64") => 0xc000_003e,
        () if cfg!(target_arch = "aarch64") => 0xc000_00b7,
        () => return None,
    };
    let statement = |code: u32, k| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    let load = |offset| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset);
    let give = |action| statement(libc::BPF_RET | libc::BPF_K, action);
    let unless = |value, skip| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: 0,
        jf: skip,
        k: value,
    };
    let is = |value, skip| libc::sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: skip,
        jf: 0,
        k: value,
    };
    let refused = libc::SECCOMP_RET_ERRNO | libc::EACCES as u32;
    Some(vec![
        load(ARCHITECTURE),
        is(native, 1),
        // Calls of another architecture have other numbers; no interpreter makes any.
        give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        load(NUMBER),
        // It makes sockets without a call.
        unless(libc::SYS_io_uring_setup as u32, 1),
        give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        unless(libc::SYS_socket as u32, 6),
        load(FAMILY),
        is(libc::AF_INET as u32, 1),
        unless(libc::AF_INET6 as u32, 3),
        load(KIND),
        statement(libc::BPF_ALU | libc::BPF_AND | libc::BPF_K, 0xf),
        unless(libc::SOCK_STREAM as u32, 1),
        give(libc::SECCOMP_RET_ALLOW),
        give(refused),
    ])
}

fn check(result: libc::c_long) -> Result<(), i32> {
    // SAFETY: the address is that of this thread's own number.
    if result < 0 { Err(unsafe { *libc::__errno_location() }) } else { Ok(()) }
}
