//! The task that stopped last in, the core that the tracer runs on out.

use std::fs;
use std::mem::MaybeUninit;

/// Looking costs as much as a few stops, and a task seldom moves.
const LOOK_EVERY: u32 = 64;

/// The core is so many words behind the name of the program in `/proc/TID/stat`.
const WORDS_BEFORE_CORE: usize = 36;

/// Keeps the tracer on the core of the tasks that it watches. One of the two always waits for the other, so they lose
/// nothing by sharing it; on two cores each stop would first have to wake one that sleeps, which takes longer than all
/// else that is done about it.
#[derive(Debug, Default)]
pub(super) struct Place {
    stops: u32,
    core: Option<usize>,
}

impl Place {
    /// A task has stopped, and we are about to serve it.
    pub(super) fn follow(&mut self, tid: libc::pid_t) {
        let is_due = self.stops.is_multiple_of(LOOK_EVERY);
        self.stops = self.stops.wrapping_add(1);
        if !is_due {
            return;
        }
        let core = core_of(tid);
        if core.is_some() && core != self.core && core.is_some_and(move_to) {
            self.core = core;
        }
    }
}

/// Where a task ran last.
fn core_of(tid: libc::pid_t) -> Option<usize> {
    let status = fs::read(format!("/proc/{tid}/stat")).ok()?;
    // The name may hold anything, brackets too; nothing behind it does.
    let name_end = status.iter().rposition(|&byte| byte == b')')?;
    let words = std::str::from_utf8(&status[name_end + 1..]).ok()?;
    words.split_ascii_whitespace().nth(WORDS_BEFORE_CORE)?.parse().ok()
}

/// Whether this thread runs on that core from now on. Where it may not, the scheduler goes on choosing.
fn move_to(core: usize) -> bool {
    if core >= libc::CPU_SETSIZE as usize {
        return false;
    }
    // SAFETY: no core at all is a value of the set, the core is within it, and its size is the one that is told.
    unsafe {
        let mut cores = MaybeUninit::<libc::cpu_set_t>::zeroed().assume_init();
        libc::CPU_SET(core, &mut cores);
        libc::sched_setaffinity(0, size_of_val(&cores), &cores) == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tracer_goes_where_the_task_is() {
        // On a thread of its own, since it stays there.
        let moved = std::thread::spawn(|| {
            // SAFETY: takes no arguments.
            let tid = unsafe { libc::gettid() };
            let mut place = Place::default();
            place.follow(tid);
            // SAFETY: takes no arguments.
            (place.core, usize::try_from(unsafe { libc::sched_getcpu() }).ok())
        });
        let (core, now) = moved.join().unwrap();
        assert!(core.is_some());
        assert_eq!(core, now);
    }

    #[test]
    fn a_core_that_is_not_there_is_not_gone_to() {
        assert!(!move_to(libc::CPU_SETSIZE as usize - 1));
        assert!(!move_to(libc::CPU_SETSIZE as usize));
        assert_eq!(core_of(-1), None);
    }
}
