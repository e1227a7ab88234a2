//! One request, with everything its handler may need to answer it.

use crate::message::{self, Failure};
use crate::outlet::Outlet;
use crate::session::{Asker, Cancellation, Client, Level, Session};
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub struct Request {
    pub id: Value,
    pub method: String,
    pub params: Map<String, Value>,
    pub client: Client,
    pub session: Arc<Session>,
    pub outlet: Arc<dyn Outlet>,
    pub cancellation: Arc<Cancellation>,
}

impl Request {
    /// A parameter that must be there and be a string.
    pub fn text(&self, name: &str) -> Result<&str, Failure> {
        self.params
            .get(name)
            .and_then(Value::as_str)
            .ok_or_else(|| Failure::params(format!("`{name}` must be a string")))
    }

    /// A parameter that is an object, where left out means empty.
    pub fn object(&self, name: &str) -> Result<Map<String, Value>, Failure> {
        match self.params.get(name) {
            None => Ok(Map::new()),
            Some(Value::Object(members)) => Ok(members.clone()),
            Some(_) => Err(Failure::params(format!("`{name}` must be an object"))),
        }
    }

    /// Tells how far the work has come, if the client asked to be told.
    pub fn progress(&self, done: u64, total: u64) {
        let token = self.params.get("_meta").and_then(|meta| meta.get("progressToken"));
        if let Some(token) = token.filter(|token| token.is_string() || token.is_i64() || token.is_u64()) {
            let params = json!({"progressToken": token, "progress": done, "total": total});
            self.outlet.send(&message::notification("notifications/progress", &params));
        }
    }

    /// Logs, if the client wants messages of this level.
    pub fn log(&self, level: Level, text: &str) {
        if self.client.log_level.is_some_and(|least| level >= least) {
            let params = json!({"level": level.as_str(), "logger": "fixture", "data": text});
            self.outlet.send(&message::notification("notifications/message", &params));
        }
    }

    pub fn asker(&self) -> Asker<'_> {
        Asker { outlet: self.outlet.as_ref(), cancellation: &self.cancellation }
    }
}
