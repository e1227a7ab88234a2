//! A line of the client as a request or notification of either era, or the refusal that answers it.

use serde_json::{Map, Value, json};

/// The versions with `initialize`, the latest last.
pub const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
/// The version without: every request says for itself what it speaks.
pub const MODERN: &str = "2026-07-28";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_KEY: &str = "io.modelcontextprotocol/serverInfo";

pub const PARSE_ERROR: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const NO_SUCH_METHOD: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
const UNSUPPORTED_VERSION: i64 = -32022;

/// What a client sent.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    Request(Request),
    /// Nobody waits for an answer.
    Notification {
        method: String,
        params: Map<String, Value>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    pub id: Value,
    pub method: String,
    pub params: Map<String, Value>,
    /// Whether it is of the era without `initialize`.
    pub modern: bool,
}

/// Reads one line. An error is the whole message that answers it; none means that nothing may be answered.
pub fn read(line: &[u8]) -> Result<Message, Option<Value>> {
    let message: Value = serde_json::from_slice(line)
        .map_err(|_| Some(refusal(&Value::Null, PARSE_ERROR, "this is not JSON")))?;
    let not_a_request = || Some(refusal(&Value::Null, INVALID_REQUEST, "this is no JSON-RPC 2.0 request"));
    let Value::Object(mut message) = message else { return Err(not_a_request()) };
    if message.get("jsonrpc") != Some(&json!("2.0")) {
        return Err(not_a_request());
    }
    let method = match message.remove("method") {
        Some(Value::String(method)) => method,
        Some(_) => return Err(not_a_request()),
        // An answer to a question that was never asked.
        None => return Err(None),
    };
    let id = message.remove("id");
    let params = match message.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => {
            return Err(id.map(|id| refusal(&id, INVALID_PARAMS, "`params` must be an object")));
        }
    };
    match id {
        None => Ok(Message::Notification { method, params }),
        Some(id) if id.is_string() || id.is_i64() || id.is_u64() => {
            let modern = era(&id, &method, &params).map_err(Some)?;
            Ok(Message::Request(Request { id, method, params, modern }))
        }
        Some(_) => Err(not_a_request()),
    }
}

/// Whether a request says for itself which version it speaks, and if so, whether it says all that it must.
fn era(id: &Value, method: &str, params: &Map<String, Value>) -> Result<bool, Value> {
    let meta = params.get("_meta").and_then(Value::as_object);
    let version = meta.and_then(|meta| meta.get(VERSION_KEY));
    let Some(version) = version else {
        return match method {
            "server/discover" => {
                Err(refusal(id, INVALID_PARAMS, &format!("`_meta` must have `{VERSION_KEY}`")))
            }
            _ => Ok(false),
        };
    };
    if !version.is_string() {
        return Err(refusal(id, INVALID_PARAMS, &format!("`{VERSION_KEY}` must be a string")));
    }
    if version != MODERN {
        let mut answer =
            refusal(id, UNSUPPORTED_VERSION, &format!("only {MODERN} is spoken without `initialize`"));
        answer["error"]["data"] = json!({"supported": [MODERN], "requested": version});
        return Err(answer);
    }
    match meta.and_then(|meta| meta.get(CAPABILITIES_KEY)) {
        Some(Value::Object(_)) => Ok(true),
        _ => Err(refusal(id, INVALID_PARAMS, &format!("`_meta` must have `{CAPABILITIES_KEY}`, an object"))),
    }
}

impl Request {
    /// The token that progress is to be told by.
    pub fn progress_token(&self) -> Option<Value> {
        let token = self.params.get("_meta")?.get("progressToken")?;
        (token.is_string() || token.is_i64() || token.is_u64()).then(|| token.clone())
    }

    /// The answer, with what results of this era have besides.
    pub fn result(&self, mut result: Value) -> Value {
        if self.modern {
            result["resultType"] = json!("complete");
            result["_meta"] = json!({ SERVER_KEY: server_info() });
        }
        json!({"jsonrpc": "2.0", "id": self.id, "result": result})
    }

    /// The answer to a question whose answer a client of the newer era may keep for a while.
    pub fn listing(&self, mut result: Value) -> Value {
        if self.modern {
            result["ttlMs"] = json!(0);
            result["cacheScope"] = json!("private");
        }
        self.result(result)
    }

    pub fn refuse(&self, code: i64, why: &str) -> Value {
        refusal(&self.id, code, why)
    }
}

pub fn server_info() -> Value {
    json!({"name": "wallfacer", "version": env!("CARGO_PKG_VERSION")})
}

pub fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

fn refusal(id: &Value, code: i64, why: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": why}})
}
