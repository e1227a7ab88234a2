//! Passes a descriptor and a few bytes through a socket. Sending runs after a fork: no allocation, no locks.

use std::io;
use std::mem::{self, MaybeUninit};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;

/// Room for the header and one descriptor, in words for the alignment.
const CONTROL_WORDS: usize = 4;

/// Two ends of a socket that keeps messages apart; both close on exec.
pub(crate) fn pair() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the array has room for both descriptors, which nobody else owns.
    unsafe {
        if libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((OwnedFd::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// Sends a number, and with it a descriptor unless that is negative. Gives what `sendmsg` gives.
///
/// # Safety
/// The descriptors are open.
pub(crate) unsafe fn send(socket: RawFd, number: i32, descriptor: RawFd) -> isize {
    let mut bytes = number.to_ne_bytes();
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut control = [0_u64; CONTROL_WORDS];
    // SAFETY: all zeros are a message without parts.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &mut part;
    message.msg_iovlen = 1;
    if descriptor >= 0 {
        message.msg_control = control.as_mut_ptr().cast();
        // SAFETY: the control buffer holds one header with one descriptor, which is what its length is set to.
        unsafe {
            message.msg_controllen = libc::CMSG_SPACE(size_of::<RawFd>() as u32) as _;
            let header = libc::CMSG_FIRSTHDR(&message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(size_of::<RawFd>() as u32) as _;
            ptr::write_unaligned(libc::CMSG_DATA(header).cast::<RawFd>(), descriptor);
        }
    }
    // SAFETY: all that the message points to lives until the call is over.
    unsafe { libc::sendmsg(socket, &message, libc::MSG_NOSIGNAL) }
}

/// The next number and the descriptor that came with it.
pub(crate) fn receive(socket: &OwnedFd) -> io::Result<(i32, Option<OwnedFd>)> {
    let mut bytes = [0_u8; 4];
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let mut control = [0_u64; CONTROL_WORDS];
    let mut message = MaybeUninit::<libc::msghdr>::zeroed();
    // SAFETY: all zeros are a message without parts; the buffers outlive the call, and a descriptor that came with
    // the message is owned by nobody else.
    unsafe {
        let message = message.assume_init_mut();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = size_of_val(&control) as _;
        let length = libc::recvmsg(socket.as_raw_fd(), message, libc::MSG_CMSG_CLOEXEC);
        if length < 0 {
            return Err(io::Error::last_os_error());
        }
        let header = libc::CMSG_FIRSTHDR(message);
        let descriptor = (!header.is_null()
            && (*header).cmsg_level == libc::SOL_SOCKET
            && (*header).cmsg_type == libc::SCM_RIGHTS)
            .then(|| OwnedFd::from_raw_fd(ptr::read_unaligned(libc::CMSG_DATA(header).cast())));
        if length.unsigned_abs() != bytes.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok((i32::from_ne_bytes(bytes), descriptor))
    }
}
