//! One request, from the moment it is sent until it is settled, given up, or the server is gone.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::held_up::HeldUp;
use super::recording::{Mark, Taken};
use crate::wire::{Connection, Happening, Ticket};

/// Most answers come before this; it is only looked into why one does not.
const AT_ONCE: Duration = Duration::from_millis(200);
/// How often it is looked whether the server may work at all.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(400);
/// So many times its time limit a request is given at most, however busy the machine is.
pub(super) const MOST_TIMES: u32 = 4;

/// A request and the time that it may take.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    pub method: String,
    pub params: Map<String, Value>,
    pub timeout: Duration,
}

impl Call {
    /// A call of a tool.
    pub fn tool(name: &str, arguments: Value, timeout: Duration) -> Call {
        let params = [("name".to_owned(), Value::from(name)), ("arguments".to_owned(), arguments)];
        Call { method: "tools/call".to_owned(), params: Map::from_iter(params), timeout }
    }
}

/// Makes one call on a connection that has no other in flight, so that whatever comes belongs to it.
pub async fn execute(connection: &mut Connection, call: &Call) -> Taken {
    // What came before this call is none of its doing.
    let _earlier = connection.take_strays();
    let mark = Mark::now(connection);
    let started = Instant::now();
    let ticket = connection.request(&call.method, Some(&call.params));
    let (happening, kept_waiting) = answer(connection, ticket, call.timeout).await;
    let took = started.elapsed();
    if matches!(happening, Happening::Deadline) {
        connection.cancel(ticket);
    }
    let taken = Taken { kept_waiting, ..Taken::awaited(&call.method, happening, took) };
    taken.with_company(connection, mark)
}

/// Waits for an answer as long as it may take, and says how long the machine kept the server from working meanwhile: that
/// time is given to it once more, within bounds.
pub async fn answer(connection: &mut Connection, ticket: Ticket, limit: Duration) -> (Happening, Duration) {
    let started = Instant::now();
    let mut happening = connection.wait_for(ticket, started + limit.min(AT_ONCE)).await;
    let mut held =
        HeldUp::since_now(connection.process().filter(|_| matches!(happening, Happening::Deadline)));
    while matches!(happening, Happening::Deadline) {
        let due = started + (limit + held.time()).min(limit * MOST_TIMES);
        let now = Instant::now();
        if now >= due {
            break;
        }
        happening = connection.wait_for(ticket, due.min(now + LOOK_EVERY)).await;
        held.look(connection.process());
    }
    (happening, held.time())
}
