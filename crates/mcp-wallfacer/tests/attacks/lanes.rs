//! Does the same with many things, several at once: most of what a run takes is waiting.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Things that are under way at the same time, in each test.
const LANES: usize = 4;

/// Does some work with each thing; the first that fails fails all.
pub fn each<T: Send>(things: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    let waiting: Mutex<VecDeque<T>> = Mutex::new(things.into_iter().collect());
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
    thread::scope(|scope| {
        for _ in 0..LANES {
            scope.spawn(|| {
                while let Some(thing) = next() {
                    work(thing);
                }
            });
        }
    });
}
