//! Flaws in what the server says of itself: `initialize`, `server/discover` and `tools/list`.

use crate::message::Failure;
use crate::request::Request;
use serde_json::{Value, json};

/// The correct answer in, the flawed one out.
pub fn alter(mode: &str, request: &Request, answer: Result<Value, Failure>) -> Result<Value, Failure> {
    match (mode, request.method.as_str()) {
        ("wrong-version-in-initialize", "initialize") => {
            answer.map(|result| with(result, "protocolVersion", json!("1999-01-01")))
        }
        ("tools-capability-missing", "initialize" | "server/discover") => answer.map(|mut result| {
            if let Some(capabilities) = result["capabilities"].as_object_mut() {
                capabilities.remove("tools");
            }
            result
        }),
        ("broken-tool", "tools/list") => answer.map(with_broken_tool),
        ("null-cursor", "tools/list") => answer.map(|result| with_last_cursor(result, Value::Null)),
        ("repeating-cursor", "tools/list") => {
            answer.map(|result| with_last_cursor(result, cursor(request).clone()))
        }
        ("endless-pagination", "tools/list") => Ok(endless(request, answer)),
        _ => answer,
    }
}

fn with(mut result: Value, member: &str, value: Value) -> Value {
    result[member] = value;
    result
}

fn cursor(request: &Request) -> &Value {
    request.params.get("cursor").unwrap_or(&Value::Null)
}

/// Only on the first page, so that it is listed once.
fn with_broken_tool(mut result: Value) -> Value {
    let broken = json!({"name": "broken", "description": "Has no schema.", "inputSchema": "none"});
    if let (Some(_), Some(tools)) = (result.get("nextCursor").cloned(), result["tools"].as_array_mut()) {
        tools.insert(1, broken);
    }
    result
}

fn with_last_cursor(result: Value, cursor: Value) -> Value {
    match result.get("nextCursor") {
        Some(_) => result,
        None => with(result, "nextCursor", cursor),
    }
}

/// After the true pages there is always one more, empty.
fn endless(request: &Request, answer: Result<Value, Failure>) -> Value {
    let beyond =
        cursor(request).as_str().and_then(|cursor| cursor.strip_prefix("beyond-")?.parse::<u64>().ok());
    let next = json!(format!("beyond-{}", beyond.unwrap_or_default().wrapping_add(1)));
    with_last_cursor(answer.unwrap_or_else(|_| json!({"tools": []})), next)
}
