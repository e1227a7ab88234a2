//! A second process of a program in the jail of the first: it waits at two named pipes until they are opened from here.
//!
//! One shell starts both, so that they share all that two clients on one machine share: files, locks and ports.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use tokio::net::unix::pipe::Receiver;

use super::meddle::parent;
use super::upper::open_at;
use crate::process::Stdio;

pub(crate) const SHELL: &str = "/bin/sh";
/// Where the pipes are, in a directory that every server has.
const DIRECTORY: &str = "/tmp/.second";
/// Makes the pipes in `$0`, leaves a second process waiting at them, and becomes the first. The second says by an empty line
/// that it is there.
const SCRIPT: &str = "command -p mkdir -p \"$0\" && command -p mkfifo \"$0/in\" \"$0/out\" && \
                      { { echo; exec \"$@\"; } <\"$0/in\" >\"$0/out\" & }; exec \"$@\"";

/// The arguments of the shell before the program and its own.
pub(crate) fn arguments() -> [OsString; 4] {
    [SHELL, "-c", SCRIPT, DIRECTORY].map(OsString::from)
}

/// Sets the second process going, and gives its input and its output.
pub(crate) async fn open(pid: u32) -> io::Result<Stdio> {
    let pipe = |name: &str, flags: libc::c_int| open_pipe(pid, &Path::new(DIRECTORY).join(name), flags);
    let stdin = pipe("in", libc::O_RDWR)?;
    // Held until the process has opened it: an output that nobody writes to is at its end.
    let held = pipe("out", libc::O_RDWR)?;
    let stdio = Stdio::new(stdin, pipe("out", libc::O_RDONLY)?)?;
    await_line(&stdio.stdout).await?;
    drop(held);
    Ok(stdio)
}

async fn await_line(stdout: &Receiver) -> io::Result<()> {
    let mut line = [0];
    loop {
        stdout.readable().await?;
        match stdout.try_read(&mut line) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
}

/// The server can put anything there: no link is followed, and what is no pipe is not opened for long.
fn open_pipe(pid: u32, path: &Path, flags: libc::c_int) -> io::Result<OwnedFd> {
    let (directory, name) = parent(pid, path)?;
    let file = File::from(open_at(directory.as_raw_fd(), name, flags | libc::O_NONBLOCK)?);
    match file.metadata()?.file_type().is_fifo() {
        true => Ok(file.into()),
        false => Err(io::ErrorKind::InvalidInput.into()),
    }
}
