//! What the main process gives up right before its program is executed. Applying runs after a fork: no allocation, no
//! locks.

use super::Limits;
use super::refusals::Refusals;

/// Capabilities have numbers below this; those that a kernel does not know are refused, which is no harm.
const MAX_CAPABILITIES: libc::c_ulong = 64;

/// The layout of `capset` since Linux 2.6.26.
const CAPABILITY_VERSION: u32 = 0x2008_0522;

#[derive(Debug)]
pub(crate) struct Restraint {
    limits: Vec<(libc::__rlimit_resource_t, libc::rlim_t)>,
    refusals: Option<Refusals>,
    /// Takes the place of those where directories of others are shown as they are.
    beside_others: Option<Refusals>,
}

impl Restraint {
    /// For a server in a user namespace of its own, in which it is the only one of its user.
    pub(crate) fn new(limits: Limits, refusals: Option<Refusals>, beside_others: Option<Refusals>) -> Self {
        let mut restraint = Self { beside_others, ..Self::of_one(limits, refusals) };
        restraint.limits.push((libc::RLIMIT_NPROC, limits.processes.into()));
        restraint
    }

    /// For each process by itself.
    pub(crate) fn of_one(limits: Limits, refusals: Option<Refusals>) -> Self {
        Self {
            limits: vec![
                // Not the address space, of which some interpreters reserve far more than they use.
                (libc::RLIMIT_DATA, limits.memory_bytes),
                // Files that have no name are not part of the disk.
                (libc::RLIMIT_FSIZE, limits.disk_bytes),
                (libc::RLIMIT_CORE, 0),
            ],
            refusals,
            beside_others: None,
        }
    }

    /// Gives up all rights beyond those of the user's number. A limit that is lower already stays. `beside_others` says
    /// that directories of others are shown as they are.
    ///
    /// # Safety
    /// Runs in a fresh process, right before `execve`.
    pub(crate) unsafe fn apply(&self, beside_others: bool) -> Result<(), i32> {
        // SAFETY: every structure is as long as the kernel takes it to be, and lives until the call is over.
        unsafe {
            for &(resource, most) in &self.limits {
                let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
                check(libc::getrlimit(resource, &mut limit))?;
                limit.rlim_max = limit.rlim_max.min(most);
                limit.rlim_cur = limit.rlim_cur.min(limit.rlim_max);
                check(libc::setrlimit(resource, &limit))?;
            }
            offer_to_be_killed_first();
            for capability in 0..MAX_CAPABILITIES {
                libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0);
            }
            let header = [CAPABILITY_VERSION, 0];
            let none = [0_u32; 6];
            check(libc::syscall(libc::SYS_capset, header.as_ptr(), none.as_ptr()) as libc::c_int)?;
            // Keys of ours that the kernel keeps are inherited otherwise. A kernel without keys needs nothing.
            libc::syscall(libc::SYS_keyctl, libc::KEYCTL_JOIN_SESSION_KEYRING, 0);
            check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))?;
            let refusals = if beside_others { &self.beside_others } else { &self.refusals };
            refusals.as_ref().map_or(Ok(()), |refusals| refusals.apply())
        }
    }
}

/// Should the machine run out of memory all the same, it shall not be at the cost of others.
unsafe fn offer_to_be_killed_first() {
    let most = b"1000";
    // SAFETY: the path is a C string, and the buffer as long as the length says.
    unsafe {
        let file = libc::open(c"/proc/self/oom_score_adj".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if file >= 0 {
            libc::write(file, most.as_ptr().cast(), most.len());
            libc::close(file);
        }
    }
}

fn check(result: libc::c_int) -> Result<(), i32> {
    // SAFETY: the address is that of this thread's own number.
    if result < 0 { Err(unsafe { *libc::__errno_location() }) } else { Ok(()) }
}
