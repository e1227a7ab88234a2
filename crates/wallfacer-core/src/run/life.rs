//! One server from start to end, and the steps taken on it.

use std::borrow::Cow;
use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;
use wallfacer_process::jail::Entry;
use wallfacer_process::{Process, Sample};
use wallfacer_text::lexicon::{Action, does};

use super::call::{Call, answer, execute};
use super::disturbed::LEAVING;
use super::patience::Patience;
use super::recording::{Fetched, Mark, Recording, Taken};
use super::together::execute_together;
use crate::plan::{Case, Kept, Lesson, RawFrame, Step, as_type_of, harvest, rows};
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
/// Levels of arguments in which kept values are looked for.
const MAX_LEVELS: usize = 16;

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
    /// What calls name, and what this server gave in its place when it was prepared.
    kept: Vec<(Kept, Value)>,
}

impl Life {
    /// Starts a fresh server, or opens a new session where it is not ours to start.
    pub async fn start(connector: &mut Connector, headers: &HeaderParams) -> Result<Life, ConnectError> {
        let (mut connection, server) = connector.open().await?;
        connection.set_header_params(headers.clone());
        let startup = connection.vigil().is_kept().then(|| connection.settle_step());
        let noise = connection.take_strays();
        Ok(Life { connection, server, startup, noise, prepared: Vec::new(), kept: Vec::new() })
    }

    /// The same as a further client: a session of its own with the server behind a connection, where that listens.
    pub async fn start_beside(
        connector: &mut Connector,
        headers: &HeaderParams,
        first: Option<&Connection>,
    ) -> Result<Life, ConnectError> {
        let (mut connection, server) = match first {
            Some(first) => connector.open_beside(first).await?,
            None => connector.open().await?,
        };
        connection.set_header_params(headers.clone());
        let noise = connection.take_strays();
        Ok(Life { connection, server, startup: None, noise, prepared: Vec::new(), kept: Vec::new() })
    }

    /// Whether it was asked what must come first.
    pub fn is_ready_for(&self, case: &Case) -> bool {
        case.prelude.is_empty() || self.prepared == case.prelude
    }

    /// Asks what must come first. False where the server does not outlive that.
    pub async fn prepare(&mut self, case: &Case, patience: &Patience) -> bool {
        self.kept.clear();
        let mut given: Vec<Lesson> = Vec::new();
        for row in rows(&case.prelude) {
            if let [Step::Keep(kept)] = row {
                let mut there = given.iter().filter(|lesson| lesson.field == kept.field);
                if let Some(lesson) = there.nth(kept.nth) {
                    self.kept.push((kept.clone(), lesson.value.clone()));
                }
                continue;
            }
            let taken = self.take_row(row, patience).await;
            if taken.iter().any(Taken::is_fatal) {
                return false;
            }
            given = match taken.last().and_then(|last| last.outcome.as_ref()) {
                Some(Outcome::Reply(reply)) => harvest(&reply.result().unwrap_or_default()),
                _ => Vec::new(),
            };
        }
        self.prepared.clone_from(&case.prelude);
        true
    }

    /// Who calls a tool that was called to prepare the server, or takes away what that made, may have undone what was done.
    pub fn forget_what_is_undone_by(&mut self, case: &Case) {
        let is_prepared = |tool: &str| self.prepared.iter().any(|step| step.tool() == Some(tool));
        let undoes = |tool: &str| is_prepared(tool) || does(tool, Action::Removes).is_some();
        if !self.prepared.is_empty() && case.steps.iter().filter_map(Step::tool).any(undoes) {
            self.prepared.clear();
        }
    }

    /// Parameters with what this server gave in the place of the values that were kept.
    pub fn filled<'p>(&self, params: &'p Map<String, Value>) -> Cow<'p, Map<String, Value>> {
        if self.kept.is_empty() {
            return Cow::Borrowed(params);
        }
        let mut filled = params.clone();
        filled.iter_mut().for_each(|(key, value)| fill(key, value, &self.kept, MAX_LEVELS));
        Cow::Owned(filled)
    }

    /// Takes one step; all but those that need another life, or several.
    pub async fn take(&mut self, step: &Step, patience: &Patience) -> Taken {
        self.connection.begin_step();
        let mut taken = self.perform(step, patience).await;
        // Who waits in vain may wait for the network, and that is known even where nobody watches.
        let kept = self.connection.vigil().is_kept();
        let network = self.connection.standing().observed.network;
        if kept || network {
            let traced = self.connection.settle_step();
            taken.fetched = network.then(|| Fetched::of(&traced));
            taken.traced = (kept || taken.is_fatal()).then_some(traced);
        }
        taken
    }

    /// Takes steps that are in flight together, or one.
    pub async fn take_row(&mut self, row: &[Step], patience: &Patience) -> Vec<Taken> {
        if let [step] = row {
            return vec![self.take(step, patience).await];
        }
        self.connection.begin_step();
        let requests = row.iter().filter_map(Step::request).map(|(method, params)| Call {
            timeout: patience.for_request(method, params),
            method: method.to_owned(),
            params: self.filled(params).into_owned(),
        });
        let calls: Vec<Call> = requests.collect();
        let mut taken = execute_together(&mut self.connection, &calls).await;
        if self.connection.vigil().is_kept() {
            let traced = self.connection.settle_step();
            taken.last_mut().into_iter().for_each(|last| last.traced = Some(traced.clone()));
        }
        taken
    }

    async fn perform(&mut self, step: &Step, patience: &Patience) -> Taken {
        match step {
            Step::Call { method, params } | Step::Send { method, params } => {
                let timeout = patience.for_request(method, params);
                let params = self.filled(params).into_owned();
                execute(&mut self.connection, &Call { method: method.clone(), params, timeout }).await
            }
            Step::Many { times, method, params } => {
                let timeout = patience.for_request(method, params);
                let params = self.filled(params).into_owned();
                let call = Call { method: method.clone(), params, timeout };
                self.repeat(&call, *times, patience.for_repeating(MAX_REPEATING)).await
            }
            Step::Probe => self.ask_after(patience).await,
            Step::Raw(frame) => self.send_raw(frame, patience).await,
            Step::Pause(ms) => self.afterwards("pause", Duration::from_millis(*ms).min(MAX_PAUSE)).await,
            Step::Signal(number) => {
                let sent = self.connection.process().map(|process| process.signal(*number));
                let told = sent.is_some_and(|sent| sent.is_ok());
                self.farewell("signal", told, patience).await
            }
            Step::CloseInput => {
                let told = self.connection.close_input();
                self.farewell("close input", told, patience).await
            }
            Step::Keep(_) => Taken::unanswered("keep", Duration::ZERO),
            // The runner takes these, where they stand among the steps of a case; elsewhere they mean nothing.
            Step::Restart | Step::Rounds(_) | Step::Disturb(_) => {
                Taken::unanswered("nothing", Duration::ZERO)
            }
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
                let temporary_files = self.connection.process().map_or(0, temporary_files);
                stock.extend(sample.map(|sample| (number, Sample { temporary_files, ..sample })));
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

    /// Waits for a server that was told to leave, and for all that it has started.
    async fn farewell(&mut self, what: &str, told: bool, patience: &Patience) -> Taken {
        let wait = if told { patience.plain().max(LEAVING) } else { Duration::ZERO };
        let started = Instant::now();
        let taken = self.afterwards(what, wait).await;
        match taken.closed.as_ref().is_some_and(|closed| closed.ending.is_some()) {
            true => self.look_who_is_left(taken, started + LEAVING).await,
            false => taken,
        }
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

/// Files that a process has made where those lie that nobody needs for long.
fn temporary_files(process: &Process) -> u64 {
    const PLACES: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
    let made = process.changes().unwrap_or_default().changes;
    let temporary = made.iter().filter(|change| {
        change.entry == Entry::File && PLACES.iter().any(|place| change.path.starts_with(place))
    });
    temporary.count() as u64
}

/// Puts what the server gave where an argument names what was kept.
fn fill(key: &str, value: &mut Value, kept: &[(Kept, Value)], levels: usize) {
    match value {
        _ if levels == 0 => {}
        Value::Object(members) => {
            members.iter_mut().for_each(|(key, value)| fill(key, value, kept, levels - 1));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(key, item, kept, levels - 1)),
        _ => {
            let given = kept.iter().find(|(kept, _)| kept.into == key && kept.value == *value);
            if let Some((_, given)) = given {
                *value = as_type_of(given, value);
                return;
            }
            // An address holds what was kept among other things.
            let within = kept.iter().find_map(|(kept, given)| {
                let (held, given) = (kept.value.as_str()?, given.as_str()?);
                let text =
                    value.as_str().filter(|text| key == "uri" && kept.into == key && text.contains(held))?;
                Some(text.replace(held, given))
            });
            if let Some(text) = within {
                *value = Value::from(text);
            }
        }
    }
}
