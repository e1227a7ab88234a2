//! An MCP server with six bugs, one in each tool, so that a first run needs no server of one's own. It is the server of
//! `examples/python_server`, with the same tools and the same bugs.
//!
//! Everything but the six bugs is meant to be right, since whatever else is found in it would be a false alarm.

mod arguments;
mod tools;

use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};
use tools::{Notes, Outcome};

/// The rules that find the two bugs which no schema tells of.
pub const INVARIANTS: &str = include_str!("invariants.yaml");

/// More than any client of a demo sends in one message.
const LONGEST_LINE: u64 = 64 << 20;
const VERSIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Has a panic end the process as it ends any other server: it is the demo's bug, not a fault of the command.
#[allow(clippy::exit, reason = "the demo is a server of its own, whose crash is the point")]
pub fn die_of_panics() {
    const PANICKED: i32 = 101;
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        print(panic);
        std::process::exit(PANICKED);
    }));
}

/// Serves until the input ends, or until a tool ends it all.
pub fn serve(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut notes = Notes::default();
    let mut line = Vec::new();
    while input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)? > 0 {
        if !line.trim_ascii().is_empty()
            && let Some(text) = answer(&line, &mut notes)
        {
            output.write_all(text.as_bytes())?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// Whatever is written in answer to one line, which need not be a message.
fn answer(line: &[u8], notes: &mut Notes) -> Option<String> {
    let Ok(message) = serde_json::from_slice::<Value>(line) else {
        return Some(refusal(&Value::Null, -32700, "this is not JSON"));
    };
    if message["jsonrpc"] != "2.0" {
        return Some(refusal(&Value::Null, -32600, "this is no request"));
    }
    let (method, id) = (message.get("method")?, message.get("id")?);
    let (Some(method), true) = (method.as_str(), id.is_string() || id.is_i64() || id.is_u64()) else {
        return Some(refusal(&Value::Null, -32600, "this is no request"));
    };
    let empty = json!({});
    let params = message.get("params").unwrap_or(&empty);
    Some(match method {
        _ if !params.is_object() => refusal(id, -32602, "`params` must be an object"),
        "initialize" => result(id, &initialize(&params["protocolVersion"])),
        "ping" => result(id, &empty),
        "tools/list" => result(id, &json!({"tools": tools::list()})),
        "tools/call" => call(id, params, notes),
        _ => refusal(id, -32601, &format!("there is no method `{method}`")),
    })
}

fn initialize(wanted: &Value) -> Value {
    let latest = VERSIONS[VERSIONS.len() - 1];
    json!({
        "protocolVersion": VERSIONS.into_iter().find(|known| wanted == known).unwrap_or(latest),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "six-bugs", "version": "1.0.0"},
    })
}

fn call(id: &Value, params: &Value, notes: &mut Notes) -> String {
    let empty = json!({});
    let arguments = params.get("arguments").unwrap_or(&empty);
    match (params["name"].as_str(), arguments.as_object()) {
        (_, None) => refusal(id, -32602, "`arguments` must be an object"),
        (None, _) => refusal(id, -32602, "`name` must be a string"),
        (Some(name), Some(arguments)) => match tools::call(name, arguments, notes) {
            Some(Outcome::Result(value)) => result(id, &value),
            Some(Outcome::Printed(text)) => text,
            None => refusal(id, -32602, "there is no such tool"),
        },
    }
}

fn result(id: &Value, result: &Value) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn refusal(id: &Value, code: i64, why: &str) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}}))
}

#[cfg(test)]
mod tests;
