//! Plays the databases that servers connect to, so that tools which ask one go on behind the question: it keeps what it is
//! told, and says what a transaction that only reads refuses.
//!
//! | file | what it does |
//! |---|---|
//! | `sql` | reads statements as far as they decide what is answered |
//! | `store` | tables, and the transactions of one connection |
//! | `select` | answers questions, those about the database itself among them |
//! | `postgres`, `mysql` | speak with clients of these |
//! | `redis` | the same for a store of keys |

mod mysql;
mod postgres;
mod redis;
mod select;
mod sql;
mod store;

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

pub(super) use postgres::{Opening, opening};
use sql::Token;
use store::Store;

use super::wire::Wire;

/// Where databases listen. They often run beside their server, so they are there on loopback too.
pub const PORTS: [u16; 3] = [postgres::PORT, mysql::PORT, redis::PORT];

/// The longest message of a client that is answered.
const MAX_MESSAGE: usize = 1 << 20;
/// The longest answer: what would come after this is left out.
const MAX_ANSWER: usize = 4 << 20;
/// Clients that are answered at the same time; pools commonly hold ten.
const MAX_CLIENTS: usize = 32;
/// Statements that one client keeps, and bytes of all of them; the first names are forgotten first.
const MAX_PREPARED: usize = 256;
const MAX_PREPARED_BYTES: usize = 2 << 20;

/// The databases that can be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Database {
    Postgres,
    Mysql,
    Redis,
}

impl Database {
    /// The one whose clients wait at this port to be greeted.
    pub(super) fn that_greets(port: u16) -> Option<Database> {
        (port == mysql::PORT).then_some(Database::Mysql)
    }

    /// The one whose clients begin with these bytes.
    pub(super) fn of(first: &[u8]) -> Option<Database> {
        match opening(first) {
            Some(Opening::Start) => Some(Database::Postgres),
            _ => redis::is_redis(first).then_some(Database::Redis),
        }
    }

    /// Answers a client until it leaves. It may be quiet for as long as it likes: clients keep connections for later, and
    /// some do not outlive that one is closed.
    pub(super) async fn converse(self, mut wire: Wire, databases: &Databases) {
        let Ok(_place) = databases.clients.try_acquire() else { return wire.close().await };
        match self {
            Database::Postgres => postgres::converse(&mut wire, databases).await,
            Database::Mysql => mysql::converse(&mut wire, databases).await,
            Database::Redis => redis::converse(&mut wire, databases).await,
        }
        wire.close().await;
    }
}

/// What all connections to databases of one life share.
#[derive(Debug)]
pub(super) struct Databases {
    clients: Semaphore,
    store: Mutex<Store>,
    keys: Mutex<redis::Keys>,
}

impl Default for Databases {
    fn default() -> Databases {
        let clients = Semaphore::new(MAX_CLIENTS);
        Databases { clients, store: Mutex::default(), keys: Mutex::default() }
    }
}

impl Databases {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keys(&self) -> MutexGuard<'_, redis::Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps what a client prepared, as far as there is room.
fn keep<N: Ord, T>(kept: &mut BTreeMap<N, T>, name: N, prepared: T, weight: impl Fn(&T) -> usize) {
    kept.insert(name, prepared);
    while kept.len() > 1
        && (kept.len() > MAX_PREPARED || kept.values().map(&weight).sum::<usize>() > MAX_PREPARED_BYTES)
    {
        kept.pop_first();
    }
}

/// The bytes that pieces of statements take.
fn weight_of(tokens: &[Token]) -> usize {
    tokens.iter().map(|token| size_of::<Token>() + token.text().len()).sum()
}

#[cfg(test)]
mod tests;
