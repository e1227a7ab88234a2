//! Pipes between us and a process. All of them close on exec, so that none leaks into a process it is not meant for.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// A few large frames fit, so that neither side waits for the other at every 64 KiB; small enough that some hundred
/// lives stay below the 64 MiB that Linux grants all pipes of a user together.
#[cfg(target_os = "linux")]
const WANTED_CAPACITY: libc::c_int = 256 * 1024;

pub(crate) struct Pipe {
    pub(crate) read: OwnedFd,
    pub(crate) write: OwnedFd,
}

impl Pipe {
    pub(crate) fn new() -> io::Result<Self> {
        let (read, write) = io::pipe()?;
        Ok(Self { read: above_stdio(read.into())?, write: above_stdio(write.into())? })
    }

    /// A pipe with room for more than the default, where the system allows it.
    pub(crate) fn large() -> io::Result<Self> {
        let pipe = Self::new()?;
        #[cfg(target_os = "linux")]
        // SAFETY: the descriptor is open. A refusal leaves the pipe as it was, which is good enough.
        unsafe {
            libc::fcntl(pipe.write.as_raw_fd(), libc::F_SETPIPE_SZ, WANTED_CAPACITY);
        }
        Ok(pipe)
    }
}

/// Descriptors 0 to 2 are what the process's own stdio is put on, so a source must not lie there, as it would if
/// we had been started without stdio of our own.
fn above_stdio(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > libc::STDERR_FILENO {
        return Ok(fd);
    }
    // SAFETY: the descriptor is open, and the new one is owned by nobody else.
    unsafe {
        let raised = libc::fcntl(fd.as_raw_fd(), libc::F_DUPFD_CLOEXEC, libc::STDERR_FILENO + 1);
        if raised < 0 { Err(io::Error::last_os_error()) } else { Ok(OwnedFd::from_raw_fd(raised)) }
    }
}

pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>) -> io::Result<()> {
    // SAFETY: the descriptor is open; these calls touch its flags alone.
    unsafe {
        let flags = libc::fcntl(fd.as_raw_fd(), libc::F_GETFL);
        if flags < 0 || libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) < 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Waits until a descriptor can be read or has come to its end; says so for each. Those given as `None` are left out.
pub(crate) fn readable<const N: usize>(
    fds: [Option<BorrowedFd<'_>>; N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| libc::pollfd {
        // A negative descriptor is passed over by the system.
        fd: fd.map_or(-1, |fd| fd.as_raw_fd()),
        events: libc::POLLIN,
        revents: 0,
    });
    let timeout = timeout.map_or(-1, |timeout| timeout.as_millis().try_into().unwrap_or(libc::c_int::MAX));
    loop {
        // SAFETY: `polled` is an array of exactly N entries.
        let ready = unsafe { libc::poll(polled.as_mut_ptr(), N as libc::nfds_t, timeout) };
        if ready >= 0 {
            return Ok(polled.map(|entry| entry.revents != 0));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}
