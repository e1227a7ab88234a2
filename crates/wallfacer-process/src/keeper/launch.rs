//! The last steps before the server's own program: from the keeper to `execve`, with nothing of ours left.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr;

use super::keep::Orders;
use crate::report::{Report, Stage};
use crate::trace;

/// Ample for the few calls below.
const STACK_BYTES: usize = 64 * 1024;

pub(super) struct Launch<'a> {
    pub(super) orders: &'a Orders<'a>,
    pub(super) keeper: libc::pid_t,
    /// A pipe from the keeper; the program is executed when a byte comes through it.
    pub(super) go: [RawFd; 2],
    /// The kernel refused some overlays.
    pub(super) bound: bool,
}

/// Makes the main process, as `fork` would, except that it shares the keeper's memory until it executes the program:
/// to copy the page tables a second time would take as long as the first.
///
/// # Safety
/// Called by the keeper, whose memory from then on stays as it is wherever `launch` points.
pub(super) unsafe fn spawn(launch: Launch<'_>) -> libc::pid_t {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
    // SAFETY: the new process gets a stack of its own, which is never unmapped. What it is told lies at the stack's
    // far end, so that it outlives this call; a page's start is aligned for it.
    unsafe {
        let stack = libc::mmap(ptr::null_mut(), STACK_BYTES, protection, flags, -1, 0);
        if stack == libc::MAP_FAILED {
            return -1;
        }
        let told = stack.cast::<Launch<'_>>();
        told.write(launch);
        libc::clone(become_server, stack.byte_add(STACK_BYTES), libc::CLONE_VM | libc::SIGCHLD, told.cast())
    }
}

/// Becomes the server, or reports what failed.
extern "C" fn become_server(launch: *mut libc::c_void) -> libc::c_int {
    // SAFETY: `spawn` gives a `Launch`. All pointers in it were made before the keeper was forked, and the keeper never
    // frees them. `errno` is shared with the keeper, which makes no call that fails while it waits for its children.
    unsafe {
        let Launch { orders, keeper, go, bound } = &*launch.cast::<Launch<'_>>();
        let [go, keepers_end] = *go;
        libc::close(keepers_end);
        libc::read(go, [0_u8].as_mut_ptr().cast(), 1);
        let refused = prepare(orders, *keeper).and_then(|()| restrain(orders, *bound)).err();
        let (stage, errno) = refused.unwrap_or_else(|| {
            libc::execve(orders.image.program().as_ptr(), orders.image.argv(), orders.image.envp());
            (Stage::Execute, errno())
        });
        let report = Report::Failed { stage, errno }.encode();
        libc::write(orders.failure, report.as_ptr().cast(), report.len());
        libc::_exit(127)
    }
}

unsafe fn prepare(orders: &Orders<'_>, keeper: libc::pid_t) -> Result<(), (Stage, i32)> {
    // SAFETY: as in `become_server`.
    unsafe {
        // A session of its own: the server must have no part in our terminal, and no way into our process groups.
        libc::setsid();
        // Should the keeper be killed, the main process goes with it; unless that has happened before this call.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        if libc::getppid() != keeper {
            return Err((Stage::Setup, errno()));
        }
        if orders.image.directory().is_some_and(|directory| libc::chdir(directory.as_ptr()) < 0) {
            return Err((Stage::WorkingDirectory, errno()));
        }
        for (source, target) in orders.stdio.into_iter().zip(0..) {
            if libc::dup2(source, target) < 0 {
                return Err((Stage::Setup, errno()));
            }
        }
        let mut none = MaybeUninit::<libc::sigset_t>::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
    Ok(())
}

/// Gives up what a jailed server must not have, and waits until whoever is to watch it is there.
unsafe fn restrain(orders: &Orders<'_>, bound: bool) -> Result<(), (Stage, i32)> {
    // SAFETY: as in `become_server`.
    unsafe {
        if let Some(jail) = &orders.jail {
            jail.restraint.apply(bound || jail.beside_others).map_err(|errno| (Stage::Restrain, errno))?;
            if let Some(fence) = jail.fence {
                fence.apply().map_err(|errno| (Stage::Restrain, errno))?;
            }
        }
        match (orders.filter, orders.gate) {
            (_, None) => Ok(()),
            (Some(filter), Some(gate)) => trace::enter(filter, gate).map_err(|errno| (Stage::Watch, errno)),
            // If the other end closes instead, nobody would know of the server.
            (None, Some(gate)) => match libc::read(gate, [0_u8].as_mut_ptr().cast(), 1) {
                1 => Ok(()),
                _ => Err((Stage::Setup, libc::ECANCELED)),
            },
        }
    }
}

fn errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}
