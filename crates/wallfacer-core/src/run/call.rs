//! One request, from the moment it is sent until it is settled, given up, or the server is gone.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::recording::{Mark, Taken};
use crate::wire::{Connection, Happening};

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
    let happening = connection.wait_for(ticket, started + call.timeout).await;
    let took = started.elapsed();
    if matches!(happening, Happening::Deadline) {
        connection.cancel(ticket);
    }
    Taken::awaited(&call.method, happening, took).with_company(connection, mark)
}
