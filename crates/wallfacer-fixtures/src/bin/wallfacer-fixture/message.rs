//! Builds JSON-RPC 2.0 messages.

use serde_json::{Map, Value, json};

pub const PARSE_ERROR: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
/// Legacy versions only; 2026-07-28 retired it in favour of `INVALID_PARAMS`.
pub const RESOURCE_NOT_FOUND: i64 = -32002;
pub const HEADER_MISMATCH: i64 = -32020;
pub const MISSING_CAPABILITY: i64 = -32021;
pub const UNSUPPORTED_VERSION: i64 = -32022;

/// A request that was refused.
#[derive(Debug, Clone)]
pub struct Failure {
    pub code: i64,
    pub message: String,
    pub data: Option<Value>,
}

impl Failure {
    pub fn new(code: i64, message: impl Into<String>) -> Failure {
        Failure { code, message: message.into(), data: None }
    }

    pub fn with_data(code: i64, message: impl Into<String>, data: Value) -> Failure {
        Failure { code, message: message.into(), data: Some(data) }
    }

    pub fn unknown_method() -> Failure {
        Failure::new(METHOD_NOT_FOUND, "there is no such method")
    }

    pub fn params(message: impl Into<String>) -> Failure {
        Failure::new(INVALID_PARAMS, message)
    }
}

pub fn result(id: &Value, result: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub fn error(id: &Value, failure: &Failure) -> Value {
    let mut error = Map::new();
    error.insert("code".into(), failure.code.into());
    error.insert("message".into(), failure.message.as_str().into());
    if let Some(data) = &failure.data {
        error.insert("data".into(), data.clone());
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error})
}

pub fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

pub fn request(id: &Value, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}
