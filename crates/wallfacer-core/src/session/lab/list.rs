//! Opens a conversation with a fresh server and asks it for its lists.

use std::collections::BTreeMap;

use super::GRACE;
use crate::catalogue::{Catalogue, discover};
use crate::run::Life;
use crate::wire::{ConnectError, Connector, Server};

/// A server, and what it lists.
pub async fn open(connector: &mut Connector) -> Result<(Life, Catalogue), ConnectError> {
    let mut life = Life::start(connector, &BTreeMap::new()).await?;
    let timeouts = connector.target().timeouts.clone();
    let catalogue = discover(&mut life.connection, &life.server, &timeouts).await;
    Ok((life, catalogue))
}

/// What a server lists that is ended behind it.
pub async fn list(connector: &mut Connector) -> Result<(Server, Catalogue), ConnectError> {
    let (life, catalogue) = open(connector).await?;
    connector.dismiss(life.connection, GRACE).await;
    Ok((life.server, catalogue))
}
