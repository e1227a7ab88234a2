//! Does the same with many things, several at once: most of what a run takes is waiting. And what came late in company is
//! tried once more, alone.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;

/// Things that are under way at the same time, in each test.
const LANES: usize = 4;

/// Held by all who are at work, and by whoever is to be alone.
static AT_WORK: RwLock<()> = RwLock::new(());

thread_local! {
    /// Whether whoever started this thread holds the lock already.
    static IS_HELD: Cell<bool> = const { Cell::new(false) };
}

/// Does some work with each thing; the first that fails fails all.
pub fn each<T: Send>(things: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let waiting: Mutex<VecDeque<T>> = Mutex::new(things.into_iter().collect());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let is_held = IS_HELD.get();
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                IS_HELD.set(true);
                while let Some(thing) = next() {
                    let _at_work = (!is_held).then(|| AT_WORK.read().unwrap_or_else(PoisonError::into_inner));
                    work(thing);
                }
            });
        }
    });
}

/// Does something that must not take long. Where it fails, others may have kept it waiting, so it is done once more when
/// nobody else is at work; then it holds or it fails.
pub fn in_time(work: impl Fn()) {
    if panic::catch_unwind(AssertUnwindSafe(&work)).is_ok() {
        return;
    }
    assert!(!IS_HELD.get(), "whoever is in company cannot be alone");
    let _alone = AT_WORK.write().unwrap_or_else(PoisonError::into_inner);
    IS_HELD.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(&work));
    IS_HELD.set(false);
    if let Err(why) = done {
        panic::resume_unwind(why);
    }
}

#[test]
fn what_fails_in_company_holds_alone_or_fails() {
    let tried = Mutex::new(0);
    in_time(|| {
        // Not within the lock, which a failure would poison.
        let times = {
            let mut tried = tried.lock().unwrap();
            *tried += 1;
            *tried
        };
        each([1, 2], |_| assert!(times == 2, "the first time it is late"));
    });
    assert_eq!(*tried.lock().unwrap(), 2);
    assert!(panic::catch_unwind(|| in_time(|| panic!("always late"))).is_err());
}
