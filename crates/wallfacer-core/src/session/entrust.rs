//! Gives servers a secret of our own, and other texts that are the same for the same seed.

use crate::judge::Secrets;
use crate::wire::Connector;

/// The variable that holds a secret of ours, so that a server which shows its environment is seen to do so. Its name is an
/// ordinary one, so that it does not tell the server who tests it.
pub const CANARY: &str = "DEPLOY_AUTH_TOKEN";

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
    format!("deploy-{}", &hash.to_hex()[..32])
}

/// A text of this run that rules recognise, the same for the same seed.
pub fn marker(seed: u64) -> String {
    let hash = blake3::hash(format!("wallfacer marker {seed}").as_bytes());
    format!("wfm{}", &hash.to_hex()[..13])
}
