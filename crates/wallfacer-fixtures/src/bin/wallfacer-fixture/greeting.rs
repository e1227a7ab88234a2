//! Reads who is asking, by the rules of the era that a request belongs to, and says who answers.

use crate::message::{self, Failure};
use crate::options::Era;
use crate::request::Request;
use crate::session::{Client, Level, Session};
use crate::version::Version;
use serde_json::{Map, Value, json};

const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

const INSTRUCTIONS: &str = "A small server to test clients with.";

/// Who is asking, by the rules of the era that the request belongs to.
pub fn client(
    era: Era,
    method: &str,
    params: &Map<String, Value>,
    session: &Session,
) -> Result<Client, Failure> {
    let modern = session.is_stateless() || method == "server/discover" || claims_modern(params);
    if modern && era != Era::Legacy {
        return modern_client(params);
    }
    match (session.client(), method) {
        (Some(client), _) => Ok(client),
        (None, "initialize") if era == Era::Modern => Err(unsupported(params.get("protocolVersion"))),
        (None, "initialize" | "ping") if era != Era::Modern => {
            Ok(Client { version: Version::LATEST_LEGACY, capabilities: json!({}), log_level: None })
        }
        (None, "server/discover") => Err(Failure::unknown_method()),
        (None, _) if era == Era::Legacy => {
            Err(Failure::new(message::INVALID_REQUEST, "`initialize` comes first"))
        }
        (None, _) => Err(Failure::params(format!("`_meta` must have `{META_VERSION}`"))),
    }
}

pub fn claims_modern(params: &Map<String, Value>) -> bool {
    let meta = params.get("_meta").and_then(Value::as_object);
    meta.is_some_and(|meta| meta.contains_key(META_VERSION) || meta.contains_key(META_CAPABILITIES))
}

/// The version that a modern request names in its body.
pub fn claimed_version(params: &Value) -> Option<&str> {
    params.get("_meta")?.get(META_VERSION)?.as_str()
}

fn modern_client(params: &Map<String, Value>) -> Result<Client, Failure> {
    let meta = params.get("_meta").and_then(Value::as_object);
    let meta = meta.ok_or_else(|| Failure::params("`_meta` must be an object"))?;
    match meta.get(META_VERSION) {
        Some(Value::String(version)) if version == Version::MODERN.as_str() => {}
        Some(version @ Value::String(_)) => return Err(unsupported(Some(version))),
        _ => return Err(Failure::params(format!("`{META_VERSION}` must be a string"))),
    }
    let capabilities = meta.get(META_CAPABILITIES).filter(|capabilities| capabilities.is_object());
    let Some(capabilities) = capabilities else {
        return Err(Failure::params(format!("`{META_CAPABILITIES}` must be an object")));
    };
    let log_level = match meta.get(META_LOG_LEVEL) {
        None => None,
        Some(level) => Some(known_level(Some(level))?),
    };
    Ok(Client { version: Version::MODERN, capabilities: capabilities.clone(), log_level })
}

fn unsupported(requested: Option<&Value>) -> Failure {
    Failure::with_data(
        message::UNSUPPORTED_VERSION,
        "this protocol version is not supported",
        json!({"supported": [Version::MODERN.as_str()], "requested": requested}),
    )
}

pub fn known_level(level: Option<&Value>) -> Result<Level, Failure> {
    let level = level.and_then(Value::as_str).and_then(Level::parse);
    level.ok_or_else(|| Failure::params("this is no log level"))
}

pub fn server_info() -> Value {
    json!({"name": "wallfacer-fixture", "version": env!("CARGO_PKG_VERSION")})
}

fn capabilities(version: Version) -> Value {
    let mut capabilities = json!({"tools": {}, "resources": {}, "prompts": {}, "logging": {}});
    if version >= Version::March2025 {
        capabilities["completions"] = json!({});
    }
    capabilities
}

pub fn discover(client: &Client) -> Value {
    json!({
        "supportedVersions": [Version::MODERN.as_str()],
        "capabilities": capabilities(client.version),
        "instructions": INSTRUCTIONS,
    })
}

pub fn initialize(request: &Request) -> Result<Value, Failure> {
    if request.session.client().is_some() {
        return Err(Failure::new(message::INVALID_REQUEST, "`initialize` comes once"));
    }
    let wanted = request.text("protocolVersion")?;
    let version = Version::legacy(wanted).unwrap_or(Version::LATEST_LEGACY);
    let able = Value::Object(request.object("capabilities")?);
    request.session.greet(Client { version, capabilities: able, log_level: Some(Level::INFO) });
    Ok(json!({
        "protocolVersion": version.as_str(),
        "capabilities": capabilities(version),
        "serverInfo": server_info(),
        "instructions": INSTRUCTIONS,
    }))
}
