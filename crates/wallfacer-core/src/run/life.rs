//! One server from start to end, and the steps taken on it.

use std::time::Duration;

use serde_json::Map;
use tokio::time::Instant;

use super::call::{Call, execute};
use super::patience::Patience;
use super::recording::{Recording, Taken};
use crate::plan::{RawFrame, Step};
use crate::target::Era;
use crate::wire::{ConnectError, Connection, Connector, Happening, HeaderParams, Id, Server, Strays, Ticket};

/// A stored case cannot keep us longer than this.
const MAX_PAUSE: Duration = Duration::from_secs(10);

/// A server that is there to be spoken to.
#[derive(Debug)]
pub struct Life {
    pub connection: Connection,
    pub server: Server,
}

impl Life {
    /// Starts a fresh server, or opens a new session where it is not ours to start.
    pub async fn start(connector: &mut Connector, headers: &HeaderParams) -> Result<Life, ConnectError> {
        let (mut connection, server) = connector.open().await?;
        connection.set_header_params(headers.clone());
        Ok(Life { connection, server })
    }

    /// Takes one step; all but [`Step::Restart`], which needs another life.
    pub async fn take(&mut self, step: &Step, patience: &Patience) -> Taken {
        match step {
            Step::Call { method, params } => {
                let timeout = patience.for_request(method, params);
                execute(
                    &mut self.connection,
                    &Call { method: method.clone(), params: params.clone(), timeout },
                )
                .await
            }
            Step::Probe => {
                let probe = self.probe(patience);
                execute(&mut self.connection, &probe).await
            }
            Step::Raw(frame) => self.send_raw(frame, patience).await,
            Step::Pause(ms) => self.afterwards("pause", Duration::from_millis(*ms).min(MAX_PAUSE)).await,
            Step::Signal(number) => {
                let sent = self.connection.process().map(|process| process.signal(*number));
                let told = sent.is_some_and(|sent| sent.is_ok());
                self.afterwards("signal", if told { patience.plain() } else { Duration::ZERO }).await
            }
            Step::CloseInput => {
                let told = self.connection.close_input();
                self.afterwards("close input", if told { patience.plain() } else { Duration::ZERO }).await
            }
            Step::Restart => unreachable!("the runner restarts"),
        }
    }

    /// The cheapest valid request of the era.
    pub fn probe(&self, patience: &Patience) -> Call {
        let method = match self.server.era() {
            Era::Legacy => "ping",
            Era::Modern => "server/discover",
        };
        Call { method: method.to_owned(), params: Map::new(), timeout: patience.plain() }
    }

    /// What the server wrote to stderr so far, where it is ours.
    pub fn finish(&self, steps: Vec<Taken>) -> Recording {
        let fatal = steps.iter().any(Taken::is_fatal);
        let process = self.connection.process().filter(|_| fatal);
        Recording { steps, stderr: process.map(wallfacer_process::Process::stderr) }
    }

    async fn send_raw(&mut self, frame: &RawFrame, patience: &Patience) -> Taken {
        let _earlier = self.connection.take_strays();
        let started = Instant::now();
        let id = frame.id.as_deref().map(Id::read);
        // Over HTTP the end of the exchange settles even what has no id.
        let awaited = id.is_some() || self.connection.transport() != "stdio";
        let ticket = self.connection.send_raw(&frame.bytes, id);
        if !awaited {
            self.connection.forget(ticket);
            let (method, strays) = ("raw frame".to_owned(), Strays::default());
            return Taken { method, awaited, outcome: None, closed: None, took: started.elapsed(), strays };
        }
        self.wait(ticket, "raw frame", started, patience).await
    }

    async fn wait(&mut self, ticket: Ticket, method: &str, started: Instant, patience: &Patience) -> Taken {
        let happening = self.connection.wait_for(ticket, started + patience.plain()).await;
        let took = started.elapsed();
        let (outcome, closed) = match happening {
            Happening::Answered(answered) => (Some(answered.outcome), None),
            Happening::Closed(closed) => (None, Some(closed)),
            Happening::Deadline => {
                self.connection.forget(ticket);
                (None, None)
            }
        };
        let strays = self.connection.take_strays();
        Taken { method: method.to_owned(), awaited: true, outcome, closed, took, strays }
    }

    /// A server may leave now: that is waited for, but nothing hangs on it.
    async fn afterwards(&mut self, what: &str, wait: Duration) -> Taken {
        let started = Instant::now();
        let closed = match self.connection.next(started + wait).await {
            Happening::Closed(closed) => Some(closed),
            Happening::Answered(_) | Happening::Deadline => None,
        };
        let strays = self.connection.take_strays();
        Taken {
            method: what.to_owned(),
            awaited: false,
            outcome: None,
            closed,
            took: started.elapsed(),
            strays,
        }
    }
}
