//! Connects the target to a part of the real network that it may reach.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

use super::bounds::REACH;
use super::hello;
use super::ledger::Recorder;

const PIECE: usize = 16 * 1024;

/// A host, by name or address, and a port. Loopback means that of the machine we run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upstream {
    pub host: String,
    pub port: u16,
}

impl Upstream {
    /// Where the target finds it, when that is on loopback.
    pub(super) fn loopback(&self) -> Option<SocketAddr> {
        let ip = if self.host.eq_ignore_ascii_case("localhost") { "127.0.0.1" } else { self.host.as_str() };
        let ip: IpAddr = ip.parse().ok()?;
        ip.is_loopback().then(|| SocketAddr::new(ip, self.port))
    }

    /// Whether a connection to this address, given out for that name, is for it.
    pub(super) fn is_meant_by(&self, address: SocketAddr, name: Option<&str>) -> bool {
        let by_name = name.is_some_and(|name| name.eq_ignore_ascii_case(&self.host));
        let by_address = self.host.parse() == Ok(address.ip());
        self.port == address.port() && (by_name || by_address || self.loopback() == Some(address))
    }

    /// Carries bytes both ways until both sides have ended.
    pub(super) async fn forward(&self, inside: TcpStream, recorder: Recorder) -> io::Result<()> {
        let outside = timeout(REACH, TcpStream::connect((self.host.as_str(), self.port))).await??;
        let (from_target, to_target) = inside.into_split();
        let (from_outside, to_outside) = outside.into_split();
        let recorder = Mutex::new(recorder);
        let greeted = AtomicBool::new(false);
        let sent = |bytes: &[u8]| {
            let mut recorder = recorder.lock().unwrap_or_else(PoisonError::into_inner);
            recorder.sent(bytes);
            if !greeted.swap(true, Ordering::Relaxed)
                && let Some(hello) = hello::parse(bytes)
            {
                recorder.secured(hello);
            }
        };
        let answered = |bytes: &[u8]| recorder.lock().unwrap_or_else(PoisonError::into_inner).answered(bytes);
        tokio::try_join!(carry(from_target, to_outside, sent), carry(from_outside, to_target, answered))?;
        Ok(())
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, record: impl Fn(&[u8])) -> io::Result<()> {
    let mut piece = vec![0; PIECE];
    loop {
        let count = from.read(&mut piece).await?;
        if count == 0 {
            return to.shutdown().await;
        }
        record(&piece[..count]);
        to.write_all(&piece[..count]).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_is_meant_by_its_name_its_address_and_on_its_port_alone() {
        let named = Upstream { host: "DB.example".to_owned(), port: 5432 };
        let made_up = "23.1.2.3:5432".parse().unwrap();
        assert!(named.is_meant_by(made_up, Some("db.example")));
        assert!(!named.is_meant_by(made_up, Some("other.example")) && !named.is_meant_by(made_up, None));
        assert!(!named.is_meant_by("23.1.2.3:80".parse().unwrap(), Some("db.example")));
        let numbered = Upstream { host: "10.0.0.5".to_owned(), port: 80 };
        assert!(numbered.is_meant_by("10.0.0.5:80".parse().unwrap(), None));
        assert_eq!((numbered.loopback(), named.loopback()), (None, None));
        let local = Upstream { host: "localhost".to_owned(), port: 6379 };
        assert_eq!(local.loopback(), Some("127.0.0.1:6379".parse().unwrap()));
        assert!(local.is_meant_by("127.0.0.1:6379".parse().unwrap(), None));
    }
}
