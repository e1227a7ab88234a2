//! Opens a socket bound to an address: the one thing the sink asks of whoever keeps the network namespace.

use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};

/// Opens sockets where the target's connections arrive. May block for a moment; is never called by the sink's own
/// thread.
///
/// Sockets are bound to the very address that the target asks for, not to a port of all addresses. So what is asked
/// of loopback stays unanswered, UDP answers come from the right address, and the target's own listeners on the same
/// port are left alone. Addresses that are local only by a route need `IP_FREEBIND`.
pub trait Sockets: Send + Sync {
    /// A TCP listener; the unspecified address means all addresses of that family.
    fn listen_tcp(&self, at: SocketAddr) -> io::Result<TcpListener>;

    /// A bound UDP socket.
    fn bind_udp(&self, at: SocketAddr) -> io::Result<UdpSocket>;
}
