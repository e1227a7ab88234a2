//! Does the same with many things, several at once: most of what a run takes is waiting. And what came late in company,
//! and was right otherwise, is tried once more, alone.

use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt::Display;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::thread;
use std::time::Duration;

/// Things that are under way at the same time, in each test.
const LANES: usize = 4;

/// Held by all who are at work, and by whoever is to be alone.
static AT_WORK: RwLock<()> = RwLock::new(());

thread_local! {
    /// Whether whoever started this thread holds the lock already.
    static IS_HELD: Cell<bool> = const { Cell::new(false) };
}

/// What a test panics with that was late, and in which nothing else was wrong.
struct Late(String);

/// Fails what was not over in time.
pub fn assert_in_time(took: Duration, most: Duration, what: impl Display) {
    if took > most {
        late(format!("it took {took:?} of {most:?}: {what}"));
    }
}

/// Fails what had not enough time.
pub fn late(what: String) -> ! {
    panic::panic_any(Late(what))
}

/// Does some work with each thing; the first that fails fails all, one that was late only where nothing else failed.
pub fn each<T: Send>(things: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let waiting: Mutex<VecDeque<T>> = Mutex::new(things.into_iter().collect());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    let is_held = IS_HELD.get();
    let failed: Mutex<Vec<Box<dyn Any + Send>>> = Mutex::default();
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                IS_HELD.set(true);
                while let Some(thing) = next() {
                    let _at_work = (!is_held).then(|| AT_WORK.read().unwrap_or_else(PoisonError::into_inner));
                    if let Err(why) = panic::catch_unwind(AssertUnwindSafe(|| work(thing))) {
                        failed.lock().unwrap_or_else(PoisonError::into_inner).push(why);
                        break;
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(why) = failed.into_iter().min_by_key(|why| why.is::<Late>()) {
        panic::resume_unwind(why);
    }
}

/// Does something that must not take long. Where it is late, others may have kept it waiting, so it is done once more when
/// nobody else is at work; then it holds or it fails. What fails in any other way has failed.
pub fn in_time(work: impl Fn()) {
    match panic::catch_unwind(AssertUnwindSafe(&work)) {
        Ok(()) => return,
        Err(why) if why.is::<Late>() => {}
        Err(why) => panic::resume_unwind(why),
    }
    assert!(!IS_HELD.get(), "whoever is in company cannot be alone");
    let _alone = AT_WORK.write().unwrap_or_else(PoisonError::into_inner);
    IS_HELD.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(&work));
    IS_HELD.set(false);
    if let Err(why) = done {
        match why.downcast::<Late>() {
            Ok(late) => panic!("{}", late.0),
            Err(why) => panic::resume_unwind(why),
        }
    }
}

#[test]
fn what_is_late_in_company_holds_alone_or_fails_and_what_is_wrong_is_not_tried_again() {
    let tries = |fails: &(dyn Fn(usize) + Sync)| {
        let tried = AtomicUsize::new(0);
        let work = || {
            let times = tried.fetch_add(1, Ordering::Relaxed);
            each([1, 2], |_| fails(times));
        };
        let done = panic::catch_unwind(AssertUnwindSafe(|| in_time(work)));
        (tried.into_inner(), done.is_ok())
    };
    let most = Duration::from_secs(1);
    assert_eq!(tries(&|times| assert_in_time(most * 2 / (times as u32 + 1), most, "at first")), (2, true));
    assert_eq!(tries(&|_| assert_in_time(most * 2, most, "always")), (2, false));
    assert_eq!(tries(&|_| panic!("wrong")), (1, false));
}
