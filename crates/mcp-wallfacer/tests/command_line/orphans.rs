//! Whatever ends the command, nothing that it started lives on: not even a grandchild in a session of its own.
#![cfg(target_os = "linux")]

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::world::{PATIENCE, World, fixture};

/// Between two looks at the table of processes.
const PAUSE: Duration = Duration::from_millis(10);
/// Everything a run starts inherits this variable, so that it is found wherever it hides.
const MARK: &str = "WALLFACER_TEST_MARK";
const SIGINT: u32 = 2;
/// The seconds that the grandchild sleeps, by which it is known.
const GRANDCHILD: &str = "600";
/// Moments at which a run is killed, and the time between them: from before the server is there into the midst of it.
const MOMENTS: u32 = 20;
const APART: Duration = Duration::from_millis(70);

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
        let command = format!("kill -{signal} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
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

fn marked(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| carries(name, mark)).collect()
}

fn carries(process: &str, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let variable = format!("{MARK}={mark}");
    environment.split(|byte| *byte == 0).any(|found| found == variable.as_bytes())
}

/// What a process was started as ends with this word; inside a sandbox its files are not ours to see, but this is.
fn last_argument(process: &str) -> String {
    let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).filter(|word| !word.is_empty()).collect();
    words.last().map(|word| String::from_utf8_lossy(word).into_owned()).unwrap_or_default()
}

fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        thread::sleep(PAUSE);
    }
}

/// Whoever starts the tests in the background may have told them to ignore Ctrl-C, and the command would obey.
/// Then `env` tells it otherwise.
fn hearing(command: Command) -> Command {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    if u64::from_str_radix(ignored, 16).unwrap() & (1 << (SIGINT - 1)) == 0 {
        return command;
    }
    let mut hearing = Command::new("env");
    hearing.arg("--default-signal=INT").arg(command.get_program()).args(command.get_args());
    hearing.current_dir(command.get_current_dir().unwrap()).env_clear();
    hearing.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    hearing.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    hearing
}

#[test]
fn nothing_is_left_after_ctrl_c() {
    let run = Run::start("int", "never-answers").up();
    run.signal("INT");
    assert_ne!(run.ends(), Some(0));
}

#[test]
fn nothing_is_left_after_sigterm() {
    let run = Run::start("term", "never-answers").up();
    run.signal("TERM");
    assert_ne!(run.ends(), Some(0));
}

#[test]
fn nothing_is_left_after_sigkill() {
    let run = Run::start("kill", "never-answers").up();
    run.signal("KILL");
    assert_eq!(run.ends(), None);
}

#[test]
fn nothing_is_left_whenever_a_run_is_killed() {
    let mounts = || fs::read_to_string("/proc/self/mountinfo").unwrap();
    let before = mounts();
    for moment in 0..MOMENTS {
        let (world, scratch) = (World::new(), tempfile::tempdir().unwrap());
        let name = if moment % 2 == 0 { "behave" } else { "check" };
        let mark = format!("killed-{moment}-{}", std::process::id());
        let mut command = world.command(&[name, "--", &fixture(), "behaviour", "leaves-child"]);
        command.env(MARK, &mark).env("TMPDIR", scratch.path());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(APART * moment);
        child.kill().unwrap();
        child.wait().unwrap();
        wait_until("everything that it started ends", || marked(&mark).is_empty());
        let left: Vec<_> = fs::read_dir(scratch.path()).unwrap().flatten().collect();
        assert!(left.is_empty(), "{name} was killed after {:?} and left {left:?}", APART * moment);
    }
    assert_eq!(mounts(), before);
}

#[test]
fn nothing_is_left_after_a_normal_end() {
    assert_eq!(Run::start("normal", "correct").ends(), Some(0));
}

#[test]
fn nothing_is_left_after_a_server_that_fails_to_start() {
    assert_eq!(Run::start("failing", "exits-at-start").ends(), Some(3));
}
