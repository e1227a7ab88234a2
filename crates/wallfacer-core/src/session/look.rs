//! Looks at a server once, before anything else: who it is, and what it offers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use wallfacer_schema::Schema;

use super::lab::{Crew, open};
use crate::catalogue::{Catalogue, Tool};
use crate::event::{Event, Listener};
use crate::judge::{Charge, startup_noise};
use crate::plan::FirstCalls;
use crate::report::remarks;
use crate::run::{Patience, Runner};
use crate::stop::Stop;
use crate::target::Shown;
use crate::wire::{Connector, Server};

/// What is known of a server once it was looked at; every test of a run shares it.
pub struct Known {
    pub begun: Instant,
    pub target: Shown,
    pub server: Server,
    pub catalogue: Arc<Catalogue>,
    /// The input schemas that can be used, by tool.
    pub schemas: Arc<BTreeMap<String, Schema>>,
    /// What its first calls taught.
    pub first_calls: Arc<FirstCalls>,
    /// What is held against it because of what it wrote before it was asked for anything.
    pub noise: Option<Charge>,
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
    let noise = startup_noise(&life.noise);
    let mut strays = std::mem::take(&mut life.noise);
    strays.add_all(life.connection.take_strays());
    let remarks = remarks(&server, &strays, None);
    tell_connected(&server, listener);
    let patience = Patience::new(connector.target().timeouts.clone()).with_start_of(server.startup);
    let runner = Runner::new(connector.clone(), &catalogue, patience).at_work_with(life);
    let first = Some(Crew { runner, runtime, stop: stop.clone() });
    let schemas = Arc::new(schemas(&catalogue));
    let (catalogue, first_calls) = (Arc::new(catalogue), Arc::default());
    Ok(Known { begun, target, server, catalogue, schemas, first_calls, noise, remarks, first })
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
        let schema = Schema::compile(tool.input_schema()).ok()?;
        Some((tool.name.clone(), schema))
    };
    catalogue.tools.entries.iter().filter_map(compiled).collect()
}
