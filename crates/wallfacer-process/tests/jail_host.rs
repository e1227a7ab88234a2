//! When we die, however suddenly, nothing of a jail outlives us: no process, no mount, no file.
//!
//! The part of the dying host is played by this test program itself, started anew for the ignored test.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fs, thread};

use common::{is_alive, line, sh};
use wallfacer_process::jail::Jail;
use wallfacer_process::{Process, Rung, Spec};

const MARK: &str = "pids:";

#[test]
fn a_killed_host_leaves_no_process_no_mount_and_no_file() {
    let scratch = tempfile::tempdir().unwrap();
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", "a_host_that_waits"])
        .env("TMPDIR", scratch.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines().map_while(Result::ok);
    let pids: Vec<u32> = lines
        .filter_map(|line| Some(line.split_once(MARK)?.1.split_whitespace().map(str::parse).collect()))
        .map(|pids: Result<_, _>| pids.unwrap())
        .next()
        .expect("the host tells its numbers");
    assert_eq!(pids.iter().filter(|&&pid| is_alive(pid)).count(), 3, "{pids:?}");
    host.kill().unwrap();
    host.wait().unwrap();
    let began = Instant::now();
    while pids.iter().any(|&pid| is_alive(pid)) {
        assert!(began.elapsed() < common::PATIENCE, "{pids:?} are alive");
        thread::yield_now();
    }
    assert_eq!(mounts(), before);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
#[ignore = "the part of a host"]
#[allow(clippy::print_stdout)]
fn a_host_that_waits() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let script = "setsid sleep 1000 < /dev/null & echo x > /tmp/file; echo ready; exec cat";
        let spec = Spec { jail: Some(Jail::new("/root", 1)), cwd: Some("/".into()), ..sh(script) };
        let (process, stdio) = Process::start(&spec).unwrap();
        assert_eq!(process.confinement().rung, Rung::Overlay);
        line(&mut tokio::io::BufReader::new(stdio.stdout)).await;
        let keeper = fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
        let keeper = keeper.rsplit(") ").next().unwrap().split(' ').nth(1).unwrap().to_owned();
        let daemon = process.descendants().unwrap()[0].pid;
        println!("\n{MARK} {} {daemon} {keeper}", process.pid());
        // Ends with the test that plays against us, should that fail.
        std::io::stdin().lines().for_each(drop);
    });
}
