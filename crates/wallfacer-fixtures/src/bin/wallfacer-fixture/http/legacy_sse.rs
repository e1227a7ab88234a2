//! The transport of 2024-11-05: one stream for everything the server says, another path for what it is told.

use super::Site;
use super::connection::Connection;
use super::event::event;
use super::incoming::Incoming;
use super::sessions::random_id;
use crate::outlet::Outlet;
use crate::session::{Session, lock};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

pub const PATH: &str = "/sse";
pub const MESSAGES: &str = "/messages";

/// How often an idle stream looks whether anyone still listens.
const GLANCE: Duration = Duration::from_millis(100);

#[derive(Default)]
pub struct LegacySse {
    listeners: Mutex<BTreeMap<String, Arc<Listener>>>,
}

/// One open stream and the session that belongs to it.
struct Listener {
    session: Arc<Session>,
    outlet: Arc<dyn Outlet>,
}

pub fn answer(site: &Site, request: &Incoming, connection: &Arc<Connection>) -> io::Result<()> {
    match (request.method.as_str(), request.path.as_str()) {
        ("GET", PATH) => listen(site, connection),
        ("POST", MESSAGES) => take(site, request, connection),
        (_, PATH) => connection.respond(405, &[("allow", "GET")], b""),
        _ => connection.respond(405, &[("allow", "POST")], b""),
    }
}

fn listen(site: &Site, connection: &Arc<Connection>) -> io::Result<()> {
    let id = random_id();
    connection.begin(&[("content-type", "text/event-stream"), ("cache-control", "no-store")])?;
    let endpoint = format!("{MESSAGES}?session={id}");
    let outlet = Arc::new(EventStream { connection: Arc::clone(connection), writing: Mutex::new(()) });
    let listener = Listener { session: Arc::default(), outlet };
    lock(&site.legacy_sse.listeners).insert(id.clone(), Arc::new(listener));
    let told = connection.chunk(&event(Some("endpoint"), None, endpoint.as_bytes()));
    while told.is_ok() && connection.is_open() {
        thread::sleep(GLANCE);
    }
    lock(&site.legacy_sse.listeners).remove(&id);
    connection.spoil();
    told
}

fn take(site: &Site, request: &Incoming, connection: &Connection) -> io::Result<()> {
    let id = request.query.strip_prefix("session=").unwrap_or_default();
    let Some(listener) = lock(&site.legacy_sse.listeners).get(id).cloned() else {
        return connection.refuse(404, "there is no such session");
    };
    connection.respond(202, &[], b"")?;
    site.server.receive(&request.body, &listener.session, &listener.outlet);
    Ok(())
}

struct EventStream {
    connection: Arc<Connection>,
    writing: Mutex<()>,
}

// A client that has gone away needs no answer, so failed writes are let go.
impl Outlet for EventStream {
    fn line(&self, bytes: &[u8]) {
        let _one_at_a_time = lock(&self.writing);
        let _ = self.connection.chunk(&event(Some("message"), None, bytes));
    }

    fn dribble(&self, bytes: &[u8]) {
        let _one_at_a_time = lock(&self.writing);
        let event = event(Some("message"), None, bytes);
        let _ = event.iter().try_for_each(|byte| self.connection.chunk(&[*byte]));
    }

    fn is_shared(&self) -> bool {
        true
    }
}
