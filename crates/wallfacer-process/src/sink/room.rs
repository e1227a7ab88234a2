//! What all connections of one sink share.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::yield_now;

use super::answer::Shapes;
use super::authority::Authority;
use super::bounds::SETTLE_TURNS;
use super::database::Databases;
use super::fault::Fault;
use super::ledger::Ledger;
use super::resolver::Resolver;

#[derive(Debug)]
pub(super) struct Room {
    pub(super) ledger: Arc<Ledger>,
    pub(super) resolver: Resolver,
    pub(super) authority: Arc<Authority>,
    pub(super) marker: String,
    pub(super) shapes: Arc<Shapes>,
    pub(super) databases: Databases,
    /// What is wrong with every answer at the moment.
    pub(super) fault: Mutex<Option<Fault>>,
    /// One for each connection that is served at once.
    pub(super) places: Arc<Semaphore>,
}

impl Room {
    pub(super) fn fault(&self) -> Option<Fault> {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more connection, if there is one once those who have hung up are gone.
    pub(super) async fn place(&self) -> Option<OwnedSemaphorePermit> {
        for _ in 0..SETTLE_TURNS {
            if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
                return Some(place);
            }
            yield_now().await;
        }
        None
    }
}
