//! A port of loopback for a server that is about to be started.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU32, Ordering};

/// Below the range from which systems take ports for outgoing connections: one of those could come in between.
const FIRST: u32 = 10_000;
const COUNT: u32 = 20_000;

/// A port that nothing listens on, and that no other call in this process is given.
///
/// # Panics
/// When every port is taken.
pub fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Processes that test at the same time begin far apart.
    let begin = std::process::id().wrapping_mul(7_919);
    (0..COUNT)
        .map(|_| FIRST + begin.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % COUNT)
        .filter_map(|port| u16::try_from(port).ok())
        .find(|port| TcpListener::bind(("127.0.0.1", *port)).is_ok())
        .expect("one of many ports is free")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_port_is_given_twice() {
        let ports: BTreeSet<u16> = (0..100).map(|_| free_port()).collect();
        assert_eq!(ports.len(), 100);
    }
}
