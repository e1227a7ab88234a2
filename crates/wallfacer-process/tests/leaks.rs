//! Many lives leave nothing in us. One test alone in this program, for it counts what the whole program holds.

mod common;

use std::fs;
use std::time::Duration;

use common::{soon, start};
use wallfacer_process::{Process, Spec};

const LIVES: usize = 50;

fn files() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").unwrap().count()
}

/// Children of all our threads, ended ones included.
fn children() -> usize {
    let threads = fs::read_dir("/proc/self/task").unwrap().flatten();
    threads
        .filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok())
        .map(|list| list.split_whitespace().count())
        .sum()
}

#[tokio::test]
async fn fifty_lives_at_once_leave_no_file_thread_or_zombie() {
    let before = (files(), threads(), children());
    let mut lives: Vec<_> = (0..LIVES).map(|_| start("setsid sleep 1000 < /dev/null & exec cat")).collect();
    assert_eq!(children(), LIVES);
    for (index, (process, stdio)) in lives.drain(..).enumerate() {
        drop(stdio);
        match index % 3 {
            0 => drop(process),
            1 => process.kill(),
            _ => assert!(soon(process.end(Duration::from_millis(1))).await.ending.is_some()),
        }
    }
    for _ in 0..LIVES {
        Process::start(&Spec::new("/no/such/file")).unwrap_err();
        Process::start(&Spec { args: vec!["x".repeat(8 << 20).into()], ..Spec::new("/bin/sh") }).unwrap_err();
    }
    // A thread is listed for a moment after it has been seen to be done.
    soon(async {
        while threads() > before.1 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!((files(), threads(), children()), before);
}
