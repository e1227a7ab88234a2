//! Answers system calls from outside where their arguments decide: mounts of overlays fail, and the fence of files says that it
//! is an old one. All others go on.

use std::fs::File;
use std::io::{self, Read, Write};
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use crate::put_on;

/// What the kernel calls the questions and the answers: `_IOWR('!', 0 or 1, …)` with the sizes of both.
const RECEIVE: libc::c_ulong = 0xc050_2100;
const SEND: libc::c_ulong = 0xc018_2101;
/// Where the kind stands among the arguments of a mount.
const KIND: usize = 2;
const OVERLAY: &[u8] = b"overlay\0";
/// Who asks for the version of Landlock says so by this flag, in this argument. The last that could not keep signals in.
const FLAGS: usize = 2;
const ASK_VERSION: u64 = 1;
const OLD: i64 = 5;

/// Runs the program in a child, and answers for it and for all that it starts, until none of them is left.
pub fn run(filter: Vec<libc::sock_filter>, mut program: Command) -> io::Result<ExitCode> {
    let (mut ours, mut theirs) = UnixStream::pair()?;
    // SAFETY: this program has one thread.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(ours);
        let listener = put_on(filter, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER)?;
        theirs.write_all(&(listener as i32).to_ne_bytes())?;
        theirs.read_exact(&mut [0])?;
        return Err(program.exec());
    }
    drop(theirs);
    let mut number = [0; 4];
    ours.read_exact(&mut number)?;
    let listener = taken_from(child, i32::from_ne_bytes(number))?;
    ours.write_all(&[0])?;
    while is_asked(&listener) {
        answer(&listener);
    }
    let mut status = 0;
    // SAFETY: the status lives as long as the call.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    let ended_itself = libc::WIFEXITED(status);
    Ok(ExitCode::from(if ended_itself { libc::WEXITSTATUS(status) as u8 } else { 128 }))
}

/// A descriptor of the child, as one of ours.
fn taken_from(child: libc::pid_t, number: i32) -> io::Result<OwnedFd> {
    // SAFETY: plain numbers go in; each descriptor that comes out is new, and belongs to nobody else.
    unsafe {
        let process = owned(libc::syscall(libc::SYS_pidfd_open, child, 0))?;
        owned(libc::syscall(libc::SYS_pidfd_getfd, process.as_raw_fd(), number, 0))
    }
}

unsafe fn owned(given: libc::c_long) -> io::Result<OwnedFd> {
    if given < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { OwnedFd::from_raw_fd(given as i32) })
}

/// Waits until somebody asks; false when nobody is left who could.
fn is_asked(listener: &OwnedFd) -> bool {
    let mut waiting = libc::pollfd { fd: listener.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: one structure goes in, as the number says.
    unsafe { libc::poll(&raw mut waiting, 1, -1) };
    waiting.revents & libc::POLLIN != 0
}

fn answer(listener: &OwnedFd) {
    // SAFETY: both structures may be all zeros, have the sizes that the calls name, and outlive them.
    unsafe {
        let mut asked: libc::seccomp_notif = mem::zeroed();
        if libc::ioctl(listener.as_raw_fd(), RECEIVE, &raw mut asked) < 0 {
            return;
        }
        let mut reply: libc::seccomp_notif_resp = mem::zeroed();
        reply.id = asked.id;
        let arguments = asked.data.args;
        match i64::from(asked.data.nr) {
            libc::SYS_mount if is_overlay(asked.pid, arguments[KIND]) => reply.error = -libc::ENODEV,
            libc::SYS_landlock_create_ruleset if arguments[FLAGS] == ASK_VERSION => reply.val = OLD,
            _ => reply.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32,
        }
        libc::ioctl(listener.as_raw_fd(), SEND, &raw mut reply);
    }
}

fn is_overlay(process: u32, kind: u64) -> bool {
    let mut told = [0; OVERLAY.len()];
    let read =
        File::open(format!("/proc/{process}/mem")).and_then(|memory| memory.read_exact_at(&mut told, kind));
    read.is_ok() && told == OVERLAY
}
