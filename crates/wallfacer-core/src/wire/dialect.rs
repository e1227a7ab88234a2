//! Writes the bytes of a request as the spoken version of the protocol wants them.

use std::io::Write as _;

use serde_json::{Map, Value, json};

use crate::target::{Era, Version};

/// The name under which we introduce ourselves.
const CLIENT_NAME: &str = "wallfacer";
const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";

/// How requests are written in one version of the protocol.
#[derive(Debug, Clone)]
pub struct Dialect {
    version: Version,
    /// The `_meta` of every request of the modern era.
    meta: Option<Map<String, Value>>,
    /// The same, already as text, for requests that bring no `_meta` of their own.
    meta_text: Option<String>,
}

impl Dialect {
    pub fn new(version: Version) -> Dialect {
        let meta = (version.era() == Era::Modern).then(|| modern_meta(version));
        let meta_text = meta.clone().map(|meta| Value::Object(meta).to_string());
        Dialect { version, meta, meta_text }
    }

    pub fn version(&self) -> Version {
        self.version
    }

    pub fn era(&self) -> Era {
        self.version.era()
    }

    pub fn request(&self, id: i64, method: &str, params: Option<&Map<String, Value>>) -> Vec<u8> {
        let mut out = Vec::with_capacity(256);
        let _infallible = write!(out, r#"{{"jsonrpc":"2.0","id":{id},"method":"#);
        write_json(&mut out, &method);
        self.write_params(&mut out, params);
        out.push(b'}');
        out
    }

    pub fn notification(&self, method: &str, params: Option<&Map<String, Value>>) -> Vec<u8> {
        let mut out = br#"{"jsonrpc":"2.0","method":"#.to_vec();
        write_json(&mut out, &method);
        if let Some(params) = params {
            out.extend_from_slice(b",\"params\":");
            write_json(&mut out, params);
        }
        out.push(b'}');
        out
    }

    /// The parameters of `initialize`.
    pub fn introduction(&self) -> Map<String, Value> {
        object(json!({
            "protocolVersion": self.version.as_str(),
            "capabilities": capabilities(),
            "clientInfo": client(),
        }))
    }

    fn write_params(&self, out: &mut Vec<u8>, params: Option<&Map<String, Value>>) {
        match (params, &self.meta_text, &self.meta) {
            (None, None, _) => {}
            (Some(params), None, _) => {
                out.extend_from_slice(b",\"params\":");
                write_json(out, params);
            }
            (params, Some(text), Some(meta)) => {
                out.extend_from_slice(b",\"params\":{\"_meta\":");
                match params.and_then(|params| params.get("_meta")) {
                    Some(Value::Object(theirs)) => {
                        let mut merged = meta.clone();
                        merged.extend(theirs.clone());
                        write_json(out, &merged);
                    }
                    _ => out.extend_from_slice(text.as_bytes()),
                }
                for (key, value) in params.into_iter().flatten().filter(|(key, _)| *key != "_meta") {
                    out.push(b',');
                    write_json(out, key);
                    out.push(b':');
                    write_json(out, value);
                }
                out.push(b'}');
            }
            (_, Some(_), None) => unreachable!("the text is made from the map"),
        }
    }
}

fn write_json<T: serde::Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    serde_json::to_writer(out, value).expect("a JSON value is written to memory");
}

fn modern_meta(version: Version) -> Map<String, Value> {
    object(json!({
        META_VERSION: version.as_str(),
        META_CAPABILITIES: capabilities(),
        META_CLIENT: client(),
    }))
}

/// All that a server may ask of us: we answer each of these with safe defaults.
fn capabilities() -> Value {
    json!({ "roots": {}, "sampling": {}, "elicitation": {} })
}

fn client() -> Value {
    json!({ "name": CLIENT_NAME, "version": env!("CARGO_PKG_VERSION") })
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => unreachable!("written as an object above"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(version: Version, params: Value) -> Value {
        let params = params.as_object().cloned();
        serde_json::from_slice(&Dialect::new(version).request(7, "tools/call", params.as_ref())).unwrap()
    }

    #[test]
    fn a_legacy_request_carries_its_parameters_and_nothing_else() {
        let sent = request(Version::V2025_11_25, json!({ "name": "a" }));
        assert_eq!(sent, json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "a"}}));
        let bare = request(Version::V2024_11_05, Value::Null);
        assert_eq!(bare, json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call"}));
    }

    #[test]
    fn a_modern_request_says_its_version_each_time() {
        for params in [Value::Null, json!({ "name": "a" }), json!({ "_meta": { "progressToken": "p" } })] {
            let sent = request(Version::V2026_07_28, params.clone());
            let meta = &sent["params"]["_meta"];
            assert_eq!(meta[META_VERSION], "2026-07-28");
            assert!(meta[META_CAPABILITIES].is_object() && meta[META_CLIENT]["name"].is_string());
            assert_eq!(sent["params"].get("name"), params.get("name"));
            assert_eq!(
                meta.get("progressToken"),
                params.get("_meta").and_then(|own| own.get("progressToken"))
            );
        }
    }
}
