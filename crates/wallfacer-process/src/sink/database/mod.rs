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

use std::sync::{Mutex, MutexGuard, PoisonError};

pub(super) use postgres::{Opening, opening};
use store::Store;

use super::wire::Wire;

/// Where databases listen. They often run beside their server, so they are there on loopback too.
pub const PORTS: [u16; 3] = [postgres::PORT, mysql::PORT, redis::PORT];

/// The longest message of a client that is answered.
const MAX_MESSAGE: usize = 1 << 20;

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
        match self {
            Database::Postgres => postgres::converse(&mut wire, databases).await,
            Database::Mysql => mysql::converse(&mut wire, databases).await,
            Database::Redis => redis::converse(&mut wire, databases).await,
        }
        wire.close().await;
    }
}

/// What all connections to databases of one life share.
#[derive(Debug, Default)]
pub(super) struct Databases {
    store: Mutex<Store>,
    keys: Mutex<redis::Keys>,
}

impl Databases {
    fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keys(&self) -> MutexGuard<'_, redis::Keys> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
