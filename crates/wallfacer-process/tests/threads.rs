//! Starting from many threads at once, while others hold the allocator's locks, never gets stuck.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use common::{sh, soon};
use wallfacer_process::{Process, Status};

const STARTERS: i32 = 6;
const LIVES_EACH: i32 = 25;

#[test]
fn many_threads_start_servers_while_others_allocate() {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let rows: Vec<Vec<u8>> = (0..100).map(|size| vec![1; size * 100]).collect();
                    std::hint::black_box(rows);
                }
            });
        }
        let starters: Vec<_> =
            (0..STARTERS).map(|starter| scope.spawn(move || start_and_wait(starter))).collect();
        let results: Vec<_> = starters.into_iter().map(|starter| starter.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(results.iter().all(Result::is_ok));
    });
}

fn start_and_wait(starter: i32) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for life in 0..LIVES_EACH {
            let code = starter * LIVES_EACH + life;
            let (process, _stdio) = Process::start(&sh(&format!("exit {code}"))).unwrap();
            assert_eq!(soon(process.exited()).await.status, Status::Exited(code));
        }
    });
}
