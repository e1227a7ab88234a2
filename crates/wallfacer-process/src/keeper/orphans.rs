//! Ends what a killed keeper sets free.
//!
//! Where nothing confines it, a server can kill its keeper. We are the next in line to adopt what it has started, however
//! it was started, and can tell it from all else that is ours: every server leads a session of its own, and no process can
//! come back to ours.

use std::collections::BTreeSet;
use std::sync::{Mutex, Once, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::tree::{self, Descendant};

/// A family that forks faster than it is killed is given up after this.
const PATIENCE: Duration = Duration::from_secs(3);

/// Between two rounds of killing.
const PAUSE: Duration = Duration::from_millis(2);

/// Rounds in a row in which nobody was found.
const QUIET_ROUNDS: usize = 3;

/// Those that are told by name.
const MAX_TOLD: usize = 64;

/// One at a time, so that whoever is found is told once.
static SWEEPING: Mutex<()> = Mutex::new(());

/// Has us adopt what a keeper leaves, from now on.
pub(super) fn adopt() {
    static ONCE: Once = Once::new();
    // SAFETY: the call takes no pointers. Where it is refused, orphans go where they always did.
    ONCE.call_once(|| unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    });
}

/// Kills all that we have adopted. Gives whom it found, and whether nobody of them is left.
pub(super) fn sweep() -> (Vec<Descendant>, bool) {
    let _alone = SWEEPING.lock().unwrap_or_else(PoisonError::into_inner);
    let began = Instant::now();
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    let mut quiet = 0;
    while quiet < QUIET_ROUNDS {
        if began.elapsed() > PATIENCE {
            return (found, false);
        }
        let adopted = adopted();
        quiet = if adopted.is_empty() { quiet + 1 } else { 0 };
        for child in adopted {
            let family = tree::alive(child).into_iter().chain([child]);
            for pid in family {
                if known.insert(pid) && found.len() < MAX_TOLD && tree::is_alive(pid) {
                    found.push(tree::describe(pid));
                }
                kill_with_group(pid);
            }
            // SAFETY: the status is not wanted; the number is that of a child of ours which nobody else waits for.
            unsafe { libc::waitpid(child as libc::pid_t, std::ptr::null_mut(), libc::WNOHANG) };
        }
        thread::sleep(PAUSE);
    }
    (found, true)
}

/// Children of ours that lead or belong to another session: we start none such but through a keeper.
fn adopted() -> Vec<u32> {
    // SAFETY: these calls take no pointers.
    let session = |pid: u32| unsafe { libc::getsid(pid as libc::pid_t) };
    let ours = session(0);
    tree::children(std::process::id()).into_iter().filter(|&child| session(child) != ours).collect()
}

fn kill_with_group(pid: u32) {
    // SAFETY: these calls take no pointers. A group lies within one session, and this one's is not ours; what we have
    // adopted is unreaped, so its number is its own.
    unsafe {
        let pid = pid as libc::pid_t;
        let group = libc::getpgid(pid);
        if group > 1 && group != libc::getpgrp() {
            libc::kill(-group, libc::SIGKILL);
        }
        libc::kill(pid, libc::SIGKILL);
    }
}
