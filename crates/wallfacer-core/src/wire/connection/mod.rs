//! Sends requests over an open channel and matches the answers exactly, with every frame written down.
//!
//! One owner drives it: [`Connection::request`] queues, [`Connection::next`] waits for whatever happens first.
//! Nothing runs behind its back, so that with one request in flight every byte belongs to that request.

mod happening;
mod intake;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::poll_fn;
use std::path::PathBuf;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue};
use serde_json::{Map, Value};
use tokio::time::Instant;
use wallfacer_process::Process;

use super::alarm::Alarm;
use super::dialect::Dialect;
use super::fault::Faults;
use super::frame::{Correlation, Direction, FrameLog, Stream};
use super::http::{Conduct, HeaderParams, Http, Style, What, modern_headers};
use super::id::Id;
use super::message::Incoming;
use super::stdio::{QUIET_AFTER_EXIT, Stdio};
use super::strays::{SplitLines, Strays};
use crate::target::{Bounds, Era};
use crate::world::{Standing, Traced, Vigil};

pub use happening::{Answered, Closed, Farewell, Happening, Head, Outcome};

/// Requests given up whose late replies are still recognised.
const MAX_GIVEN_UP: usize = 10_000;
/// SIGTERM, by its number on every system.
const TERMINATE: i32 = 15;
/// How long the farewell over HTTP may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// The number under which an answer comes back.
pub type Ticket = i64;

/// A conversation with one server.
#[derive(Debug)]
pub struct Connection {
    channel: Channel,
    vigil: Vigil,
    opened: Instant,
    bounds: Bounds,
    /// What is told to who asks for roots.
    pub(super) roots: Vec<PathBuf>,
    frames: FrameLog,
    heads: VecDeque<Head>,
    dialect: Dialect,
    pub manners: Manners,
    header_params: HeaderParams,
    next_id: i64,
    waiting: BTreeMap<i64, Waiting>,
    /// Requests that were sent as raw bytes, by the id they carry.
    foreign: BTreeMap<Id, Ticket>,
    given_up: BTreeSet<i64>,
    ready: VecDeque<Answered>,
    strays: Strays,
    split: SplitLines,
    notifications: BTreeMap<String, u64>,
    closed: Option<Closed>,
    alarm: Alarm,
}

/// How messages travel.
#[derive(Debug)]
pub enum Channel {
    Stdio(Stdio),
    /// With the process, where we started the server ourselves.
    Http(Box<Http>, Option<Process>),
}

/// What we do unasked while waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manners {
    /// Answer the server's own requests with safe defaults.
    pub answer_requests: bool,
    /// Go on where a result says that it needs input.
    pub give_input: bool,
}

impl Default for Manners {
    fn default() -> Self {
        Manners { answer_requests: true, give_input: true }
    }
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    since: Instant,
    exchange: Option<u64>,
    /// What is needed to go on after `input_required`.
    origin: Option<Box<Origin>>,
    rounds: usize,
    /// A message of this request's own exchange that does not answer it.
    partial: Option<Box<Incoming>>,
}

/// A request's method and parameters. Few requests need them again, so those that do not carry none about.
type Origin = (String, Map<String, Value>);

impl Connection {
    pub(super) fn new(channel: Channel, vigil: Vigil, dialect: Dialect, bounds: &Bounds) -> Connection {
        Connection {
            channel,
            vigil,
            opened: Instant::now(),
            bounds: bounds.clone(),
            roots: Vec::new(),
            frames: FrameLog::new(bounds),
            heads: VecDeque::new(),
            dialect,
            manners: Manners::default(),
            header_params: HeaderParams::new(),
            next_id: 1,
            waiting: BTreeMap::new(),
            foreign: BTreeMap::new(),
            given_up: BTreeSet::new(),
            ready: VecDeque::new(),
            strays: Strays::default(),
            split: SplitLines::default(),
            notifications: BTreeMap::new(),
            closed: None,
            alarm: Alarm::new(),
        }
    }

    pub fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    pub(super) fn set_dialect(&mut self, dialect: Dialect) {
        if let Channel::Http(http, _) = &mut self.channel {
            http.agree(dialect.version());
        }
        self.dialect = dialect;
    }

    pub(super) fn channel_mut(&mut self) -> &mut Channel {
        &mut self.channel
    }

    /// The process behind this connection, where it is ours.
    pub fn process(&self) -> Option<&Process> {
        match &self.channel {
            Channel::Stdio(stdio) => stdio.process(),
            Channel::Http(_, process) => process.as_ref(),
        }
    }

    /// Lets go of the runtime that it was opened in, so that another may go on after [`Connection::attach`]. False where it
    /// cannot.
    pub fn detach(&mut self) -> bool {
        match &mut self.channel {
            Channel::Stdio(stdio) => stdio.detach(),
            // Its exchanges have a runtime of their own.
            Channel::Http(..) => true,
        }
    }

    /// Goes on in the runtime that it is in now.
    pub fn attach(&mut self) -> std::io::Result<()> {
        self.alarm = Alarm::new();
        match &mut self.channel {
            Channel::Stdio(stdio) => stdio.attach(),
            Channel::Http(..) => Ok(()),
        }
    }

    /// How far the server is confined and watched.
    pub fn standing(&self) -> &Standing {
        &self.vigil.standing
    }

    /// The watch over this server's life.
    pub fn vigil(&self) -> &Vigil {
        &self.vigil
    }

    /// What the server does from here on it does for the step that is now taken.
    pub fn begin_step(&mut self) {
        self.vigil.begin();
    }

    /// What the server did since the step before.
    pub fn settle_step(&mut self) -> Traced {
        let process = match &self.channel {
            Channel::Stdio(stdio) => stdio.process(),
            Channel::Http(_, process) => process.as_ref(),
        };
        self.vigil.settle(process)
    }

    /// How messages travel, in words.
    pub fn transport(&self) -> &'static str {
        match &self.channel {
            Channel::Stdio(_) => "stdio",
            Channel::Http(http, _) => match http.style() {
                Style::Streamable => "Streamable HTTP",
                Style::LegacySse => "HTTP+SSE",
            },
        }
    }

    pub fn frames(&self) -> &FrameLog {
        &self.frames
    }

    /// The heads of HTTP responses, oldest first.
    pub fn heads(&self) -> impl DoubleEndedIterator<Item = &Head> {
        self.heads.iter()
    }

    /// How often each notification came.
    pub fn notifications(&self) -> &BTreeMap<String, u64> {
        &self.notifications
    }

    /// What came astray since this was last asked.
    pub fn take_strays(&mut self) -> Strays {
        std::mem::take(&mut self.strays)
    }

    pub fn in_flight(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes that the server has not taken yet.
    pub fn backlog(&self) -> usize {
        match &self.channel {
            Channel::Stdio(stdio) => stdio.backlog(),
            Channel::Http(..) => 0,
        }
    }

    /// Which arguments of which tools travel as headers too.
    pub fn set_header_params(&mut self, params: HeaderParams) {
        self.header_params = params;
    }

    /// Queues a request.
    pub fn request(&mut self, method: &str, params: Option<&Map<String, Value>>) -> Ticket {
        let ticket = self.next_id;
        let may_need_input = matches!(method, "tools/call" | "prompts/get" | "resources/read");
        let origin = (self.dialect.era() == Era::Modern && may_need_input)
            .then(|| Box::new((method.to_owned(), params.cloned().unwrap_or_default())));
        self.send_request(ticket, method, params, origin, 0);
        ticket
    }

    pub fn notify(&mut self, method: &str, params: Option<&Map<String, Value>>) {
        let bytes = self.dialect.notification(method, params);
        let extra = self.extra_headers(method, params);
        self.send(Instant::now(), bytes, None, extra, Correlation::Notification);
    }

    /// Sends bytes exactly as they are: over stdio without adding a newline, over HTTP as the body of a POST.
    /// A reply with the expected id settles the ticket; over HTTP the end of the exchange does so too.
    pub fn send_raw(&mut self, bytes: &[u8], expected: Option<Id>) -> Ticket {
        let ticket = self.next_id;
        self.next_id += 1;
        if let Some(id) = expected {
            self.foreign.insert(id, ticket);
        }
        let exchange = match &mut self.channel {
            Channel::Stdio(stdio) => {
                stdio.queue(bytes);
                None
            }
            Channel::Http(http, _) => Some(http.post_raw(Bytes::copy_from_slice(bytes), Some(ticket))),
        };
        let since = Instant::now();
        self.log_sent(since, exchange, bytes, Correlation::None);
        let waiting = Waiting { ticket, since, exchange, origin: None, rounds: 0, partial: None };
        self.waiting.insert(ticket, waiting);
        ticket
    }

    /// Gives a request up and tells the server so, in the way of its era.
    pub fn cancel(&mut self, ticket: Ticket) {
        for (id, exchange) in self.give_up(ticket) {
            match (&mut self.channel, exchange, self.dialect.era()) {
                (Channel::Http(http, _), Some(exchange), Era::Modern) => http.abort(exchange),
                _ => {
                    let params = Map::from_iter([("requestId".to_owned(), Value::from(id))]);
                    self.notify("notifications/cancelled", Some(&params));
                }
            }
        }
    }

    /// The id that the next request will have.
    pub fn next_id(&self) -> i64 {
        self.next_id
    }

    /// Goes on counting from here, so that clients use the same ids at the same time; never back.
    pub fn count_from(&mut self, id: i64) {
        self.next_id = self.next_id.max(id);
    }

    /// Waits no longer for a ticket, without a word to the server.
    pub fn forget(&mut self, ticket: Ticket) {
        self.waiting.retain(|_, waiting| waiting.ticket != ticket);
        self.foreign.retain(|_, waiting| *waiting != ticket);
    }

    /// Writes what is queued until the deadline, and reads nothing.
    pub async fn write_only(&mut self, deadline: Instant) {
        let (Channel::Stdio(stdio), alarm) = (&mut self.channel, &mut self.alarm) else { return };
        poll_fn(|context| {
            stdio.write(context);
            alarm.poll(context, deadline)
        })
        .await;
    }

    /// Breaks off the exchange of a request, as a client does that goes away in the middle of it.
    pub fn hang_up(&mut self, ticket: Ticket) {
        // What has come by now is late, and none the less its answer.
        for (_, exchange) in self.give_up(ticket) {
            if let (Channel::Http(http, _), Some(exchange)) = (&mut self.channel, exchange) {
                http.abort(exchange);
            }
        }
    }

    /// Nobody waits for it any more; its ids, and what carries it over HTTP.
    fn give_up(&mut self, ticket: Ticket) -> Vec<(i64, Option<u64>)> {
        self.foreign.retain(|_, waiting| *waiting != ticket);
        let given_up: Vec<(i64, Option<u64>)> = self
            .waiting
            .iter()
            .filter(|(_, waiting)| waiting.ticket == ticket)
            .map(|(id, waiting)| (*id, waiting.exchange))
            .collect();
        self.waiting.retain(|_, waiting| waiting.ticket != ticket);
        for (id, _) in &given_up {
            if self.given_up.len() == MAX_GIVEN_UP {
                self.given_up.pop_first();
            }
            self.given_up.insert(*id);
        }
        given_up
    }

    /// The session that requests name, where there are sessions.
    pub fn session(&self) -> Option<HeaderValue> {
        match &self.channel {
            Channel::Http(http, _) => http.session.clone(),
            Channel::Stdio(_) => None,
        }
    }

    /// Requests name this session from now on; the one before.
    pub fn replace_session(&mut self, session: Option<HeaderValue>) -> Option<HeaderValue> {
        match &mut self.channel {
            Channel::Http(http, _) => std::mem::replace(&mut http.session, session),
            Channel::Stdio(_) => None,
        }
    }

    /// The next message is sent in this way; false where messages do not travel over HTTP.
    pub fn behave(&mut self, conduct: Conduct) -> bool {
        match &mut self.channel {
            Channel::Http(http, _) => {
                http.behave(conduct);
                true
            }
            Channel::Stdio(_) => false,
        }
    }

    /// Ends the session as a client does that is done, and says what status that was answered; none where there is no session
    /// or no answer came.
    pub async fn end_session(&mut self, deadline: Instant) -> Option<u16> {
        let Channel::Http(http, _) = &mut self.channel else { return None };
        let exchange = http.delete()?;
        let ended = async {
            let mut status = None;
            loop {
                let arrival = http.next().await;
                match arrival.what {
                    What::Head { status: told, .. } if arrival.exchange == exchange => status = Some(told),
                    What::Ended(_) if arrival.exchange == exchange => return status,
                    _ => {}
                }
            }
        };
        tokio::time::timeout_at(deadline, ended).await.ok().flatten()
    }

    /// Closes the server's input behind what is queued; false where it has none from us.
    pub fn close_input(&mut self) -> bool {
        match &mut self.channel {
            Channel::Stdio(stdio) => {
                stdio.close_input_after();
                true
            }
            Channel::Http(..) => false,
        }
    }

    /// Waits for the next answer, the end of the connection, or the deadline.
    pub async fn next(&mut self, deadline: Instant) -> Happening {
        loop {
            if let Some(answered) = self.ready.pop_front() {
                return Happening::Answered(answered);
            }
            if let Some(closed) = &self.closed {
                return Happening::Closed(closed.clone());
            }
            match &mut self.channel {
                Channel::Stdio(stdio) => {
                    let alarm = &mut self.alarm;
                    let arrival = poll_fn(|context| {
                        let late = alarm.poll(context, deadline);
                        match stdio.poll(context) {
                            Poll::Ready(arrival) => Poll::Ready(Some(arrival)),
                            Poll::Pending => late.map(|()| None),
                        }
                    });
                    match arrival.await {
                        Some(arrival) => self.take_stdio(arrival).await,
                        None => return Happening::Deadline,
                    }
                }
                Channel::Http(http, process) => {
                    // What the server sent before it ended may still be on its way to us.
                    let quiet = if self.waiting.is_empty() { Duration::ZERO } else { QUIET_AFTER_EXIT };
                    let arrival = async {
                        tokio::select! {
                            biased;
                            arrival = http.next() => Some(arrival),
                            () = exited(process.as_ref(), quiet) => None,
                        }
                    };
                    match tokio::time::timeout_at(deadline, arrival).await {
                        Ok(Some(arrival)) => self.take_http(arrival).await,
                        Ok(None) => self.closed = Some(self.closing().await),
                        Err(_) => return Happening::Deadline,
                    }
                }
            }
            // A server that never stops talking must not keep us past the deadline.
            if self.ready.is_empty() && self.closed.is_none() && Instant::now() >= deadline {
                return Happening::Deadline;
            }
        }
    }

    /// Waits for one ticket; answers to others stay in order for later.
    pub async fn wait_for(&mut self, ticket: Ticket, deadline: Instant) -> Happening {
        let mut others = VecDeque::new();
        let happening = loop {
            match self.next(deadline).await {
                Happening::Answered(answered) if answered.ticket != ticket => others.push_back(answered),
                happening => break happening,
            }
        };
        others.append(&mut self.ready);
        self.ready = others;
        happening
    }

    /// Says goodbye: the session is ended, the input closed, and after `grace` the process is.
    pub async fn close(mut self, grace: Duration) -> Farewell {
        let _too_slow_is_no_matter = self.end_session(Instant::now() + FAREWELL).await;
        let process = match &mut self.channel {
            Channel::Stdio(stdio) => {
                stdio.close_input();
                match stdio.process() {
                    Some(process) => Some(process.end(grace).await),
                    None => None,
                }
            }
            Channel::Http(_, Some(process)) => {
                // A server that listens has no input whose end would tell it to go.
                let _ended_already = process.signal(TERMINATE);
                Some(process.end(grace).await)
            }
            Channel::Http(_, None) => None,
        };
        let traced = self.vigil.is_kept().then(|| self.settle_step());
        Farewell { process, strays: self.strays, frames: self.frames, traced }
    }

    /// Tells the server by a signal that it is to leave.
    pub(super) fn urge(&self) {
        let _ended_already = self.process().map(|process| process.signal(TERMINATE));
    }

    fn send_request(
        &mut self,
        ticket: Ticket,
        method: &str,
        params: Option<&Map<String, Value>>,
        origin: Option<Box<Origin>>,
        rounds: usize,
    ) {
        let id = self.next_id;
        self.next_id += 1;
        let bytes = self.dialect.request(id, method, params);
        let extra = self.extra_headers(method, params);
        let since = Instant::now();
        let exchange = self.send(since, bytes, Some(id), extra, Correlation::Request(id));
        self.waiting.insert(id, Waiting { ticket, since, exchange, origin, rounds, partial: None });
    }

    fn extra_headers(&self, method: &str, params: Option<&Map<String, Value>>) -> HeaderMap {
        match (&self.channel, self.dialect.era()) {
            (Channel::Http(..), Era::Modern) => modern_headers(method, params, &self.header_params),
            _ => HeaderMap::new(),
        }
    }

    fn send(
        &mut self,
        now: Instant,
        mut bytes: Vec<u8>,
        request: Option<i64>,
        extra: HeaderMap,
        correlation: Correlation,
    ) -> Option<u64> {
        match &mut self.channel {
            Channel::Stdio(stdio) => {
                bytes.push(b'\n');
                stdio.queue(&bytes);
                bytes.pop();
                self.log_sent(now, None, &bytes, correlation);
                None
            }
            Channel::Http(http, _) => {
                let bytes = Bytes::from(bytes);
                let exchange = http.post(bytes.clone(), request, extra);
                self.log_sent(now, Some(exchange), &bytes, correlation);
                Some(exchange)
            }
        }
    }

    fn log_sent(&mut self, now: Instant, exchange: Option<u64>, bytes: &[u8], correlation: Correlation) {
        let stream = exchange.map_or(Stream::Stdio, Stream::Http);
        let at = now - self.opened;
        self.frames.add(at, Direction::Sent, stream, bytes, Faults::default(), correlation);
    }
}

/// Waits until the process has ended, and then for this long.
async fn exited(process: Option<&Process>, quiet: Duration) {
    let Some(process) = process else { return std::future::pending().await };
    let _ending = process.exited().await;
    tokio::time::sleep(quiet).await;
}
