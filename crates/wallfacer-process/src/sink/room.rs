//! What all connections of one sink share.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::authority::Authority;
use super::ledger::Ledger;
use super::resolver::Resolver;

#[derive(Debug)]
pub(super) struct Room {
    pub(super) ledger: Arc<Ledger>,
    pub(super) resolver: Resolver,
    pub(super) authority: Arc<Authority>,
    pub(super) marker: String,
    /// One for each connection that is served at once.
    pub(super) places: Arc<Semaphore>,
}
