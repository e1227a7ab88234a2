//! Serves MCP over HTTP. Hand-written, so that flawed modes can send any bytes.

pub mod connection;
mod event;
mod headers;
mod incoming;
mod legacy_sse;
mod post;
mod sessions;
mod streamable;

use crate::options::Transport;
use crate::server::Server;
use connection::Connection;
use incoming::Incoming;
use legacy_sse::LegacySse;
use sessions::Sessions;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// More than any test opens at once, few enough for a small machine.
const MOST_CONNECTIONS: usize = 512;

/// What all connections share.
struct Site {
    server: Arc<Server>,
    sessions: Sessions,
    legacy_sse: LegacySse,
}

/// Serves until the process is killed.
pub fn serve(server: Arc<Server>) -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, server.options.port))?;
    let path = match server.options.transport {
        Transport::LegacySse => legacy_sse::PATH,
        Transport::Stdio | Transport::Http => streamable::PATH,
    };
    writeln!(io::stderr(), "listening http://{}{path}", listener.local_addr()?)?;
    let site = Arc::new(Site { server, sessions: Sessions::default(), legacy_sse: LegacySse::default() });
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        // A client that gave up before it was taken is no reason to stop.
        let Ok(stream) = stream else { continue };
        if open.fetch_add(1, Ordering::SeqCst) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (site, open) = (Arc::clone(&site), Arc::clone(&open));
        thread::spawn(move || {
            // A client that goes away in the middle is its own business.
            let _ = converse(&site, stream);
            open.fetch_sub(1, Ordering::SeqCst);
        });
    }
    Ok(())
}

/// All requests of one connection, until either side has had enough.
fn converse(site: &Site, stream: TcpStream) -> io::Result<()> {
    let connection = Arc::new(Connection::new(stream)?);
    let mut reader = connection.reader();
    loop {
        match Incoming::read(&mut reader, &connection)? {
            incoming::Read::Request(request) => {
                answer(site, &request, &connection)?;
                if request.closes || connection.is_spoilt() {
                    return Ok(());
                }
            }
            incoming::Read::Refused(status) => return connection.refuse(status, "this is no request"),
            incoming::Read::End => return Ok(()),
        }
    }
}

fn answer(site: &Site, request: &Incoming, connection: &Arc<Connection>) -> io::Result<()> {
    if !headers::are_local(request) {
        return connection.refuse(403, "only pages of this machine may ask");
    }
    match (site.server.options.transport, request.path.as_str()) {
        (Transport::LegacySse, legacy_sse::PATH | legacy_sse::MESSAGES) => {
            legacy_sse::answer(site, request, connection)
        }
        (Transport::Http, streamable::PATH) => streamable::answer(site, request, connection),
        _ => connection.refuse(404, "there is nothing here"),
    }
}
