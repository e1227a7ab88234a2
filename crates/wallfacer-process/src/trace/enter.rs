//! The last step of a task that is to be watched. Runs after a fork: no allocation, no locks, no panic.

use std::io;
use std::os::fd::RawFd;
use std::ptr;

use super::filter::Filter;

/// Waits for a byte through `go`, which comes once the tracer is there, and puts the filter on for good. To be called
/// right before `execve`: without a tracer the calls of the filter would fail. Gives the `errno` of what failed;
/// ECANCELED when `go` ended without a byte.
///
/// # Safety
/// `go` is a readable descriptor. May be called in a fork of a process with threads.
pub unsafe fn enter(filter: &Filter, go: RawFd) -> Result<(), libc::c_int> {
    let program = filter.program();
    // SAFETY: the buffer holds the one byte that is asked for; the program lives as long as the filter.
    unsafe {
        await_go(go)?;
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
        // Older kernels would else make each of the target's branches slower, for a danger that is not ours.
        let flags = libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW;
        check(libc::syscall(
            libc::SYS_seccomp,
            libc::c_long::from(libc::SECCOMP_SET_MODE_FILTER),
            flags,
            ptr::from_ref(&program),
        ))
    }
}

unsafe fn await_go(go: RawFd) -> Result<(), libc::c_int> {
    let mut byte = 0_u8;
    loop {
        // SAFETY: as the caller says.
        match unsafe { libc::read(go, ptr::from_mut(&mut byte).cast(), 1) } {
            1 => return Ok(()),
            0 => return Err(libc::ECANCELED),
            failed => match check(failed as libc::c_long) {
                Err(libc::EINTR) | Ok(()) => {}
                refused => return refused,
            },
        }
    }
}

fn check(result: libc::c_long) -> Result<(), libc::c_int> {
    if result < 0 { Err(io::Error::last_os_error().raw_os_error().unwrap_or(0)) } else { Ok(()) }
}
