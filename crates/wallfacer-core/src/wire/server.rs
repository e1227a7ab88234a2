//! Reads from a server's first answer who it says it is.

use std::time::Duration;

use serde_json::{Map, Value};
use wallfacer_process::Ending;

use crate::target::{Era, Version};
use crate::world::Standing;

const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";
/// Names, versions and instructions are shown to people; a longer one is cut.
const MAX_TEXT: usize = 10_000;

/// The server as it introduced itself.
#[derive(Debug, Clone)]
pub struct Server {
    pub name: Option<String>,
    pub version: Option<String>,
    pub title: Option<String>,
    pub protocol: Version,
    pub capabilities: Map<String, Value>,
    pub instructions: Option<String>,
    /// The versions that a modern server lists. It may speak older ones that it does not list.
    pub supported: Vec<String>,
    /// From the start of the process, or of the first request, to the answer that opened the conversation.
    pub startup: Duration,
    pub remarks: Vec<Remark>,
    /// How far it is confined and watched.
    pub standing: Standing,
}

/// Something about the opening that is worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Remark {
    /// It did not answer the question for its era in time.
    SilentOnProbe,
    /// It ended on a request that it did not know.
    EndedOnProbe { ending: Option<Ending> },
    /// It answered the question for its era with something that tells neither.
    AmbiguousProbe,
}

impl Server {
    /// Reads the result of `initialize`.
    pub fn from_initialize(result: &Value, protocol: Version, startup: Duration) -> Server {
        Server::read(result, result.get("serverInfo"), protocol, startup)
    }

    /// Reads the result of `server/discover`.
    pub fn from_discover(result: &Value, protocol: Version, startup: Duration) -> Server {
        let info = result.get("_meta").and_then(|meta| meta.get(META_SERVER));
        Server::read(result, info, protocol, startup)
    }

    pub fn era(&self) -> Era {
        self.protocol.era()
    }

    /// Whether the server says that it has this.
    pub fn claims(&self, capability: &str) -> bool {
        self.capabilities.get(capability).is_some_and(|value| !value.is_null())
    }

    fn read(result: &Value, info: Option<&Value>, protocol: Version, startup: Duration) -> Server {
        let of_info = |key: &str| info.and_then(|info| info.get(key)).and_then(Value::as_str).map(shortened);
        let supported = result.get("supportedVersions").and_then(Value::as_array);
        Server {
            name: of_info("name"),
            version: of_info("version"),
            title: of_info("title"),
            protocol,
            capabilities: result.get("capabilities").and_then(Value::as_object).cloned().unwrap_or_default(),
            instructions: result.get("instructions").and_then(Value::as_str).map(shortened),
            supported: supported.into_iter().flatten().filter_map(Value::as_str).map(shortened).collect(),
            startup,
            remarks: Vec::new(),
            standing: Standing::open(Vec::new()),
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(MAX_TEXT).collect()
}
