//! Looks at a server once, before anything else: who it is, what it offers, and what it must keep to itself.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use wallfacer_schema::Schema;

use super::lab::{Crew, GRACE};
use crate::catalogue::{Catalogue, Tool, discover};
use crate::event::{Event, Listener};
use crate::judge::Secrets;
use crate::report::remarks;
use crate::run::{Life, Patience, Runner};
use crate::stop::Stop;
use crate::target::Shown;
use crate::wire::{ConnectError, Connector, Server};

/// The variable that holds a secret of ours, so that a server which shows its environment is seen to do so.
pub const CANARY: &str = "WALLFACER_CANARY_TOKEN";

/// What is known of a server once it was looked at; every test of a run shares it.
pub struct Known {
    pub begun: Instant,
    pub target: Shown,
    pub server: Server,
    pub catalogue: Arc<Catalogue>,
    /// The input schemas that can be used, by tool.
    pub schemas: Arc<BTreeMap<String, Schema>>,
    /// What is worth knowing of the look itself, in words.
    pub remarks: Vec<String>,
    /// The server that was looked at, which goes on as the first one at work.
    pub first: Option<Crew>,
}

/// Looks at the server behind a connector, which from then on knows how to speak to it.
pub fn look_at(
    connector: &mut Connector,
    stop: &Stop,
    listener: &mut dyn Listener,
) -> Result<Known, super::FuzzError> {
    let begun = Instant::now();
    let target = connector.target().shown();
    listener.hear(&Event::Connecting { target: &target });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (mut life, catalogue) = runtime.block_on(stop.unless(open(connector)))??;
    let server = life.server.clone();
    let remarks = remarks(&server, &life.connection.take_strays(), None);
    tell_connected(&server, listener);
    let patience = Patience::new(connector.target().timeouts.clone());
    let runner = Runner::new(connector.clone(), &catalogue, patience).at_work_with(life);
    let first = Some(Crew { runner, runtime, stop: stop.clone() });
    let schemas = Arc::new(schemas(&catalogue));
    Ok(Known { begun, target, server, catalogue: Arc::new(catalogue), schemas, remarks, first })
}

async fn open(connector: &mut Connector) -> Result<(Life, Catalogue), ConnectError> {
    let mut life = Life::start(connector, &BTreeMap::new()).await?;
    let timeouts = connector.target().timeouts.clone();
    let catalogue = discover(&mut life.connection, &life.server, &timeouts).await;
    Ok((life, catalogue))
}

/// A look at a server that is ended behind it.
pub async fn look(connector: &mut Connector) -> Result<(Server, Catalogue), ConnectError> {
    let (life, catalogue) = open(connector).await?;
    connector.dismiss(life.connection, GRACE).await;
    Ok((life.server, catalogue))
}

pub fn tell_connected(server: &Server, listener: &mut dyn Listener) {
    listener.hear(&Event::Connected {
        name: server.name.as_deref(),
        version: server.version.as_deref(),
        protocol: server.protocol.as_str(),
        era: server.era().as_str(),
        startup_ms: server.startup.as_millis() as u64,
        server,
    });
}

/// The input schemas that can be used, by tool.
pub fn schemas(catalogue: &Catalogue) -> BTreeMap<String, Schema> {
    let compiled = |tool: &Tool| {
        let schema = Schema::compile(&Value::Object(tool.input_schema.clone())).ok()?;
        Some((tool.name.clone(), schema))
    };
    catalogue.tools.entries.iter().filter_map(compiled).collect()
}

/// Gives the servers of a run a secret of our own, and tells what else they are entrusted with: none of it may come back.
/// The seed decides our own secret, the canaries of the home, and the look-alikes of inherited ones.
pub fn entrust(connector: &mut Connector, seed: u64) -> Secrets {
    let canary = canary(seed);
    connector.plant(CANARY, &canary);
    connector.world_mut().seed = seed;
    let target = connector.target();
    let secrets = target.secrets();
    let set = target.reach.command().map(|command| &command.environment.set);
    let set = set.into_iter().flatten().filter(|(_, value)| secrets.contains(*value));
    let set = set.map(|(name, value)| (name.clone(), value.clone()));
    // Ours first: what shows it shows without any variable of the user's.
    Secrets::new([canary]).and_named(connector.world().inherited_secrets()).and_named(set).and(secrets)
}

/// A value that stands in no other text, and is the same for the same seed.
pub fn canary(seed: u64) -> String {
    let hash = blake3::hash(format!("wallfacer canary {seed}").as_bytes());
    format!("wallfacer-{}", &hash.to_hex()[..32])
}

/// A text of this run that rules recognise, the same for the same seed.
pub fn marker(seed: u64) -> String {
    let hash = blake3::hash(format!("wallfacer marker {seed}").as_bytes());
    format!("wfm{}", &hash.to_hex()[..13])
}
