//! Finds what a run has started, wherever it hides, and waits for its end.

use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::world::PATIENCE;

/// Between two looks at the table of processes.
const PAUSE: Duration = Duration::from_millis(10);
/// Everything a run starts inherits this variable, so that it is found wherever it hides.
pub const MARK: &str = "MARK_OF_A_TEST";
const SIGINT: u32 = 2;

/// Every process that carries this mark. One that is only waiting to be reaped carries none any more.
pub fn marked(mark: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let names = processes.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| carries(name, mark)).collect()
}

fn carries(process: &str, mark: &str) -> bool {
    let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let variable = format!("{MARK}={mark}");
    environment.split(|byte| *byte == 0).any(|found| found == variable.as_bytes())
}

pub fn wait_until(what: &str, mut happened: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !happened() {
        assert!(Instant::now() < deadline, "{what}: not within {PATIENCE:?}");
        thread::sleep(PAUSE);
    }
}

pub fn send(signal: &str, process: u32) {
    let command = format!("kill -{signal} {process}");
    assert!(Command::new("sh").args(["-c", &command]).status().unwrap().success());
}

/// Whoever starts the tests in the background may have told them to ignore Ctrl-C, and the command would obey.
/// Then `env` tells it otherwise.
pub fn hearing(command: Command) -> Command {
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
