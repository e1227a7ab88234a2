//! Connects to a server that listens, on our own network or on that of its sandbox.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use tokio::net::TcpStream;
#[cfg(target_os = "linux")]
use wallfacer_process::jail::Opener;

/// How a server that listens is got at.
#[derive(Debug, Clone, Default)]
pub struct Way {
    #[cfg(target_os = "linux")]
    opener: Option<Opener>,
}

impl Way {
    #[cfg(target_os = "linux")]
    pub(super) fn into(opener: Option<Opener>) -> Self {
        Self { opener }
    }

    pub async fn connect(&self, host: &str, port: u16) -> io::Result<TcpStream> {
        #[cfg(target_os = "linux")]
        if let Some(opener) = &self.opener {
            return connect_inside(opener, host, port).await;
        }
        TcpStream::connect((host, port)).await
    }
}

#[cfg(target_os = "linux")]
async fn connect_inside(opener: &Opener, host: &str, port: u16) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::ConnectionRefused);
    for ip in addresses(host) {
        let opener = opener.clone();
        let connecting = move || opener.connect_tcp(SocketAddr::new(ip, port));
        // A server that does not accept lets us wait.
        match tokio::task::spawn_blocking(connecting).await.map_err(io::Error::other)? {
            Ok(stream) => {
                stream.set_nonblocking(true)?;
                return TcpStream::from_std(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Whatever name the server goes by outside, inside it is this machine.
#[cfg(target_os = "linux")]
fn addresses(host: &str) -> Vec<IpAddr> {
    let loopback = || vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    match host.parse::<IpAddr>() {
        Ok(ip) if !ip.is_unspecified() => vec![ip],
        _ => loopback(),
    }
}
