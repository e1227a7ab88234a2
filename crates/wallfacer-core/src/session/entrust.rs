//! Gives the servers of a run a secret of our own and tells what else they are entrusted with: none of it may come back.

use super::fuzz::{CANARY, canary};
use crate::judge::Secrets;
use crate::wire::Connector;

/// From the next life on. The seed decides our own secret, the canaries of the home, and the look-alikes of inherited ones.
pub(super) fn entrust(connector: &mut Connector, seed: u64) -> Secrets {
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
