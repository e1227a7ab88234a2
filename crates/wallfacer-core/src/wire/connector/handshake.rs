//! Asks the opening questions of either era on a fresh channel, and reads what the server says of itself.

use serde_json::Value;
use tokio::time::Instant;

use super::{Connector, WORDS};
use crate::target::{Era, Protocol, Version};
use crate::wire::connection::{Channel, Connection, Happening, Outcome};
use crate::wire::dialect::Dialect;
use crate::wire::error::ConnectError;
use crate::wire::fault::{Fault, Faults};
use crate::wire::http::Style;
use crate::wire::message::{Body, Content, Incoming};
use crate::wire::sample::{last_lines, sample};
use crate::wire::server::Server;
use crate::wire::shortened;

impl Connector {
    pub(super) async fn discover(
        &self,
        connection: Connection,
        version: Version,
        started: Instant,
        limit: Instant,
    ) -> Result<(Connection, Server), ConnectError> {
        let (connection, result) = self.ask_discover(connection, limit).await?;
        let server = Server::from_discover(&result, version, started.elapsed());
        Ok((connection, server))
    }

    pub(super) async fn ask_discover(
        &self,
        mut connection: Connection,
        limit: Instant,
    ) -> Result<(Connection, Value), ConnectError> {
        let asked = connection.request("server/discover", None);
        let happening = connection.wait_for(asked, limit).await;
        let result = self.result(&mut connection, happening, "server/discover").await?;
        Ok((connection, result))
    }

    /// The old handshake.
    pub(super) async fn initialize(
        &self,
        mut connection: Connection,
        version: Version,
        started: Instant,
        limit: Instant,
    ) -> Result<(Connection, Server), ConnectError> {
        let introduction = connection.dialect().introduction();
        let asked = connection.request("initialize", Some(&introduction));
        let happening = connection.wait_for(asked, limit).await;
        let result = self.result(&mut connection, happening, "initialize").await?;
        let offered = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
        let server = self.name();
        let spoken = match Version::parse(&offered).filter(|version| version.era() == Era::Legacy) {
            None if offered.is_empty() => {
                let faults = Faults::default();
                let sample = "a result without `protocolVersion`".to_owned();
                return Err(ConnectError::Malformed { server, method: "initialize", faults, sample });
            }
            None => {
                let offered = shortened(&offered, WORDS);
                return Err(ConnectError::UnknownVersion { server, offered });
            }
            Some(spoken) => spoken,
        };
        if spoken != version && self.target.protocol == Protocol::Fixed(version) {
            return Err(ConnectError::OtherVersion { server, wanted: version, offered });
        }
        let server = Server::from_initialize(&result, spoken, started.elapsed());
        connection.set_dialect(Dialect::new(spoken));
        connection.notify("notifications/initialized", None);
        if let Channel::Http(http, _) = connection.channel_mut()
            && http.style() == Style::Streamable
            && http.session.is_some()
        {
            http.listen();
        }
        Ok((connection, server))
    }

    /// The result of an opening request, or why there is none.
    async fn result(
        &self,
        connection: &mut Connection,
        happening: Happening,
        method: &'static str,
    ) -> Result<Value, ConnectError> {
        let server = self.name();
        let outcome = match happening {
            Happening::Answered(answered) => answered.outcome,
            Happening::Deadline => return Err(self.unanswered(connection, method)),
            Happening::Closed(closed) => {
                let strays = connection.take_strays();
                let printed = strays.examples.first().map(|stray| sample(&stray.head)).unwrap_or_default();
                let stderr = stderr_tail(connection);
                return Err(ConnectError::Exited { server, ending: closed.ending, printed, stderr });
            }
        };
        match outcome {
            Outcome::Reply(incoming) => self.result_of(&incoming, method),
            Outcome::Refused { status, body, .. } => {
                Err(ConnectError::HttpStatus { server, status, body: sample(&body) })
            }
            Outcome::Broken { faults, said, detail } => {
                let sample =
                    if detail.is_empty() { sample_of(said.as_ref()) } else { shortened(&detail, WORDS) };
                Err(ConnectError::Malformed { server, method, faults, sample })
            }
            Outcome::Lost(error) => Err(error.into()),
        }
    }

    fn result_of(&self, incoming: &Incoming, method: &'static str) -> Result<Value, ConnectError> {
        let server = self.name();
        let malformed = |faults: Faults| ConnectError::Malformed {
            server: server.clone(),
            method,
            faults,
            sample: sample(&incoming.bytes),
        };
        match &incoming.content {
            Content::Reply { body: Body::Error(error), .. } => Err(ConnectError::Refused {
                server,
                method,
                code: error.code.unwrap_or_default(),
                message: shortened(&error.message, WORDS),
            }),
            Content::Reply { body: Body::Result(range), .. } if !incoming.faults.has(Fault::WrongVersion) => {
                match incoming.value(range) {
                    Some(result) if result.is_object() => Ok(result),
                    _ => {
                        let mut faults = incoming.faults.clone();
                        faults.add(Fault::NotAnObject);
                        Err(malformed(faults))
                    }
                }
            }
            _ => Err(malformed(incoming.faults.clone())),
        }
    }

    /// Nothing that came in time answers the question; what came instead may tell why.
    pub(super) fn unanswered(&self, connection: &mut Connection, method: &'static str) -> ConnectError {
        let (server, strays) = (self.name(), connection.take_strays());
        if let Some(example) = strays.examples.first() {
            let (faults, sample) = (strays.faults(), sample(&example.head));
            return ConnectError::Malformed { server, method, faults, sample };
        }
        let waited = self.target.timeouts.startup;
        ConnectError::Silent { server, method, waited, stderr: stderr_tail(connection) }
    }
}

fn stderr_tail(connection: &Connection) -> String {
    connection.process().map(|process| last_lines(&process.stderr().tail)).unwrap_or_default()
}

fn sample_of(incoming: Option<&Incoming>) -> String {
    incoming.map(|incoming| sample(&incoming.bytes)).unwrap_or_default()
}
