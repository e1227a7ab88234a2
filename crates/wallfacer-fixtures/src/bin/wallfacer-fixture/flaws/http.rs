//! Flaws of HTTP itself: what is sent, in place of the answer to a POST, on the bare connection.

use crate::http::connection::Connection;
use serde_json::Value;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

type Response = fn(&Connection) -> io::Result<()>;

/// Longer than any test waits for an answer.
const SLOWEST: Duration = Duration::from_secs(60);

/// What answers this message, if the mode has something else in mind for it than the server has.
pub fn instead(mode: &str, message: &Value) -> Option<Response> {
    let is_echo = message["method"] == "tools/call" && message["params"]["name"] == "echo";
    at_start(mode).or_else(|| if is_echo { on_call(mode) } else { None })
}

fn at_start(mode: &str) -> Option<Response> {
    Some(match mode {
        "http-401-at-start" => unauthorized,
        "http-500-at-start" => |connection| connection.refuse(500, "out of order"),
        "html-at-start" => html,
        _ => return None,
    })
}

fn on_call(mode: &str) -> Option<Response> {
    Some(match mode {
        "http-401" => unauthorized,
        "http-403" => |connection| connection.refuse(403, "not for you"),
        "http-404" => |connection| connection.refuse(404, "gone since yesterday"),
        "http-413" => |connection| connection.refuse(413, "too much"),
        "http-500" => |connection| connection.refuse(500, "out of order"),
        "redirect" => |connection| connection.respond(307, &[("location", "/elsewhere")], b""),
        "wrong-content-type" => html,
        "broken-sse" => |connection| {
            connection.begin(&[("content-type", "text/event-stream")])?;
            connection.chunk(b": working on it\n\n")?;
            connection.end()
        },
        "not-sse" => |connection| {
            let body = b"<p>This is no event stream.</p>";
            connection.respond(200, &[("content-type", "text/event-stream")], body)
        },
        "slow-headers" => slow_headers,
        "drops-connection" => |connection| {
            connection.spoil();
            Ok(())
        },
        _ => return None,
    })
}

fn unauthorized(connection: &Connection) -> io::Result<()> {
    let challenge = [("www-authenticate", "Bearer realm=\"fixture\""), ("content-type", "text/plain")];
    connection.respond(401, &challenge, b"who are you?")
}

fn html(connection: &Connection) -> io::Result<()> {
    let page = b"<!doctype html><title>Proxy</title><p>Please sign in.</p>";
    connection.respond(200, &[("content-type", "text/html")], page)
}

/// Always about to answer: one more header every now and then.
fn slow_headers(connection: &Connection) -> io::Result<()> {
    const BETWEEN: Duration = Duration::from_millis(200);
    let end = Instant::now() + SLOWEST;
    connection.spoil();
    connection.raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")?;
    while Instant::now() < end && connection.is_open() {
        connection.raw(b"x-patience: please\r\n")?;
        thread::sleep(BETWEEN);
    }
    Ok(())
}
