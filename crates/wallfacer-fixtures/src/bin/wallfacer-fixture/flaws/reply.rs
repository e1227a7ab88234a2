//! Flaws in the answer to `tools/call` of `echo`: what is sent in place of the correct reply.

use super::{process, spelling};
use crate::message::{self, Failure};
use crate::request::Request;
use crate::tools::failed;
use serde_json::{Value, json};
use std::io::{self, Write};

/// The correct reply in, whatever is sent instead out.
pub type Reply = fn(&Request, Value);

const HUGE: usize = 50 << 20;
/// Above the longest line that a client takes unless told otherwise.
const OVERSIZED: usize = 65 << 20;
const FLOOD: usize = 100_000;
const STDERR_LINES: usize = 200_000;
const DEEP: usize = 10_000;
/// The exit code of a server that ends in the middle of a call.
const EXIT_MID_CALL: i32 = 4;
const NOBODYS_ID: u64 = 987_654_321;

pub fn of(mode: &str) -> Option<Reply> {
    Some(match mode {
        "tool-error" => |request, reply| respond(request, reply, "result", failed("this went wrong")),
        "rejects-call" => |request, _| refuse(request, message::INVALID_PARAMS, "not like this"),
        "internal-error" => |request, _| refuse(request, -32603, "an unexpected condition"),
        "silent-call" => |request, _| request.outlet.hold(),
        "garbage-before-reply" => |request, reply| {
            request.outlet.line(b"DEBUG: about to answer");
            request.outlet.send(&reply);
        },
        "garbage-instead" => |request, _| request.outlet.line(b"DEBUG: nothing to say"),
        "truncated-json" => |request, reply| {
            let whole = reply.to_string();
            request.outlet.line(&whole.as_bytes()[..whole.len() / 2]);
        },
        "pretty-printed" => |request, reply| request.outlet.line(format!("{reply:#}").as_bytes()),
        "batch-reply" => |request, reply| request.outlet.send(&json!([reply])),
        "not-an-object" => |request, _| request.outlet.send(&json!("hello")),
        "wrong-id" => |request, reply| respond(request, reply, "id", other_id(&request.id)),
        "id-of-another-type" => |request, reply| respond(request, reply, "id", other_type(&request.id)),
        "unknown-id" => |request, reply| {
            request.outlet.send(&message::result(&other_id(&request.id), &reply["result"]));
            request.outlet.send(&reply);
        },
        "id-less-error" => |request, _| {
            let error = json!({"code": -32603, "message": "something went wrong somewhere"});
            request.outlet.send(&json!({"jsonrpc": "2.0", "error": error}));
        },
        "bad-error" => |request, _| {
            let error = json!({"code": "E_FAILED", "reason": "no message"});
            request.outlet.send(&json!({"jsonrpc": "2.0", "id": request.id, "error": error}));
        },
        "duplicate-reply" => |request, reply| {
            request.outlet.send(&reply);
            request.outlet.send(&reply);
        },
        "result-and-error" => {
            |request, reply| respond(request, reply, "error", json!({"code": -32603, "message": "both"}))
        }
        "neither-result-nor-error" => {
            |request, _| request.outlet.send(&json!({"jsonrpc": "2.0", "id": request.id}))
        }
        "wrong-jsonrpc" => |request, reply| respond(request, reply, "jsonrpc", json!("1.0")),
        "not-utf8" => |request, reply| {
            request.outlet.line(&spelling::with_text(&reply, b"\"\xff\xfe caf\xe9\""));
        },
        "lone-surrogate" => |request, reply| {
            request.outlet.line(&spelling::with_text(&reply, br#""half \ud83d of a pair""#));
        },
        "duplicate-key" => |request, reply| {
            request.outlet.line(&spelling::with_member(&reply, "twice", br#"{"key":1,"key":2}"#));
        },
        "big-number" => |request, reply| {
            request.outlet.line(&spelling::with_member(&reply, "serial", b"123456789012345678901234567890"));
        },
        "deep-reply" => |request, reply| {
            let nested = ["[".repeat(DEEP), "]".repeat(DEEP)].concat();
            request.outlet.line(&spelling::with_member(&reply, "deep", nested.as_bytes()));
        },
        "huge-reply" => |request, reply| long(request, &reply, HUGE),
        "oversized-reply" => |request, reply| long(request, &reply, OVERSIZED),
        "one-byte-at-a-time" => |request, reply| request.outlet.dribble(reply.to_string().as_bytes()),
        "notification-flood" => notification_flood,
        "stderr-flood" => stderr_flood,
        "exits-mid-call" => |_, _| {
            // Whether or not anyone reads it, the exit follows.
            let _ = writeln!(io::stderr(), "cannot go on");
            process::exit(EXIT_MID_CALL)
        },
        "exits-without-newline" => |_, reply| {
            let mut stdout = io::stdout();
            let _ = stdout.write_all(reply.to_string().as_bytes()).and_then(|()| stdout.flush());
            process::exit(0)
        },
        "dies-by-signal" => |_, _| std::process::abort(),
        "leaves-children" => |request, reply| match process::leave_child() {
            Ok(()) => request.outlet.send(&reply),
            Err(error) => refuse(request, -32603, &error.to_string()),
        },
        "closes-stdout" => |request, _| refuse(request, -32603, &process::close_stdout().to_string()),
        "asks-before-answering" => asks_before_answering,
        _ => return None,
    })
}

/// Whether the reply waits for the client, so that it needs a thread of its own where the reader is shared.
pub fn waits(mode: &str) -> bool {
    mode == "asks-before-answering"
}

fn respond(request: &Request, mut reply: Value, member: &str, value: Value) {
    reply[member] = value;
    request.outlet.send(&reply);
}

fn refuse(request: &Request, code: i64, why: &str) {
    request.outlet.send(&message::error(&request.id, &Failure::new(code, why)));
}

fn other_id(id: &Value) -> Value {
    match id {
        Value::String(id) => json!(format!("{id}-of-nobody")),
        _ => json!(NOBODYS_ID),
    }
}

fn other_type(id: &Value) -> Value {
    match id {
        Value::String(text) => text.parse::<i64>().map_or(json!(NOBODYS_ID), Value::from),
        other => json!(other.to_string()),
    }
}

fn long(request: &Request, reply: &Value, length: usize) {
    let text = ["\"", &"x".repeat(length), "\""].concat();
    request.outlet.line(&spelling::with_text(reply, text.as_bytes()));
}

fn notification_flood(request: &Request, reply: Value) {
    for number in 0..FLOOD {
        let params = json!({"level": "debug", "data": number});
        request.outlet.send(&message::notification("notifications/message", &params));
    }
    request.outlet.send(&reply);
}

fn stderr_flood(request: &Request, reply: Value) {
    let mut stderr = io::stderr().lock();
    for number in 0..STDERR_LINES {
        // A client that does not drain it would block here, which is the point.
        let _ = writeln!(stderr, "{number:08} the quick brown fox jumps over the lazy dog, again and again");
    }
    request.outlet.send(&reply);
}

/// Pings the client under ids that a careless one answers wrongly, and replies only when each came back.
fn asks_before_answering(request: &Request, reply: Value) {
    let ids =
        [json!(""), json!(0), json!("0"), json!(-7), json!(9_007_199_254_740_991_i64), json!("naïve ☃")];
    let ignored =
        ids.iter().find(|id| request.session.ask(id, "ping", &json!({}), &request.asker()).is_none());
    match ignored {
        None => request.outlet.send(&reply),
        Some(id) => refuse(request, -32603, &format!("the client did not answer request {id}")),
    }
}
