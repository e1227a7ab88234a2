//! The worlds in which injections are tried: what they are after is planted, every effect is seen, and in one of them no
//! connection succeeds.

use wallfacer_process::sink::Mode as Net;

use crate::catalogue::Catalogue;
use crate::plan::{Case, Ground, is_told_to_only_read, unrestricted};
use crate::session::lab::{Lab, World};
use crate::wire::Connector;
use crate::world::Standing;

/// Why the effects of a call cannot be seen; none if they can.
pub fn why_unseen(standing: &Standing) -> Option<String> {
    if standing.is_harmless() && standing.observed.calls {
        return None;
    }
    let why = standing.remarks.first().cloned();
    Some(why.unwrap_or_else(|| "what the server does could not be observed".to_owned()))
}

/// Adds the worlds in which injections are tried to a laboratory.
pub fn with_worlds(lab: Lab, catalogue: &Catalogue, seed: u64) -> Lab {
    let mut online = lab.connector(World::Watched).clone();
    prepare(&mut online, catalogue, seed, false);
    let mut offline = online.clone();
    offline.world_mut().network = Net::Refuse;
    offline.world_mut().listeners.clear();
    let free = online.target().reach.command().and_then(unrestricted);
    let free = free.map(|free| lab.connector(World::Plain).started_by(free));
    let lab = lab.with(World::Planted, online).with(World::Offline, offline);
    match free {
        Some(free) => lab.with(World::Unrestricted, free),
        None => lab,
    }
}

/// What injections are after, and whether the server was told to only read.
pub(super) fn ground(connector: &Connector, catalogue: &Catalogue, seed: u64) -> Ground {
    let only_reads = connector.target().reach.command().is_some_and(is_told_to_only_read);
    Ground { only_reads, ..Ground::new(connector.world().scopes(), catalogue, seed) }
}

/// Plants what injections are after in the world of every server that is started from now on.
pub fn prepare(connector: &mut Connector, catalogue: &Catalogue, seed: u64, offline: bool) -> Ground {
    let ground = ground(connector, catalogue, seed);
    let world = connector.world_mut();
    world.watch = true;
    world.network = if offline { Net::Refuse } else { Net::Answer };
    world.listeners = if offline { Vec::new() } else { vec![ground.port] };
    world.plants = ground.plants.clone();
    ground
}

/// The world that a case needs.
pub(super) fn world(case: &Case) -> World {
    let offline = case.intent.injection().is_some_and(|injection| injection.offline);
    if offline { World::Offline } else { World::Planted }
}
