//! The last steps before the server's own program: from a fork of the keeper to `execve`, with nothing of ours left.

use std::io;
use std::os::fd::RawFd;
use std::ptr;

use super::keep::Orders;
use crate::report::{Report, Stage};

/// Becomes the server, or reports what failed. Waits for the end of `go` first.
///
/// # Safety
/// Runs in a fresh fork of the keeper, and nowhere else.
pub(super) unsafe fn launch(orders: &Orders<'_>, keeper: libc::pid_t, go: RawFd) -> ! {
    // SAFETY: all pointers come from the image, which was made before the fork and is never freed in this process;
    // every call is one that may be made after a fork.
    unsafe {
        libc::read(go, [0_u8].as_mut_ptr().cast(), 1);
        let stage = prepare(orders, keeper).err().unwrap_or_else(|| {
            libc::execve(orders.image.program().as_ptr(), orders.image.argv(), orders.image.envp());
            Stage::Execute
        });
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
        let report = Report::Failed { stage, errno }.encode();
        libc::write(orders.failure, report.as_ptr().cast(), report.len());
        libc::_exit(127)
    }
}

unsafe fn prepare(orders: &Orders<'_>, keeper: libc::pid_t) -> Result<(), Stage> {
    // SAFETY: as in `launch`.
    unsafe {
        // A session of its own: `kill 0` in the server must not reach the keeper, nor Ctrl-C in our terminal the server.
        libc::setsid();
        // Should the keeper be killed, the main process goes with it; unless that has happened before this call.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != keeper {
            return Err(Stage::Setup);
        }
        if orders.image.directory().is_some_and(|directory| libc::chdir(directory.as_ptr()) < 0) {
            return Err(Stage::WorkingDirectory);
        }
        for (source, target) in orders.stdio.into_iter().zip(0..) {
            if libc::dup2(source, target) < 0 {
                return Err(Stage::Setup);
            }
        }
        let mut none = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
    Ok(())
}
