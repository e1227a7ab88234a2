//! Whatever ends the command, nothing that it started lives on: not even a grandchild in a session of its own.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::Child;

use crate::processes::{MARK, hearing, marked, send, wait_until};
use crate::world::{World, fixture};

/// The seconds that the grandchild sleeps, by which it is known.
const GRANDCHILD: &str = "600";

/// The command, a server and its grandchild, all running.
struct Run {
    /// The directory in which all of it runs.
    _world: World,
    child: Child,
    mark: String,
}

impl Run {
    /// With a server that leaves a child in a session of its own, and goes on as `mode`.
    fn start(name: &str, mode: &str) -> Run {
        let world = World::new();
        let mark = format!("{name}-{}", std::process::id());
        let script =
            format!("setsid sleep {GRANDCHILD} >/dev/null 2>&1 </dev/null & exec '{}' {mode}", fixture());
        let mut command = world.command(&["doctor", "--startup-timeout", "10m", "--", "sh", "-c", &script]);
        command.env(MARK, &mark);
        let child = hearing(command).spawn().unwrap();
        Run { _world: world, child, mark }
    }

    /// With all of it up: the command, the server, the grandchild.
    fn up(mut self) -> Run {
        wait_until("server and grandchild are up", || {
            assert_eq!(self.child.try_wait().unwrap(), None, "the server never answers, so nothing ends");
            let alive = self.alive();
            let runs = |program: &str| alive.iter().any(|process| last_argument(process) == program);
            runs(GRANDCHILD) && runs("never-answers")
        });
        self
    }

    fn signal(&self, signal: &str) {
        send(signal, self.child.id());
    }

    /// Waits for the end of the command, and then for the end of everything else.
    fn ends(mut self) -> Option<i32> {
        let mut status = None;
        wait_until("the command ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        wait_until("everything that it started ends", || self.alive().is_empty());
        status.unwrap().code()
    }

    /// Every process that carries our mark. One that is only waiting to be reaped carries none any more.
    fn alive(&self) -> Vec<String> {
        marked(&self.mark)
    }
}

/// What a process was started as ends with this word; inside a sandbox its files are not ours to see, but this is.
fn last_argument(process: &str) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
    words.last().map(|word| String::from_utf8_lossy(word).into_owned()).unwrap_or_default()
}

#[test]
fn nothing_is_left_after_ctrl_c() {
    let run = Run::start("int", "never-answers").up();
    run.signal("INT");
    assert_eq!(run.ends(), Some(3));
}

#[test]
fn nothing_is_left_after_sigterm() {
    let run = Run::start("term", "never-answers").up();
    run.signal("TERM");
    assert_eq!(run.ends(), Some(3));
}

#[test]
fn nothing_is_left_after_sigkill() {
    let run = Run::start("kill", "never-answers").up();
    run.signal("KILL");
    assert_eq!(run.ends(), None);
}

#[test]
fn nothing_is_left_after_a_normal_end() {
    assert_eq!(Run::start("normal", "correct").ends(), Some(0));
}

#[test]
fn nothing_is_left_after_a_server_that_fails_to_start() {
    assert_eq!(Run::start("failing", "exits-at-start").ends(), Some(3));
}
