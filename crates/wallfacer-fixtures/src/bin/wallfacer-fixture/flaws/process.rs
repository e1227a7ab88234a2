//! Flaws of the process rather than of its words.

use std::env;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

/// The first arguments of processes that are only there to be there: for some time, or until their input ends.
const LINGER: &str = "linger";
const LINGER_ON_INPUT: &str = "linger-on-input";
/// Long enough to be seen, short enough that a test that fails to end it leaves nothing for good.
const LONGEST_LINGER: Duration = Duration::from_secs(60);

/// A child in a process group of its own, holding none of our pipes, that outlives us.
pub fn leave_child() -> io::Result<()> {
    let mut child = Command::new(env::current_exe()?);
    child.arg(LINGER).process_group(0);
    child.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().map(drop)
}

/// The same process goes on with another standard output, so that the client sees the end of ours.
pub fn close_stdout() -> io::Error {
    match env::current_exe() {
        Ok(program) => Command::new(program).arg(LINGER_ON_INPUT).stdout(Stdio::null()).exec(),
        Err(error) => error,
    }
}

/// Whether this process was started only to linger; if so, it has lingered when this returns.
pub fn lingers(argument: Option<&str>) -> bool {
    match argument {
        Some(LINGER) => thread::sleep(LONGEST_LINGER),
        // Input that cannot be read has ended as well.
        Some(LINGER_ON_INPUT) => drop(io::copy(&mut io::stdin(), &mut io::sink())),
        _ => return false,
    }
    true
}

#[allow(clippy::exit, reason = "the flaw is to end in the middle of everything")]
pub fn exit(code: i32) -> ! {
    std::process::exit(code)
}
