//! One server from start to end, and the steps taken on it.

use std::time::Duration;

use serde_json::Map;
use tokio::time::Instant;

use super::call::{Call, answer, execute};
use super::patience::Patience;
use super::recording::{Mark, Recording, Taken};
use crate::plan::{Case, RawFrame, Step};
use crate::target::Era;
use crate::wire::{
    Closed, ConnectError, Connection, Connector, Fault, Happening, HeaderParams, Id, Outcome, Server, Strays,
};
use crate::world::Traced;

/// A stored case cannot keep us longer than this.
const MAX_PAUSE: Duration = Duration::from_secs(10);
/// Nor make more requests than this, nor take longer over them.
const MAX_TIMES: u32 = 100_000;
const MAX_REPEATING: Duration = Duration::from_secs(60);
/// A program that ends by an exception takes itself apart before it does so.
const PARTING: Duration = Duration::from_secs(2);
/// Errors about earlier frames that may still come; one frame of many lines may bring as many.
const MAX_OLD_ERRORS: usize = 64;
/// How often stock is taken while a request is made many times.
const STOCKS: u32 = 24;
/// Requests between two of them at most, so that there are enough where the time is up before the requests are made.
const MOST_APART: u32 = 16;

/// A server that is there to be spoken to.
#[derive(Debug)]
pub struct Life {
    pub connection: Connection,
    pub server: Server,
    /// What the server did until it could be spoken to; none where nobody watched.
    pub startup: Option<Traced>,
    /// What it sent before it was asked for anything, and that answers nothing.
    pub noise: Strays,
    /// What it was asked before all else, as far as that still holds.
    prepared: Vec<Step>,
}

impl Life {
    /// Starts a fresh server, or opens a new session where it is not ours to start.
    pub async fn start(connector: &mut Connector, headers: &HeaderParams) -> Result<Life, ConnectError> {
        let (mut connection, server) = connector.open().await?;
        connection.set_header_params(headers.clone());
        let startup = connection.vigil().is_kept().then(|| connection.settle_step());
        let noise = connection.take_strays();
        Ok(Life { connection, server, startup, noise, prepared: Vec::new() })
    }

    /// Whether it was asked what must come first.
    pub fn is_ready_for(&self, case: &Case) -> bool {
        case.prelude.is_empty() || self.prepared == case.prelude
    }

    /// Asks what must come first. False where the server does not outlive that.
    pub async fn prepare(&mut self, case: &Case, patience: &Patience) -> bool {
        for step in &case.prelude {
            if self.take(step, patience).await.is_fatal() {
                return false;
            }
        }
        self.prepared.clone_from(&case.prelude);
        true
    }

    /// Who calls a tool that was called to prepare the server may have undone what that did.
    pub fn forget_what_is_undone_by(&mut self, case: &Case) {
        let is_prepared = |tool: &str| self.prepared.iter().any(|step| step.tool() == Some(tool));
        if case.steps.iter().filter_map(Step::tool).any(is_prepared) {
            self.prepared.clear();
        }
    }

    /// Takes one step; all but [`Step::Restart`], which needs another life.
    pub async fn take(&mut self, step: &Step, patience: &Patience) -> Taken {
        self.connection.begin_step();
        let mut taken = self.perform(step, patience).await;
        // Who waits in vain may wait for the network, and that is known even where nobody watches.
        if self.connection.vigil().is_kept()
            || taken.is_fatal() && self.connection.standing().observed.network
        {
            taken.traced = Some(self.connection.settle_step());
        }
        taken
    }

    async fn perform(&mut self, step: &Step, patience: &Patience) -> Taken {
        match step {
            Step::Call { method, params } => {
                let timeout = patience.for_request(method, params);
                execute(
                    &mut self.connection,
                    &Call { method: method.clone(), params: params.clone(), timeout },
                )
                .await
            }
            Step::Many { times, method, params } => {
                let timeout = patience.for_request(method, params);
                let call = Call { method: method.clone(), params: params.clone(), timeout };
                self.repeat(&call, *times, patience.for_repeating(MAX_REPEATING)).await
            }
            Step::Probe => self.ask_after(patience).await,
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

    /// Probes until the answer is to the probe: errors that carry no id may be about what was sent before.
    async fn ask_after(&mut self, patience: &Patience) -> Taken {
        let probe = self.probe(patience);
        let mut taken = execute(&mut self.connection, &probe).await;
        for _ in 0..MAX_OLD_ERRORS {
            let Some(Outcome::Broken { faults, .. }) = &taken.outcome else { break };
            if !faults.has(Fault::NoId) {
                break;
            }
            let mut next = execute(&mut self.connection, &probe).await;
            next.strays.add_all(std::mem::take(&mut taken.strays));
            taken = next;
        }
        taken
    }

    /// Makes the same call again and again until it has been made so often, goes wrong, or takes too long in all.
    async fn repeat(&mut self, call: &Call, times: u32, most: Duration) -> Taken {
        let started = Instant::now();
        let mut stock = Vec::new();
        let every = (times / STOCKS).clamp(1, MOST_APART);
        for number in 1..=times.min(MAX_TIMES) {
            let taken = execute(&mut self.connection, call).await;
            if number % every == 0 {
                let sample = self.connection.process().and_then(wallfacer_process::Process::sample);
                stock.extend(sample.map(|sample| (number, sample)));
            }
            if taken.is_fatal() || number == times.min(MAX_TIMES) || started.elapsed() >= most {
                return Taken { stock, ..taken };
            }
        }
        Taken::unanswered(&call.method, Duration::ZERO)
    }

    async fn send_raw(&mut self, frame: &RawFrame, patience: &Patience) -> Taken {
        let _earlier = self.connection.take_strays();
        let mark = Mark::now(&self.connection);
        let started = Instant::now();
        let id = frame.id.as_deref().map(Id::read);
        // Over HTTP the end of the exchange settles even what has no id.
        let awaited = id.is_some() || self.connection.transport() != "stdio";
        let ticket = self.connection.send_raw(&frame.bytes, id);
        if !awaited {
            self.connection.forget(ticket);
            return Taken::unanswered("raw frame", started.elapsed());
        }
        let (happening, kept_waiting) = answer(&mut self.connection, ticket, patience.plain()).await;
        if matches!(happening, Happening::Deadline) {
            self.connection.forget(ticket);
        }
        let taken = Taken { kept_waiting, ..Taken::awaited("raw frame", happening, started.elapsed()) };
        taken.with_company(&mut self.connection, mark)
    }

    /// Closes the input, and waits for the server to end.
    pub async fn leave(&mut self) -> Option<Closed> {
        if !self.connection.close_input() {
            return None;
        }
        self.afterwards("close input", PARTING).await.closed
    }

    /// A server may leave now: that is waited for, but nothing hangs on it.
    async fn afterwards(&mut self, what: &str, wait: Duration) -> Taken {
        let mark = Mark::now(&self.connection);
        let started = Instant::now();
        let closed = match self.connection.next(started + wait).await {
            Happening::Closed(closed) => Some(closed),
            Happening::Answered(_) | Happening::Deadline => None,
        };
        let taken = Taken { closed, ..Taken::unanswered(what, started.elapsed()) };
        taken.with_company(&mut self.connection, mark)
    }
}
