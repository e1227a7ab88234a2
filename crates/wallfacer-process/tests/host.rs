//! When we die, however suddenly, nothing of a server's tree outlives us.
//!
//! The part of the dying host is played by this test program itself, started anew for one of the ignored tests.

// Signals and their masks have no safe interface.
#![allow(unsafe_code)]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use common::{is_alive, line, start};

const MARK: &str = "pids:";

struct Host {
    child: Child,
    /// Held open, for the host goes on writing.
    _stdout: BufReader<ChildStdout>,
    /// The numbers of the server, its daemon and its keeper.
    pids: Vec<u32>,
}

fn host(part: &str) -> Host {
    let mut command = Command::new(std::env::current_exe().unwrap());
    // Whoever starts the tests in the background may have told them to ignore Ctrl-C, and the host would obey.
    // SAFETY: signal may be called between fork and exec, and takes no pointers here.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let mut child = command
        .args(["--ignored", "--exact", "--nocapture", "--test-threads=1", part])
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let told = stdout.by_ref().lines().map_while(Result::ok).find_map(|line| {
        let pids = line.split_once(MARK)?.1.split_whitespace().map(|pid| pid.parse().unwrap());
        Some(pids.collect())
    });
    Host { child, _stdout: stdout, pids: told.expect("the host tells its numbers") }
}

fn all_end(pids: &[u32]) {
    let began = Instant::now();
    while pids.iter().any(|&pid| is_alive(pid)) {
        assert!(began.elapsed() < common::PATIENCE, "{pids:?} are alive");
        std::thread::yield_now();
    }
}

fn signalled_host_takes_its_tree_along(signal: libc::c_int) {
    let mut host = host("a_host_that_waits");
    assert_eq!(host.pids.iter().filter(|&&pid| is_alive(pid)).count(), 3);
    // The whole group, as a terminal or a runner of jobs does it.
    // SAFETY: kill takes no pointers; the host is our unreaped child and leads the group.
    assert_eq!(unsafe { libc::kill(-(host.child.id() as libc::pid_t), signal) }, 0);
    assert_eq!(host.child.wait().unwrap().signal(), Some(signal));
    all_end(&host.pids);
}

#[test]
fn a_killed_host_takes_its_tree_along() {
    signalled_host_takes_its_tree_along(libc::SIGKILL);
}

#[test]
fn a_terminated_host_takes_its_tree_along() {
    signalled_host_takes_its_tree_along(libc::SIGTERM);
}

#[test]
fn an_interrupted_host_takes_its_tree_along() {
    signalled_host_takes_its_tree_along(libc::SIGINT);
}

#[test]
fn an_aborted_host_takes_its_tree_along() {
    let mut host = host("a_host_that_aborts");
    assert_eq!(host.child.wait().unwrap().signal(), Some(libc::SIGABRT));
    all_end(&host.pids);
}

#[test]
fn a_host_that_exits_without_dropping_takes_its_tree_along() {
    let mut host = host("a_host_that_forgets");
    assert!(host.child.wait().unwrap().success());
    all_end(&host.pids);
}

/// Tells the numbers of the server, its daemon and the keeper, and runs `then` while they live.
#[allow(clippy::print_stdout)]
fn play_host(then: impl FnOnce(wallfacer_process::Process)) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (process, stdio) = start("setsid sh -c 'sleep 1000 & echo $! '$PPID < /dev/null; exec cat");
        let others = line(&mut tokio::io::BufReader::new(stdio.stdout)).await;
        println!("\n{MARK} {} {others}", process.pid());
        then(process);
    });
}

#[test]
#[ignore = "the part of a host"]
fn a_host_that_waits() {
    play_host(|_process| {
        // Ends with the test that plays against us, should that fail.
        std::io::stdin().lines().for_each(drop);
    });
}

#[test]
#[ignore = "the part of a host"]
fn a_host_that_aborts() {
    play_host(|_process| std::process::abort());
}

#[test]
#[ignore = "the part of a host"]
fn a_host_that_forgets() {
    play_host(std::mem::forget);
}
