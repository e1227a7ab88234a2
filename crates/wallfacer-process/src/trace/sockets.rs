//! Which socket is of which kind and connected to whom, by the number the kernel gives each: so it holds also when a
//! descriptor was copied, inherited or passed on.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use super::address;
use super::event::{Address, Family, Socket, Transport};

/// A target can make sockets without end. Numbers rise, so the first is the oldest.
const MAX_KNOWN: usize = 65_536;

/// The kind of a socket without its flags (non-blocking, close on exec).
const KIND_BITS: u64 = 0xf;

#[derive(Debug, Default)]
pub(super) struct Sockets {
    known: BTreeMap<u64, Known>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Known {
    pub(super) socket: Option<Socket>,
    pub(super) peer: Option<Address>,
    pub(super) bound: Option<Address>,
}

impl Sockets {
    pub(super) fn get(&self, inode: u64) -> Option<&Known> {
        self.known.get(&inode)
    }

    pub(super) fn change(&mut self, inode: u64, change: impl FnOnce(&mut Known)) {
        change(self.known.entry(inode).or_default());
        if self.known.len() > MAX_KNOWN {
            self.known.pop_first();
        }
    }
}

/// The number in what `/proc` says of a descriptor.
pub(super) fn inode(link: &OsStr) -> Option<u64> {
    let number = link.as_bytes().strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

pub(super) fn kind(family: u64, transport: u64) -> Socket {
    let family = family as u16;
    let transport = (transport & KIND_BITS) as u16;
    Socket {
        family: match libc::c_int::from(family) {
            libc::AF_INET => Family::Inet,
            libc::AF_INET6 => Family::Inet6,
            libc::AF_UNIX => Family::Unix,
            _ => Family::Other(family),
        },
        transport: match libc::c_int::from(transport) {
            libc::SOCK_STREAM => Transport::Stream,
            libc::SOCK_DGRAM => Transport::Datagram,
            libc::SOCK_RAW => Transport::Raw,
            _ => Transport::Other(transport),
        },
    }
}

/// Asks the socket itself.
pub(super) fn examine(socket: &OwnedFd) -> Known {
    let kinds = [libc::SO_DOMAIN, libc::SO_TYPE].map(|option| number(socket, option));
    let [Some(family), Some(transport)] = kinds else { return Known::default() };
    Known {
        socket: Some(kind(family, transport)),
        peer: name(socket, libc::getpeername),
        bound: name(socket, libc::getsockname),
    }
}

fn number(socket: &OwnedFd, option: libc::c_int) -> Option<u64> {
    let mut value: libc::c_int = 0;
    let mut length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the value is as long as the length says.
    let result = unsafe {
        let value = ptr::from_mut(&mut value).cast();
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, value, &mut length)
    };
    (result == 0).then_some(value as u64)
}

type Ask = unsafe extern "C" fn(libc::c_int, *mut libc::sockaddr, *mut libc::socklen_t) -> libc::c_int;

fn name(socket: &OwnedFd, ask: Ask) -> Option<Address> {
    let mut bytes = MaybeUninit::<[u8; address::MAX_BYTES]>::zeroed();
    let mut length = address::MAX_BYTES as libc::socklen_t;
    // SAFETY: the buffer is as long as the length says, and zeros are a value of it.
    let bytes = unsafe {
        if ask(socket.as_raw_fd(), bytes.as_mut_ptr().cast(), &mut length) != 0 {
            return None;
        }
        bytes.assume_init()
    };
    bytes.get(..length as usize).map(address::parse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_socket_has_the_number_of_one() {
        assert_eq!(inode(OsStr::new("socket:[4711]")), Some(4711));
        for other in ["pipe:[4711]", "/tmp/socket:[1]", "socket:[]", "socket:[1", ""] {
            assert_eq!(inode(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn flags_are_no_part_of_the_kind() {
        let flags = (libc::SOCK_DGRAM | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK) as u64;
        let expected = Socket { family: Family::Inet6, transport: Transport::Datagram };
        assert_eq!(kind(libc::AF_INET6 as u64, flags), expected);
    }

    #[test]
    fn the_oldest_of_too_many_is_forgotten() {
        let mut sockets = Sockets::default();
        for inode in 1..=MAX_KNOWN as u64 + 1 {
            sockets.change(inode, |_| ());
        }
        assert!(sockets.get(1).is_none());
        assert!(sockets.get(2).is_some());
    }
}
