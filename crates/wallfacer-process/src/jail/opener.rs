//! Opens sockets in the jail's own network.
//!
//! A socket stays in the network it was made in, whoever holds it. So the keeper, which lives in the jail, makes
//! sockets when asked and passes them to us; all else is done here.

use std::io;
use std::mem;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::passing;
use crate::pipe;
use crate::sink::Sockets;

/// A keeper answers at once, unless the machine is very busy.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// Within the jail a connection is made or refused at once; only a server that does not accept lets one wait.
const CONNECT_PATIENCE: Duration = Duration::from_secs(5);

/// As many as may wait to be accepted.
const BACKLOG: libc::c_int = 128;

/// Makes sockets inside a jail. Clones share one way to the keeper, and wait for each other.
#[derive(Debug, Clone)]
pub struct Opener(Arc<Mutex<OwnedFd>>);

impl Opener {
    pub(crate) fn new(keeper: OwnedFd) -> Self {
        Self(Arc::new(Mutex::new(keeper)))
    }

    /// A listener. Every address is local in a jail with [`Network::Sink`](super::Network::Sink), so it may be any.
    pub fn listen_tcp(&self, at: SocketAddr) -> io::Result<TcpListener> {
        let socket = self.socket(at, libc::SOCK_STREAM)?;
        bind(&socket, at)?;
        // SAFETY: the socket is open.
        succeeded(unsafe { libc::listen(socket.as_raw_fd(), BACKLOG) })?;
        Ok(socket.into())
    }

    /// A bound UDP socket.
    pub fn bind_udp(&self, at: SocketAddr) -> io::Result<UdpSocket> {
        let socket = self.socket(at, libc::SOCK_DGRAM)?;
        bind(&socket, at)?;
        Ok(socket.into())
    }

    /// A connection to a server in the jail.
    pub fn connect_tcp(&self, to: SocketAddr) -> io::Result<TcpStream> {
        let socket = self.socket(to, libc::SOCK_STREAM)?;
        pipe::set_nonblocking(socket.as_fd())?;
        let (address, length) = encode(to);
        // SAFETY: the address is as long as the length says.
        let connected = unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), length) };
        match succeeded(connected) {
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => writable(&socket)?,
            other => other?,
        }
        let stream = TcpStream::from(socket);
        if let Some(error) = stream.take_error()? {
            return Err(error);
        }
        stream.set_nonblocking(false)?;
        Ok(stream)
    }

    fn socket(&self, for_address: SocketAddr, kind: libc::c_int) -> io::Result<OwnedFd> {
        let family = if for_address.is_ipv4() { libc::AF_INET } else { libc::AF_INET6 };
        let keeper = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the socket is open.
        if unsafe { passing::send(keeper.as_raw_fd(), request(family, kind), -1) } < 0 {
            return Err(io::Error::last_os_error());
        }
        let [answered] = pipe::readable([Some(keeper.as_fd())], Some(ANSWER_PATIENCE))?;
        if !answered {
            return Err(io::ErrorKind::TimedOut.into());
        }
        match passing::receive(&keeper)? {
            (0, Some(socket)) => Ok(socket),
            (errno, _) => Err(io::Error::from_raw_os_error(errno)),
        }
    }
}

impl Sockets for Opener {
    fn listen_tcp(&self, at: SocketAddr) -> io::Result<TcpListener> {
        self.listen_tcp(at)
    }

    fn bind_udp(&self, at: SocketAddr) -> io::Result<UdpSocket> {
        self.bind_udp(at)
    }
}

fn request(family: libc::c_int, kind: libc::c_int) -> i32 {
    family << 8 | kind
}

/// The keeper's part: reads one request, makes the socket, passes it on. Says whether anyone may ask again. Runs
/// after a fork: no allocation, no locks.
///
/// # Safety
/// The socket is the keeper's end of the pair.
pub(crate) unsafe fn serve(asked_on: RawFd) -> bool {
    let mut bytes = [0_u8; 4];
    // SAFETY: the buffer is as long as the length says; the other calls take no pointers.
    unsafe {
        let length = libc::recv(asked_on, bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT);
        if length != 4 {
            return length < 0 && *libc::__errno_location() == libc::EAGAIN;
        }
        let asked = i32::from_ne_bytes(bytes);
        let made = libc::socket(asked >> 8, asked & 0xff | libc::SOCK_CLOEXEC, 0);
        let errno = if made < 0 { *libc::__errno_location() } else { 0 };
        let sent = passing::send(asked_on, errno, made);
        if made >= 0 {
            libc::close(made);
        }
        sent >= 0
    }
}

fn bind(socket: &OwnedFd, at: SocketAddr) -> io::Result<()> {
    let (address, length) = encode(at);
    set(socket, libc::SOL_SOCKET, libc::SO_REUSEADDR)?;
    if at.is_ipv6() {
        // Each family is asked for on its own, and one must not take the other's port.
        set(socket, libc::IPPROTO_IPV6, libc::IPV6_V6ONLY)?;
    }
    // Where an address is local by a route alone, IPv6 takes it for foreign.
    set(socket, libc::SOL_IP, libc::IP_FREEBIND)?;
    // SAFETY: the address is as long as the length says.
    succeeded(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) })
}

fn set(socket: &OwnedFd, level: libc::c_int, option: libc::c_int) -> io::Result<()> {
    let on: libc::c_int = 1;
    let length = size_of_val(&on) as libc::socklen_t;
    // SAFETY: the value is as long as the length says.
    succeeded(unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const on).cast(), length) })
}

fn encode(address: SocketAddr) -> (libc::sockaddr_storage, libc::socklen_t) {
    // SAFETY: all zeros are an address of no family.
    let mut storage: libc::sockaddr_storage = unsafe { mem::zeroed() };
    let place = &raw mut storage;
    let length = match address {
        SocketAddr::V4(v4) => {
            let encoded = libc::sockaddr_in {
                sin_family: libc::AF_INET as libc::sa_family_t,
                sin_port: v4.port().to_be(),
                sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes(v4.ip().octets()) },
                sin_zero: [0; 8],
            };
            // SAFETY: the storage is large enough and aligned for every kind of address.
            unsafe { place.cast::<libc::sockaddr_in>().write(encoded) };
            size_of_val(&encoded)
        }
        SocketAddr::V6(v6) => {
            let encoded = libc::sockaddr_in6 {
                sin6_family: libc::AF_INET6 as libc::sa_family_t,
                sin6_port: v6.port().to_be(),
                sin6_flowinfo: v6.flowinfo(),
                sin6_addr: libc::in6_addr { s6_addr: v6.ip().octets() },
                sin6_scope_id: v6.scope_id(),
            };
            // SAFETY: as above.
            unsafe { place.cast::<libc::sockaddr_in6>().write(encoded) };
            size_of_val(&encoded)
        }
    };
    (storage, length as libc::socklen_t)
}

fn writable(socket: &OwnedFd) -> io::Result<()> {
    let mut polled = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
    // SAFETY: one entry is given.
    match unsafe { libc::poll(&mut polled, 1, CONNECT_PATIENCE.as_millis() as libc::c_int) } {
        0 => Err(io::ErrorKind::TimedOut.into()),
        result => succeeded(result),
    }
}

fn succeeded(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
