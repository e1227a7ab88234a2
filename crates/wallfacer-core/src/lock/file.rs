//! The lock file: sorted, stable, and free of what differs from machine to machine or from run to run.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalogue::{Catalogue, Tool};
use crate::learn::sorted;
use crate::observe::{Behaviour, Effects};
use crate::plan::Subject;
use crate::wire::Server;

/// The name that it has in a project.
pub const FILE_NAME: &str = "wallfacer.lock";
/// Changes only when older files cannot be read any more.
const VERSION: u32 = 1;
/// Letters of a hash: enough to tell two schemas apart, few enough to be read.
const HASH_LETTERS: usize = 16;
/// From here on Linux chooses ports for whoever asks for none.
const FIRST_CHOSEN_PORT: u16 = 32_768;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lock {
    version: u32,
    pub server: Option<String>,
    pub tools: BTreeMap<String, Locked>,
    pub resources: BTreeSet<String>,
    pub prompts: BTreeMap<String, String>,
    /// What the server does before anything is asked; none where nobody watched.
    pub startup: Option<BTreeSet<String>>,
}

/// One tool.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locked {
    pub description: Option<String>,
    /// Hashes: a schema that means the same and is written otherwise has the same one.
    pub input_schema: String,
    pub output_schema: Option<String>,
    pub annotations: BTreeMap<String, bool>,
    /// What its calls did, as kinds of places, hosts and programs; none where no call succeeded or nobody watched.
    pub effects: Option<BTreeSet<String>>,
}

/// A file that is no lock.
#[derive(Debug, thiserror::Error)]
pub enum BadLock {
    #[error("it cannot be read as a lock file: {0}")]
    Unreadable(#[from] serde_json::Error),
    #[error("it is of version {0}, which this wallfacer does not know; write it anew with `wallfacer lock`")]
    Version(u32),
}

impl Lock {
    pub fn new(server: &Server, catalogue: &Catalogue, behaviour: Option<&Behaviour>) -> Lock {
        let tool = |tool: &Tool| {
            let done = behaviour.and_then(|behaviour| behaviour.done.get(&Subject::Tool(tool.name.clone())));
            let effects = done.filter(|done| done.completed > 0).map(|done| normalised(&done.effects));
            (tool.name.clone(), Locked { effects, ..declared(tool) })
        };
        Lock {
            version: VERSION,
            server: server.name.clone(),
            tools: catalogue.tools.entries.iter().map(tool).collect(),
            resources: catalogue.resources.entries.iter().map(|resource| resource.uri.clone()).collect(),
            prompts: catalogue
                .prompts
                .entries
                .iter()
                .map(|prompt| (prompt.name.clone(), prompt.description.clone().unwrap_or_default()))
                .collect(),
            startup: behaviour.map(|behaviour| normalised(&behaviour.startup)),
        }
    }

    pub fn read(text: &str) -> Result<Lock, BadLock> {
        let lock: Lock = serde_json::from_str(text)?;
        if lock.version == VERSION { Ok(lock) } else { Err(BadLock::Version(lock.version)) }
    }

    pub fn written(&self) -> String {
        let text = serde_json::to_string_pretty(self).expect("a lock is plain data");
        format!("{}\n", wallfacer_text::json(&text))
    }
}

fn declared(tool: &Tool) -> Locked {
    let hints = &tool.annotations;
    let hints = [
        ("destructiveHint", hints.destructive_hint),
        ("idempotentHint", hints.idempotent_hint),
        ("openWorldHint", hints.open_world_hint),
        ("readOnlyHint", hints.read_only_hint),
    ];
    let said = hints.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Locked {
        description: tool.description.clone(),
        input_schema: hash(tool.input_schema()),
        output_schema: tool.output_schema().map(hash),
        annotations: said.collect(),
        effects: None,
    }
}

fn hash(schema: &Value) -> String {
    let hash = blake3::hash(sorted(schema).to_string().as_bytes());
    hash.to_hex()[..HASH_LETTERS].to_owned()
}

/// Kinds of places instead of paths, names instead of addresses, programs without arguments.
fn normalised(effects: &Effects) -> BTreeSet<String> {
    let word = |place| serde_json::to_value(place).ok().and_then(|word| word.as_str().map(str::to_owned));
    let mut all = BTreeSet::new();
    let files = [("read", &effects.reads), ("read", &effects.lists), ("write", &effects.writes)];
    let more = [("delete", &effects.deletes), ("delete", &effects.moves), ("reach", &effects.sockets)];
    for (verb, touches) in files.into_iter().chain(more) {
        let places = touches.iter().filter_map(|touch| word(touch.place));
        all.extend(places.map(|place| format!("{verb} {place}")));
    }
    all.extend(effects.connects.iter().map(|contact| format!("connect {}", contact.place())));
    all.extend(effects.listens.iter().map(|address| format!("listen {}", steady(address))));
    all.extend(
        effects
            .programs
            .iter()
            .map(|ran| format!("run {}", ran.file.file_name().unwrap_or_default().to_string_lossy())),
    );
    all
}

/// An address without a port that the system chose: another one each time.
fn steady(address: &str) -> String {
    match address.parse::<SocketAddr>() {
        Ok(address) if address.port() >= FIRST_CHOSEN_PORT => format!("{}, a free port", address.ip()),
        _ => address.to_owned(),
    }
}
