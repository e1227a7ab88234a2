//! Small servers written in `sh`, and ways to wait for what they do.

// Each test file uses its own part of this.
#![allow(dead_code)]

pub mod memory;

use std::future::Future;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::pipe::Receiver;
use wallfacer_process::{ControlKind, Process, Spec, Stdio};

/// Longer than anything takes on a busy machine: reached only when a test fails.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

pub const BOTH: [ControlKind; 2] = [ControlKind::WholeTree, ControlKind::ProcessGroup];

pub fn command(program: &str, args: &[&str]) -> Spec {
    Spec {
        args: args.iter().map(Into::into).collect(),
        env: [("PATH".into(), PATH.into())].into(),
        ..Spec::new(program)
    }
}

pub fn sh(script: &str) -> Spec {
    command("sh", &["-c", script])
}

pub fn start(script: &str) -> (Process, Stdio) {
    Process::start(&sh(script)).expect("the shell starts")
}

pub async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("this takes no minute")
}

/// The next line on stdout.
pub async fn line(stdout: &mut BufReader<Receiver>) -> String {
    let mut line = String::new();
    soon(stdout.read_line(&mut line)).await.expect("stdout can be read");
    line.trim_end().to_owned()
}

/// All of stdout, until the last holder has closed it.
pub async fn output(mut stdout: Receiver) -> String {
    let mut text = String::new();
    soon(stdout.read_to_string(&mut text)).await.expect("stdout can be read");
    text
}

/// The ordinary user that every system has.
pub const NOBODY: u32 = 65_534;

pub fn is_administrator() -> bool {
    // A process's own directory belongs to whoever it acts as.
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

/// Runs all tests of this program once more as an ordinary user, except the one that asks for it.
pub fn tests_hold_for_an_ordinary_user(asking: &str) {
    if !is_administrator() {
        return;
    }
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--test-threads=2", "--skip", asking])
        .uid(NOBODY)
        .gid(NOBODY)
        .current_dir("/")
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}

/// Whether a process with this number is there and has not ended.
pub fn is_alive(pid: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(") ").next().unwrap_or("Z").starts_with(['Z', 'X']))
}
