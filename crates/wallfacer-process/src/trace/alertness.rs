//! Waits for the next stop. The end of a call follows its beginning within moments, and to fall asleep for those and be
//! woken again takes longer than most calls do; so the tracer stays awake for them, where that proves to be worth it.

use std::num::NonZero;
use std::thread;
use std::time::{Duration, Instant};

/// How long the tracer stays awake for the end of a call.
const AWAKE: Duration = Duration::from_micros(30);
/// What staying awake in vain costs of the credit that each success adds one to.
const LOSS: u32 = 4;
const MOST_CREDIT: u32 = 16;
/// Without credit it is tried again once in so many calls.
const RETRY: u32 = 64;

/// Whether it is worth staying awake, by what came of it before.
#[derive(Debug)]
pub(super) struct Alertness {
    /// On one processor the target could not run meanwhile.
    has_company: bool,
    credit: u32,
    /// Calls that were slept over since there was no credit.
    slept: u32,
    expects: bool,
}

impl Alertness {
    pub(super) fn new() -> Alertness {
        let has_company = thread::available_parallelism().is_ok_and(|count| count > NonZero::<usize>::MIN);
        Alertness { has_company, credit: MOST_CREDIT, slept: 0, expects: false }
    }

    /// A call has begun whose end is wanted.
    pub(super) fn expect(&mut self) {
        self.expects = true;
    }

    /// The next task that stopped or ended, with its status; below zero on an error.
    pub(super) fn next_stop(&mut self) -> (libc::pid_t, libc::c_int) {
        if std::mem::take(&mut self.expects) && self.is_worth_it() {
            let until = Instant::now() + AWAKE;
            while Instant::now() < until {
                let (tid, status) = wait(libc::WNOHANG);
                if tid != 0 {
                    self.credit = (self.credit + 1).min(MOST_CREDIT);
                    return (tid, status);
                }
            }
            self.lose();
        }
        wait(0)
    }

    fn lose(&mut self) {
        self.credit = self.credit.saturating_sub(LOSS);
    }

    fn is_worth_it(&mut self) -> bool {
        if self.credit == 0 {
            self.slept = (self.slept + 1) % RETRY;
        }
        self.has_company && (self.credit > 0 || self.slept == 0)
    }
}

fn wait(options: libc::c_int) -> (libc::pid_t, libc::c_int) {
    let mut status = 0;
    // SAFETY: the kernel writes the status, and nothing else.
    let tid = unsafe { libc::waitpid(-1, &mut status, libc::__WALL | libc::__WNOTHREAD | options) };
    (tid, status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stayed_awake_in_vain_sleeps_and_tries_again_now_and_then() {
        let mut alertness = Alertness { has_company: true, ..Alertness::new() };
        while alertness.credit > 0 {
            assert!(alertness.is_worth_it());
            alertness.lose();
        }
        let tries = (0..10 * RETRY).filter(|_| alertness.is_worth_it()).count();
        assert_eq!(tries, 10);
    }

    #[test]
    fn on_one_processor_nobody_stays_awake() {
        let mut alertness = Alertness { has_company: false, ..Alertness::new() };
        assert!((0..2 * RETRY).all(|_| !alertness.is_worth_it()));
    }
}
