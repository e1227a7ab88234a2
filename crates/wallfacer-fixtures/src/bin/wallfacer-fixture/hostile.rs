//! Plays a server that puts texts that act wherever a server can put text: its name, its lists, its answers, its errors,
//! its log and what it writes to standard error.

use serde_json::{Map, Value, json};
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use wallfacer_fixtures::HOSTILE_TEXTS;

/// A client that never stops asking ends with its standard input.
pub fn serve(part: Option<&str>) -> ExitCode {
    let mut errors = io::stderr();
    HOSTILE_TEXTS.iter().for_each(|(_, text)| drop(writeln!(errors, "{text}")));
    if part == Some("babbles") {
        HOSTILE_TEXTS.iter().for_each(|(_, text)| say(text));
        return ExitCode::from(1);
    }
    let changed = part == Some("changed");
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let Ok(Value::Object(message)) = serde_json::from_str::<Value>(&line) else { continue };
        let (Some(method), Some(id)) = (message.get("method").and_then(Value::as_str), message.get("id"))
        else {
            continue;
        };
        let params = message.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
        let answer = match (method, part) {
            ("initialize", Some("refuses")) => Err(all()),
            ("initialize", _) => Ok(greeting(&params)),
            ("ping", _) => Ok(json!({})),
            ("tools/list", _) => Ok(json!({ "tools": every(|number, text| tool(number, text, changed)) })),
            ("resources/list", _) => Ok(json!({ "resources": every(resource) })),
            ("resources/templates/list", _) => Ok(json!({ "resourceTemplates": every(template) })),
            ("prompts/list", _) => Ok(json!({ "prompts": every(prompt) })),
            ("resources/read", _) => Ok(json!({ "contents": [{ "uri": params.get("uri"), "text": all() }] })),
            ("prompts/get", _) => {
                Ok(json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": all() } }] }))
            }
            ("tools/call", _) => call(&params),
            _ => Err(all()),
        };
        let reply = match answer {
            Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
            Err(why) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code(method), "message": why } })
            }
        };
        say(&reply.to_string());
    }
    ExitCode::SUCCESS
}

fn say(line: &str) {
    let mut out = io::stdout();
    // A client that stopped reading is gone.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn code(method: &str) -> i64 {
    if method == "tools/call" { -32603 } else { -32601 }
}

/// All texts, each on a line of its own.
fn all() -> String {
    HOSTILE_TEXTS.iter().map(|(_, text)| *text).collect::<Vec<_>>().join("\n")
}

fn every(entry: impl Fn(usize, &str) -> Value) -> Vec<Value> {
    HOSTILE_TEXTS.iter().enumerate().map(|(number, (_, text))| entry(number, text)).collect()
}

/// The first text is the name, so that it comes first in a report; the version is another.
fn greeting(params: &Map<String, Value>) -> Value {
    let [_, _, (_, name), _, (_, version), ..] = HOSTILE_TEXTS else { unreachable!("there are many") };
    json!({
        "protocolVersion": params.get("protocolVersion"),
        "serverInfo": { "name": name, "version": version, "title": all() },
        "instructions": all(),
        "capabilities": { "tools": {}, "resources": {}, "prompts": {}, "logging": {}, (all()): { (all()): true } },
    })
}

/// A tool whose name begins with a text.
fn name(number: usize, text: &str) -> String {
    format!("{text}{number}")
}

fn tool(number: usize, text: &str, changed: bool) -> Value {
    let field = format!("{text}field");
    json!({
        "name": name(number, text),
        "title": text,
        "description": if changed { format!("{text} changed") } else { all() },
        "inputSchema": {
            "type": "object",
            "properties": { (field.clone()): { "type": "string", "description": text, "enum": [text, "plain"] } },
            "required": [field],
        },
        "outputSchema": { "type": "object", "properties": { (text): { "type": "string" } }, "required": [text] },
        "annotations": { "title": text, "readOnlyHint": !changed },
    })
}

fn resource(number: usize, text: &str) -> Value {
    json!({ "uri": format!("{text}://{number}"), "name": text, "title": text, "description": text, "mimeType": text })
}

fn template(number: usize, text: &str) -> Value {
    json!({ "uriTemplate": format!("{text}://{number}/{{id}}"), "name": text, "description": text })
}

fn prompt(number: usize, text: &str) -> Value {
    json!({ "name": name(number, text), "title": text, "description": text,
        "arguments": [{ "name": text, "description": text }] })
}

/// Each tool goes wrong in one of five ways, and says so with what acts.
#[allow(clippy::exit, reason = "one of the ways is to end in the middle of everything")]
fn call(params: &Map<String, Value>) -> Result<Value, String> {
    let called = params.get("name").and_then(Value::as_str).unwrap_or_default();
    let number =
        HOSTILE_TEXTS.iter().enumerate().position(|(number, (_, text))| name(number, text) == called);
    let Some(number) = number else { return Err(all()) };
    let text = HOSTILE_TEXTS[number].1;
    let log = json!({ "level": "error", "logger": text, "data": text });
    say(&json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": log }).to_string());
    match number % 5 {
        0 => Err(text.to_owned()),
        1 => {
            HOSTILE_TEXTS.iter().for_each(|(_, text)| drop(writeln!(io::stderr(), "{text}")));
            let _ = writeln!(io::stderr(), "thread 'main' panicked at {text}:1:1:\n{text}");
            std::process::exit(101);
        }
        2 => Ok(
            json!({ "content": [{ "type": "text", "text": text }], "structuredContent": { (text): 3, "more": text } }),
        ),
        3 => {
            say(text);
            Ok(json!({ "content": [{ "type": "text", "text": text }], "isError": true }))
        }
        _ => Ok(
            json!({ "content": [{ "type": "text", "text": all() }], "structuredContent": { (text): all() } }),
        ),
    }
}
