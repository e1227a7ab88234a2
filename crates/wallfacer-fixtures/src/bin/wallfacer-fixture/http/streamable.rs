//! Streamable HTTP: one path for everything, by the rules of the era that each message belongs to.

use super::Site;
use super::connection::Connection;
use super::event::event;
use super::headers;
use super::incoming::Incoming;
use super::post::{Manner, Post};
use super::sessions::HttpSession;
use crate::flaws;
use crate::greeting;
use crate::message::{self, Failure};
use crate::options::Era;
use crate::outlet::Outlet;
use crate::session::Session;
use crate::version::Version;
use serde_json::Value;
use std::io;
use std::sync::Arc;
use std::time::Duration;

pub const PATH: &str = "/mcp";

/// How often an idle stream looks whether anyone still listens.
const GLANCE: Duration = Duration::from_millis(250);

pub fn answer(site: &Site, request: &Incoming, connection: &Arc<Connection>) -> io::Result<()> {
    let modern = site.server.options.era == Era::Modern
        || site.server.options.era == Era::Both
            && request.header(headers::VERSION) == Some(Version::MODERN.as_str());
    match request.method.as_str() {
        "POST" => post(site, request, connection),
        "GET" if !modern => listen(site, request, connection),
        "DELETE" if !modern => delete(site, request, connection),
        _ if modern => connection.respond(405, &[("allow", "POST")], b""),
        _ => connection.respond(405, &[("allow", "POST, GET, DELETE")], b""),
    }
}

fn post(site: &Site, request: &Incoming, connection: &Arc<Connection>) -> io::Result<()> {
    let kind = request.header("content-type").unwrap_or_default();
    if !kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
        return connection.refuse(415, "send application/json");
    }
    let accepted = request.header("accept").unwrap_or("*/*");
    if !["application/json", "text/event-stream", "*/*"].iter().any(|known| accepted.contains(known)) {
        return connection.refuse(406, "accept application/json and text/event-stream");
    }
    let message = serde_json::from_slice::<Value>(&request.body);
    if let Ok(message) = &message
        && let Some(respond) = flaws::http::instead(&site.server.options.mode, message)
    {
        return respond(connection);
    }
    match message {
        Ok(message) if is_modern(site, request, &message) => post_modern(site, request, &message, connection),
        Ok(message) => post_legacy(site, request, &message, connection),
        Err(_) => {
            refuse(connection, 400, &Value::Null, &Failure::new(message::PARSE_ERROR, "this is not JSON"))
        }
    }
}

fn is_modern(site: &Site, request: &Incoming, message: &Value) -> bool {
    let claims = || {
        request.header(headers::VERSION) == Some(Version::MODERN.as_str())
            || message["method"] == "server/discover"
            || message["params"].as_object().is_some_and(greeting::claims_modern)
    };
    match site.server.options.era {
        Era::Legacy => false,
        Era::Modern => message["method"] != "initialize" || claims(),
        Era::Both => claims(),
    }
}

fn is_request(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}

fn refuse(connection: &Connection, status: u16, id: &Value, failure: &Failure) -> io::Result<()> {
    let body = message::error(id, failure).to_string();
    connection.respond(status, &[("content-type", "application/json")], body.as_bytes())
}

fn post_modern(
    site: &Site,
    request: &Incoming,
    message: &Value,
    connection: &Arc<Connection>,
) -> io::Result<()> {
    let invalid = |why| refuse(connection, 400, &Value::Null, &Failure::new(message::INVALID_REQUEST, why));
    match message.get("method") {
        None => return invalid("only requests and notifications are taken"),
        Some(_) if !is_request(message) => return connection.respond(202, &[], b""),
        Some(_) => {}
    }
    if let Err(failure) = headers::check_modern(request, message) {
        return refuse(connection, 400, &message["id"], &failure);
    }
    let post = Arc::new(Post::new(connection, Manner::Modern));
    let outlet: Arc<dyn Outlet> = post.clone();
    site.server.receive(&request.body, &Arc::new(Session::stateless()), &outlet);
    post.finish(true, &[])
}

fn post_legacy(
    site: &Site,
    request: &Incoming,
    message: &Value,
    connection: &Arc<Connection>,
) -> io::Result<()> {
    if message["method"] == "initialize" && request.header(headers::SESSION).is_none() {
        return initialize(site, request, connection);
    }
    let session = match find(site, request) {
        Ok(session) => session,
        Err((status, why)) => {
            let failure = Failure::new(message::INVALID_REQUEST, why);
            return refuse(connection, status, message.get("id").unwrap_or(&Value::Null), &failure);
        }
    };
    let version = session.session.client().map_or(Version::LATEST_LEGACY, |client| client.version);
    let log = Some(Arc::clone(&session.log));
    let post = Arc::new(Post::new(connection, Manner::Legacy { version, log }));
    let outlet: Arc<dyn Outlet> = post.clone();
    site.server.receive(&request.body, &session.session, &outlet);
    post.finish(is_request(message), &[])
}

fn initialize(site: &Site, request: &Incoming, connection: &Arc<Connection>) -> io::Result<()> {
    let opened = Arc::new(HttpSession::default());
    let manner = match site.server.options.era {
        Era::Modern => Manner::Modern,
        Era::Legacy | Era::Both => Manner::Legacy { version: Version::LATEST_LEGACY, log: None },
    };
    let post = Arc::new(Post::new(connection, manner));
    let outlet: Arc<dyn Outlet> = post.clone();
    site.server.receive(&request.body, &opened.session, &outlet);
    if opened.session.client().is_none() {
        return post.finish(true, &[]);
    }
    match site.sessions.open(opened) {
        Some(id) => post.finish(true, &[(headers::SESSION, &id)]),
        None => connection.refuse(500, "there are too many sessions"),
    }
}

/// The session that a legacy message belongs to, or the status that tells why there is none.
fn find(site: &Site, request: &Incoming) -> Result<Arc<HttpSession>, (u16, &'static str)> {
    let id = request.header(headers::SESSION).ok_or((400, "there is no session id"))?;
    let session = site.sessions.find(id).ok_or((404, "there is no such session"))?;
    match request.header(headers::VERSION) {
        Some(version) if Version::legacy(version).is_none() => Err((400, "this version is not supported")),
        _ => Ok(session),
    }
}

fn delete(site: &Site, request: &Incoming, connection: &Connection) -> io::Result<()> {
    match find(site, request) {
        Ok(_) => {
            site.sessions.close(request.header(headers::SESSION).unwrap_or_default());
            connection.respond(204, &[], b"")
        }
        Err((status, why)) => connection.refuse(status, why),
    }
}

/// The stream for what belongs to no request, or for what was missed of an earlier stream.
fn listen(site: &Site, request: &Incoming, connection: &Connection) -> io::Result<()> {
    let session = match find(site, request) {
        Ok(session) => session,
        Err((status, why)) => return connection.refuse(status, why),
    };
    if !request.header("accept").is_some_and(|accepted| accepted.contains("text/event-stream")) {
        return connection.refuse(406, "accept text/event-stream");
    }
    let last = request.header("last-event-id").map(str::to_owned);
    if let Some(last) = &last
        && session.log.after(last, Duration::ZERO).is_none()
    {
        return connection.refuse(400, "there is no such event");
    }
    connection.begin(&[("content-type", "text/event-stream"), ("cache-control", "no-store")])?;
    let last = match last {
        Some(last) => last,
        None => prime(&session, connection)?,
    };
    follow(&session, connection, last)?;
    connection.end()
}

/// Opens a stream of its own. Clients before 2025-11-25 do not know the empty event, so they get a comment.
fn prime(session: &HttpSession, connection: &Connection) -> io::Result<String> {
    let id = session.log.add(session.log.open_stream(), b"");
    match session.session.client().is_some_and(|client| client.version >= Version::November2025) {
        true => connection.chunk(&event(None, Some(&id), b""))?,
        false => connection.chunk(b": open\n\n")?,
    }
    Ok(id)
}

/// Sends what comes after the event, until the stream is complete or nobody listens any more.
fn follow(session: &HttpSession, connection: &Connection, mut last: String) -> io::Result<()> {
    while !session.is_closed() && connection.is_open() {
        let Some(missed) = session.log.after(&last, GLANCE) else { return Ok(()) };
        for (id, message) in missed.events {
            connection.chunk(&event(None, Some(&id), &message))?;
            last = id;
        }
        if missed.complete {
            return Ok(());
        }
    }
    Ok(())
}
