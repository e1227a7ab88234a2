//! When we die, however suddenly, nothing of a jail outlives us: no process, no mount, no file.
//!
//! The part of the dying host is played by this test program itself, started anew for the ignored test.

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;
use std::{fs, thread};

use common::{is_alive, line, sh};
use wallfacer_process::jail::Jail;
use wallfacer_process::{Process, Rung, Spec};

const MARK: &str = "here:";

const HOME: &str = "/root";

#[test]
fn a_killed_host_leaves_no_process_no_mount_and_no_file() {
    for host in ["a_host_that_waits", "a_host_without_namespaces_that_waits"] {
        killed_host_leaves_nothing(host);
    }
}

fn killed_host_leaves_nothing(part: &str) {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "--nocapture", part])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(host.stdout.take().unwrap()).lines().map_while(Result::ok);
    let told = lines.filter_map(|line| Some(line.split_once(MARK)?.1.trim().to_owned())).next();
    let told = told.expect("the host tells its numbers and its home");
    let (pids, home) = told.split_once(':').unwrap();
    let pids: Vec<u32> = pids.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    let refuge = Path::new(home).parent().filter(|_| home != HOME);
    assert!(refuge.is_none_or(Path::exists));
    assert_eq!(pids.iter().filter(|&&pid| is_alive(pid)).count(), 3, "{pids:?}");
    host.kill().unwrap();
    host.wait().unwrap();
    let began = Instant::now();
    while pids.iter().any(|&pid| is_alive(pid)) {
        assert!(began.elapsed() < common::PATIENCE, "{pids:?} are alive");
        thread::yield_now();
    }
    assert_eq!(mounts(), before);
    // The keeper's last act.
    while refuge.is_some_and(Path::exists) {
        assert!(began.elapsed() < common::PATIENCE, "{refuge:?} is there");
        thread::yield_now();
    }
}

#[test]
#[ignore = "the part of a host"]
fn a_host_that_waits() {
    play_host(Rung::Overlay);
}

#[test]
#[ignore = "the part of a host"]
fn a_host_without_namespaces_that_waits() {
    play_host(Rung::Fence);
}

#[allow(clippy::print_stdout)]
fn play_host(rung: Rung) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let script = "setsid sleep 1000 < /dev/null & echo x > ~/file; echo ready; exec cat";
        let jail = Jail { best: rung, ..Jail::new(HOME, 1) };
        let mut spec = Spec { jail: Some(jail), cwd: Some("/".into()), ..sh(script) };
        spec.env.insert("HOME".into(), HOME.into());
        let (process, stdio) = Process::start(&spec).unwrap();
        let confinement = process.confinement();
        assert_eq!(confinement.rung, rung);
        line(&mut tokio::io::BufReader::new(stdio.stdout)).await;
        let keeper = fs::read_to_string(format!("/proc/{}/stat", process.pid())).unwrap();
        let keeper = keeper.rsplit(") ").next().unwrap().split(' ').nth(1).unwrap().to_owned();
        let daemon = process.descendants().unwrap()[0].pid;
        let home = confinement.home.unwrap();
        println!("\n{MARK} {} {daemon} {keeper}:{}", process.pid(), home.display());
        // Ends with the test that plays against us, should that fail.
        std::io::stdin().lines().for_each(drop);
    });
}
