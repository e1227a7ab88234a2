//! What the keeper does with its life. Runs after a fork of a process with threads, so nothing here allocates, locks,
//! panics or returns; memory is the stack, and every call is one that may be made in a signal handler.

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::RawFd;
use std::ptr;
use std::time::Duration;

use super::image::Image;
use super::launch::{self, Launch};
use super::shed::shed;
use super::{children, disguise};
use crate::ending::{Ending, Status};
use crate::jail::fence::Fence;
use crate::jail::opener;
use crate::jail::operation::{self, Step};
use crate::jail::restraint::Restraint;
use crate::report::{Report, Stage};
use crate::trace::Filter;

/// Children reaped before the lifeline is looked at again, however fast a server makes new ones.
const MAX_REAPED_AT_ONCE: usize = 1024;

/// Between two rounds of killing, unless a child ends sooner.
const HUNT_PAUSE: libc::c_int = 10;

/// With no child ending for so long, those left will not: they wait inside the kernel, or belong to another user.
const GIVE_UP_AFTER: Duration = Duration::from_secs(10);

/// What the kernel calls a set of signals: one bit for each.
const SIGNAL_SET_BYTES: usize = 8;

/// Closed one by one where the system has no better way; beyond it we hold no files.
const MAX_CLOSED_SINGLY: libc::c_int = 65_536;

/// The name of a refuge is short.
const MAX_REFUGE: usize = 64;

/// What the keeper inherits on purpose.
pub(super) struct Orders<'a> {
    pub(super) image: &'a Image,
    /// The server's ends of stdin, stdout and stderr. All descriptors here are above 2.
    pub(super) stdio: [RawFd; 3],
    /// Where the main process reports a failure; that it closes without one tells that the program was executed.
    pub(super) failure: RawFd,
    pub(super) status: RawFd,
    pub(super) lifeline: RawFd,
    /// Where the main process waits until it may execute the program.
    pub(super) gate: Option<RawFd>,
    pub(super) filter: Option<&'a Filter>,
    pub(super) jail: Option<JailOrders<'a>>,
    /// All descriptors of the above, in ascending order.
    pub(super) kept: Vec<RawFd>,
}

pub(super) struct JailOrders<'a> {
    pub(super) steps: &'a [Step],
    pub(super) restraint: &'a Restraint,
    /// Directories of others are shown as they are.
    pub(super) beside_others: bool,
    pub(super) fence: Option<&'a Fence>,
    /// A directory that goes with the server.
    pub(super) refuge: Option<&'a CStr>,
    /// Where the upper layers are passed to us, and where we ask for sockets.
    pub(super) asked_on: RawFd,
}

/// # Safety
/// Runs in a fresh fork in which every signal is blocked, and nowhere else.
pub(super) unsafe fn keep(orders: &Orders<'_>) -> ! {
    // SAFETY: we are in a fork of our own, so descriptors, signals and children are ours to change.
    unsafe {
        let keep = match Keep::begin(orders) {
            Ok(keep) => keep,
            Err((stage, errno)) => {
                tell(orders.status, Report::Failed { stage, errno });
                if let Some(refuge) = orders.jail.as_ref().and_then(|jail| jail.refuge) {
                    remove(refuge.as_ptr());
                }
                libc::_exit(1);
            }
        };
        keep.run()
    }
}

struct Keep<'a> {
    orders: &'a Orders<'a>,
    main: libc::pid_t,
    main_ended: bool,
    began: Duration,
    /// The other end of this pipe closes when the main process executes the program; -1 once that is so.
    launching: RawFd,
    /// Readable when a child has ended.
    ended: RawFd,
    /// Readable when a socket is asked for; -1 if that cannot happen.
    asked_on: RawFd,
    /// What is to be removed at the end, as a C string; empty for nothing.
    refuge: [u8; MAX_REFUGE],
}

/// What came out of looking for ended children.
enum Reaped {
    /// There is no child left.
    All,
    /// So many ended; others are alive.
    Some(usize),
    /// There may be more to reap at once.
    More,
}

impl<'a> Keep<'a> {
    unsafe fn begin(orders: &'a Orders<'a>) -> Result<Self, (Stage, libc::c_int)> {
        // SAFETY: as in `keep`.
        unsafe {
            // Whoever kills our process group must not kill the keeper with it. A session of its own would do that too,
            // but the scheduler lets the first process of a new session wait when the machine is busy.
            libc::setpgid(0, 0);
            disguise::dress();
            check(libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))?;
            close_all_but(&orders.kept);
            // New descriptors must not come to lie on 0 to 2, where the server's stdio is put; and the keeper must
            // not hold on to our terminal.
            for target in 0..=libc::STDERR_FILENO {
                check(libc::dup2(orders.lifeline, target))?;
            }
            default_signals();
            let asked_on = orders.jail.as_ref().map_or(-1, |jail| jail.asked_on);
            let bound = match &orders.jail {
                Some(jail) => operation::carry_out(jail.steps, asked_on)
                    .map_err(|fault| (Stage::Jail(fault.step as u32), fault.errno))?,
                None => 0,
            };
            // Kept where it outlives what was allocated before the fork.
            let mut refuge = [0_u8; MAX_REFUGE];
            let path = orders.jail.as_ref().and_then(|jail| jail.refuge).map_or(&[][..], CStr::to_bytes);
            for (slot, byte) in refuge.iter_mut().zip(path.iter().take(MAX_REFUGE - 1)) {
                *slot = *byte;
            }
            let ended = check(child_signals())?;
            let mut go = [-1; 2];
            check(libc::pipe2(go.as_mut_ptr(), libc::O_CLOEXEC))?;
            let main =
                check(launch::spawn(Launch { orders, keeper: libc::getpid(), go, bound: bound != 0 }))?;
            // The server must be the only one to hold its ends, or they would never close.
            for fd in orders.stdio.into_iter().chain([orders.failure, go[0]]).chain(orders.gate) {
                libc::close(fd);
            }
            tell(orders.status, Report::Forked { pid: main.unsigned_abs(), bound });
            // Until here the main process waits: a server could stop its keeper before the keeper has said a word.
            let began = now();
            libc::write(go[1], [1_u8].as_ptr().cast(), 1);
            Ok(Self { orders, main, main_ended: false, began, launching: go[1], ended, asked_on, refuge })
        }
    }

    unsafe fn run(mut self) -> ! {
        let mut more = false;
        loop {
            let pause = if more { 0 } else { -1 };
            // SAFETY: as in `keep`.
            unsafe {
                let [launched, ordered, ended, asked] =
                    ready([self.launching, self.orders.lifeline, self.ended, self.asked_on], pause);
                if launched {
                    self.settle_in();
                }
                if ordered && !self.obey() {
                    self.hunt();
                }
                if asked && !opener::serve(self.asked_on) {
                    self.asked_on = -1;
                }
                if ended || more {
                    forget_signals(self.ended);
                    more = match self.reap() {
                        Reaped::All => self.leave(),
                        Reaped::Some(_) => false,
                        Reaped::More => true,
                    };
                }
            }
        }
    }

    /// The program runs, so what was prepared for it is no longer needed.
    unsafe fn settle_in(&mut self) {
        // SAFETY: the main process has memory of its own now. Of what was made before the fork the keeper uses nothing
        // but its orders, which lie on its stack, and what the C library keeps for this thread.
        unsafe {
            libc::close(self.launching);
            self.launching = -1;
            let stack = ptr::from_mut(self).addr();
            shed(&[stack, ptr::from_ref(self.orders).addr(), libc::__errno_location().addr()]);
        }
    }

    /// Passes on the signals that were ordered. Says whether the lifeline is still held.
    unsafe fn obey(&mut self) -> bool {
        let mut signals = [0_u8; 64];
        // SAFETY: the buffer is as long as the length says. The main process is signalled only while it is our
        // unreaped child, so the number is still its own.
        unsafe {
            let count = libc::read(self.orders.lifeline, signals.as_mut_ptr().cast(), signals.len());
            for &signal in signals.iter().take(usize::try_from(count).unwrap_or(0)) {
                if !self.main_ended {
                    libc::kill(self.main, libc::c_int::from(signal));
                }
            }
            count > 0
        }
    }

    unsafe fn reap(&mut self) -> Reaped {
        for count in 0..MAX_REAPED_AT_ONCE {
            let mut status = 0;
            let mut usage = MaybeUninit::<libc::rusage>::zeroed();
            // SAFETY: both are filled in by the call, and all zeros are a value of `rusage` too.
            let (pid, usage) = unsafe {
                let pid = libc::wait4(-1, &mut status, libc::WNOHANG, usage.as_mut_ptr());
                (pid, usage.assume_init())
            };
            match pid {
                0 => return Reaped::Some(count),
                -1 => return Reaped::All,
                pid if pid == self.main && !self.main_ended => {
                    self.main_ended = true;
                    self.report_end(status, &usage);
                }
                _ => {}
            }
        }
        Reaped::More
    }

    fn report_end(&self, status: libc::c_int, usage: &libc::rusage) {
        let ending = Ending {
            status: Status::from_wait(status),
            after: now().saturating_sub(self.began),
            // Before it executed the program the main process shared our memory, and the system counts that too.
            max_rss_bytes: (usage.ru_maxrss > own_max_rss())
                .then_some(usage.ru_maxrss.unsigned_abs().wrapping_mul(1024)),
        };
        tell(self.orders.status, Report::Ended(ending));
    }

    /// Ends with nothing left behind.
    unsafe fn leave(&self) -> ! {
        // SAFETY: the path ends with a zero.
        unsafe {
            if self.refuge.first() == Some(&0) {
                libc::_exit(0);
            }
            remove(self.refuge.as_ptr().cast());
            libc::_exit(1)
        }
    }

    /// Kills children until there are none. Those of a killed child become ours, so its whole tree comes by in turn.
    unsafe fn hunt(mut self) -> ! {
        let mut progress = now();
        // SAFETY: as in `keep`.
        unsafe {
            let group = libc::getpgrp();
            loop {
                if libc::getpid() == 1 {
                    // All of our namespace: nobody can slip away by forking.
                    libc::kill(-1, libc::SIGKILL);
                } else if !children::each(|child| kill_with_group(child, group)) {
                    kill_with_group(self.main, group);
                }
                ready([self.ended], HUNT_PAUSE);
                forget_signals(self.ended);
                match self.reap() {
                    Reaped::All => self.leave(),
                    Reaped::Some(0) if now().saturating_sub(progress) > GIVE_UP_AFTER => libc::_exit(1),
                    Reaped::Some(0) => {}
                    Reaped::Some(_) | Reaped::More => progress = now(),
                }
            }
        }
    }
}

/// Becomes the program that removes a directory; returns if there is none such.
unsafe fn remove(path: *const libc::c_char) {
    let arguments = [c"rm".as_ptr(), c"-rf".as_ptr(), c"--".as_ptr(), path, ptr::null()];
    let environment = [ptr::null()];
    for program in [c"/bin/rm", c"/usr/bin/rm"] {
        // SAFETY: both arrays end with a null pointer.
        unsafe { libc::execve(program.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    }
}

/// Kills a child of ours and those in its group. The kernel does that in one step which no fork can slip through, so
/// that a family cannot outrun us by forking.
unsafe fn kill_with_group(child: libc::pid_t, own_group: libc::pid_t) {
    // SAFETY: these calls take no pointers. The child is unreaped, so its number is its own. Groups do not reach
    // across sessions and the server leads its own, so all members of the child's group belong to this tree.
    unsafe {
        let group = libc::getpgid(child);
        if group > 1 && group != own_group {
            libc::kill(-group, libc::SIGKILL);
        }
        libc::kill(child, libc::SIGKILL);
    }
}

fn tell(status: RawFd, report: Report) {
    let bytes = report.encode();
    // SAFETY: the buffer is as long as the length says. If nobody listens any more, the lifeline tells us to go.
    unsafe { libc::write(status, bytes.as_ptr().cast(), bytes.len()) };
}

fn check(result: libc::c_int) -> Result<libc::c_int, (Stage, libc::c_int)> {
    let errno = || io::Error::last_os_error().raw_os_error().unwrap_or(0);
    if result < 0 { Err((Stage::Setup, errno())) } else { Ok(result) }
}

unsafe fn close_all_but(kept: &[RawFd]) {
    let mut from = 0;
    for &fd in kept {
        // SAFETY: as in `keep`.
        unsafe { close_range(from, fd.wrapping_sub(1)) };
        from = fd.wrapping_add(1);
    }
    // SAFETY: as in `keep`.
    unsafe { close_range(from, libc::c_int::MAX) };
}

unsafe fn close_range(from: libc::c_int, to: libc::c_int) {
    if from > to {
        return;
    }
    // SAFETY: as in `keep`.
    unsafe {
        // Older kernels and some containers refuse it.
        if libc::syscall(libc::SYS_close_range, from, to, 0) < 0 {
            for fd in from..=to.min(MAX_CLOSED_SINGLY) {
                libc::close(fd);
            }
        }
    }
}

/// What we ignore the server would ignore too, since that outlives `execve`. The bare system call, because the C
/// library hides the two signals it uses itself.
unsafe fn default_signals() {
    // The kernel's `sigaction` is at most four words; all zeros are the default action, no flags and an empty mask.
    let default = [0_u64; 4];
    for signal in 1..=libc::c_int::from(super::LAST_SIGNAL) {
        // SAFETY: the array is at least as large as what the kernel reads. It refuses SIGKILL and SIGSTOP, which are
        // never anything but default.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                ptr::null::<u64>(),
                SIGNAL_SET_BYTES,
            );
        }
    }
}

unsafe fn child_signals() -> RawFd {
    let mut signals = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: the set is made before it is used.
    unsafe {
        libc::sigemptyset(signals.as_mut_ptr());
        libc::sigaddset(signals.as_mut_ptr(), libc::SIGCHLD);
        libc::signalfd(-1, signals.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    }
}

/// One pending signal stands for any number of ended children.
unsafe fn forget_signals(ended: RawFd) {
    let mut signal = MaybeUninit::<libc::signalfd_siginfo>::uninit();
    // SAFETY: the buffer is as long as the length says, and is not read.
    unsafe { libc::read(ended, signal.as_mut_ptr().cast(), size_of::<libc::signalfd_siginfo>()) };
}

unsafe fn ready<const N: usize>(fds: [RawFd; N], pause: libc::c_int) -> [bool; N] {
    let mut polled = fds.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    // SAFETY: the array has N entries. An interrupted call finds nothing ready, and the caller asks again.
    unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, pause) };
    polled.map(|entry| entry.revents != 0)
}

fn own_max_rss() -> libc::c_long {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills in the structure it is given, for which all zeros are a value too.
    unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init().ru_maxrss
    }
}

fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call fills in the structure it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
