//! An open channel in; requests out and answers back, matched exactly, with every frame written down.
//!
//! One owner drives it: [`Connection::request`] queues, [`Connection::next`] waits for whatever happens first.
//! Nothing runs behind its back, so that with one request in flight every byte belongs to that request.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderMap;
use serde_json::{Map, Value};
use tokio::time::Instant;
use wallfacer_process::{Ended as ProcessEnded, Ending, Process};

use super::alarm::Alarm;
use super::answers::{Reaction, react, react_to_all};
use super::dialect::Dialect;
use super::fault::{Fault, Faults};
use super::frame::{Correlation, Direction, FrameLog, Stream};
use super::http::{
    Arrival as HttpArrival, Ended, HeaderParams, Http, HttpError, Style, What, modern_headers,
};
use super::id::Id;
use super::message::{Body, Content, Incoming};
use super::stdio::{Arrival as StdioArrival, Stdio};
use super::strays::{SplitLines, Strays};
use crate::target::{Bounds, Era};

/// Rounds of `input_required` that one request may ask for.
const MAX_ROUNDS: usize = 8;
/// Requests given up whose late replies are still recognised.
const MAX_GIVEN_UP: usize = 10_000;
/// Names of notifications that are counted one by one.
const MAX_NOTIFICATION_NAMES: usize = 256;
/// Heads of HTTP responses that are kept.
const MAX_HEADS: usize = 1_024;
/// Between the end of its output and the end of a process lie moments; more than this and it lives on.
const EXIT_AFTER_CLOSE: Duration = Duration::from_secs(1);
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
    opened: Instant,
    bounds: Bounds,
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

/// The head of an HTTP response.
#[derive(Debug, Clone)]
pub struct Head {
    pub exchange: u64,
    pub request: Option<i64>,
    pub status: u16,
    pub headers: HeaderMap,
}

#[derive(Debug)]
struct Waiting {
    ticket: Ticket,
    since: Instant,
    exchange: Option<u64>,
    /// What is needed to go on after `input_required`.
    origin: Option<(String, Map<String, Value>)>,
    rounds: usize,
    /// A message of this request's own exchange that does not answer it.
    partial: Option<Incoming>,
}

/// What happened first.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "it is handed on once per answer; a box would cost more than the move"
)]
pub enum Happening {
    Answered(Answered),
    /// Nothing more will come on this connection.
    Closed(Closed),
    Deadline,
}

/// One request is settled.
#[derive(Debug)]
pub struct Answered {
    pub ticket: Ticket,
    pub outcome: Outcome,
    pub took: Duration,
}

/// How a request was settled.
#[derive(Debug)]
pub enum Outcome {
    /// A reply with the right id; its faults say whether it is a good one.
    Reply(Incoming),
    /// An HTTP status of 400 and above without a reply of the right id.
    Refused { status: u16, said: Option<Incoming>, body: Bytes },
    /// Bytes that mean to answer but do not.
    Broken { faults: Faults, said: Option<Incoming>, detail: String },
    /// The connection broke off.
    Lost(HttpError),
}

/// The other side is gone.
#[derive(Debug, Clone)]
pub struct Closed {
    /// How the process ended; none where it lives on with its output closed, or is not ours.
    pub ending: Option<Ending>,
}

/// What is left after a connection was closed.
#[derive(Debug)]
pub struct Farewell {
    pub process: Option<ProcessEnded>,
    pub strays: Strays,
    pub frames: FrameLog,
}

impl Connection {
    pub(super) fn new(channel: Channel, dialect: Dialect, bounds: &Bounds) -> Connection {
        Connection {
            channel,
            opened: Instant::now(),
            bounds: bounds.clone(),
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
            Channel::Stdio(stdio) => Some(stdio.process()),
            Channel::Http(_, process) => process.as_ref(),
        }
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
            .then(|| (method.to_owned(), params.cloned().unwrap_or_default()));
        self.send_request(ticket, method, params, origin, 0);
        ticket
    }

    pub fn notify(&mut self, method: &str, params: Option<&Map<String, Value>>) {
        let bytes = self.dialect.notification(method, params);
        let extra = self.extra_headers(method, params);
        self.send(bytes, None, extra, Correlation::Notification);
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
            Channel::Http(http, _) => {
                Some(http.post(Bytes::copy_from_slice(bytes), Some(ticket), HeaderMap::new()))
            }
        };
        self.log(Direction::Sent, exchange, bytes, Faults::default(), Correlation::None);
        let since = Instant::now();
        let waiting = Waiting { ticket, since, exchange, origin: None, rounds: 0, partial: None };
        self.waiting.insert(ticket, waiting);
        ticket
    }

    /// Gives a request up and tells the server so, in the way of its era.
    pub fn cancel(&mut self, ticket: Ticket) {
        let ids: Vec<i64> =
            self.waiting.iter().filter(|(_, waiting)| waiting.ticket == ticket).map(|(id, _)| *id).collect();
        self.foreign.retain(|_, waiting| *waiting != ticket);
        for id in ids {
            let exchange = self.waiting.remove(&id).and_then(|waiting| waiting.exchange);
            if self.given_up.len() == MAX_GIVEN_UP {
                self.given_up.pop_first();
            }
            self.given_up.insert(id);
            match (&mut self.channel, exchange, self.dialect.era()) {
                (Channel::Http(http, _), Some(exchange), Era::Modern) => http.abort(exchange),
                _ => {
                    let params = Map::from_iter([("requestId".to_owned(), Value::from(id))]);
                    self.notify("notifications/cancelled", Some(&params));
                }
            }
        }
    }

    /// Waits no longer for a ticket, without a word to the server.
    pub fn forget(&mut self, ticket: Ticket) {
        self.waiting.retain(|_, waiting| waiting.ticket != ticket);
        self.foreign.retain(|_, waiting| *waiting != ticket);
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
                    let arrival = poll_fn(|context| match stdio.poll(context) {
                        Poll::Ready(arrival) => Poll::Ready(Some(arrival)),
                        Poll::Pending => alarm.poll(context, deadline).map(|()| None),
                    });
                    match arrival.await {
                        Some(arrival) => self.take_stdio(arrival).await,
                        None => return Happening::Deadline,
                    }
                }
                Channel::Http(http, process) => {
                    let arrival = async {
                        tokio::select! {
                            biased;
                            arrival = http.next() => Some(arrival),
                            () = exited(process.as_ref()) => None,
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
        if let Channel::Http(http, _) = &mut self.channel
            && let Some(exchange) = http.delete()
        {
            let ended = async {
                loop {
                    let arrival = http.next().await;
                    if arrival.exchange == exchange && matches!(arrival.what, What::Ended(_)) {
                        break;
                    }
                }
            };
            let _too_slow_is_no_matter = tokio::time::timeout(FAREWELL, ended).await;
        }
        let process = match self.channel {
            Channel::Stdio(mut stdio) => {
                stdio.close_input();
                Some(stdio.process().end(grace).await)
            }
            Channel::Http(_, Some(process)) => {
                // A server that listens has no input whose end would tell it to go.
                let _ended_already = process.signal(TERMINATE);
                Some(process.end(grace).await)
            }
            Channel::Http(_, None) => None,
        };
        Farewell { process, strays: self.strays, frames: self.frames }
    }

    fn send_request(
        &mut self,
        ticket: Ticket,
        method: &str,
        params: Option<&Map<String, Value>>,
        origin: Option<(String, Map<String, Value>)>,
        rounds: usize,
    ) {
        let id = self.next_id;
        self.next_id += 1;
        let bytes = self.dialect.request(id, method, params);
        let extra = self.extra_headers(method, params);
        let since = Instant::now();
        let exchange = self.send(bytes, Some(id), extra, Correlation::Request(id));
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
                self.log(Direction::Sent, None, &bytes, Faults::default(), correlation);
                None
            }
            Channel::Http(http, _) => {
                let bytes = Bytes::from(bytes);
                let exchange = http.post(bytes.clone(), request, extra);
                self.log(Direction::Sent, Some(exchange), &bytes, Faults::default(), correlation);
                Some(exchange)
            }
        }
    }

    fn log(
        &mut self,
        direction: Direction,
        exchange: Option<u64>,
        bytes: &[u8],
        faults: Faults,
        correlation: Correlation,
    ) {
        let stream = exchange.map_or(Stream::Stdio, Stream::Http);
        self.frames.add(self.opened.elapsed(), direction, stream, bytes, faults, correlation);
    }

    async fn take_stdio(&mut self, arrival: StdioArrival) {
        match arrival {
            StdioArrival::Line { bytes, terminated } => {
                let mut incoming = Incoming::read(bytes, self.bounds.nesting);
                if !terminated {
                    incoming.faults.add(Fault::Unterminated);
                }
                self.take(incoming, Stream::Stdio, None);
            }
            StdioArrival::Oversized { head } => self.take(Incoming::oversized(head), Stream::Stdio, None),
            StdioArrival::Closed => self.closed = Some(self.closing().await),
        }
    }

    async fn take_http(&mut self, arrival: HttpArrival) {
        let HttpArrival { exchange, request, what } = arrival;
        match what {
            What::Head { status, headers } => self.take_head(Head { exchange, request, status, headers }),
            What::Body(incoming) => self.take(incoming, Stream::Http(exchange), request),
            What::Event { name, incoming } => match name.as_deref() {
                None | Some("message") => self.take(incoming, Stream::Event(exchange), request),
                // The old transport's endpoint is taken at the handshake; later ones and other names say nothing.
                Some(_) => {}
            },
            What::Ended(Ended::Failed(error)) => {
                if let Channel::Http(_, Some(process)) = &self.channel {
                    let exit = tokio::time::timeout(EXIT_AFTER_CLOSE, process.exited());
                    if exit.await.is_ok() {
                        self.closed = Some(self.closing().await);
                        return;
                    }
                }
                self.settle_exchange(request, |_| Outcome::Lost(error));
            }
            What::Ended(ended) => match &self.channel {
                // The old transport answers a POST with a mere receipt, and lives as long as its one stream.
                Channel::Http(http, _) if http.is_main_stream(exchange) => {
                    self.closed = Some(self.closing().await);
                }
                Channel::Http(http, _) if http.style() == Style::LegacySse && ended.is_success() => {}
                _ => self.settle_exchange(request, |said| outcome_of(ended, said)),
            },
        }
    }

    fn take_head(&mut self, head: Head) {
        if let (Channel::Http(http, _), Some(session)) =
            (&mut self.channel, head.headers.get("mcp-session-id"))
            && http.session.is_none()
        {
            http.session = Some(session.clone());
        }
        if self.heads.len() == MAX_HEADS {
            self.heads.pop_front();
        }
        self.heads.push_back(head);
    }

    /// An exchange is over. Where its request is still open, that is the answer.
    fn settle_exchange(&mut self, request: Option<i64>, outcome: impl FnOnce(Option<Incoming>) -> Outcome) {
        let Some(waiting) = request.and_then(|id| self.waiting.remove(&id)) else { return };
        self.foreign.retain(|_, ticket| *ticket != waiting.ticket);
        let outcome = outcome(waiting.partial);
        self.ready.push_back(Answered { ticket: waiting.ticket, outcome, took: waiting.since.elapsed() });
    }

    /// One frame has come: write it down, and see what it means.
    fn take(&mut self, incoming: Incoming, stream: Stream, request: Option<i64>) {
        let correlation = match &incoming.content {
            Content::Reply { id, .. } => match id.as_ref().and_then(Id::as_ours) {
                Some(id) if self.waiting.contains_key(&id) => Correlation::Request(id),
                _ => Correlation::None,
            },
            Content::Request { .. } => Correlation::ServerRequest,
            Content::Notification { .. } => Correlation::Notification,
            Content::Batch(_) | Content::Noise => Correlation::None,
        };
        let (at, faults) = (self.opened.elapsed(), incoming.faults.clone());
        self.frames.add(at, Direction::Received, stream, &incoming.bytes, faults, correlation);
        if !matches!(incoming.content, Content::Noise) {
            self.split.reset();
        }
        match &incoming.content {
            Content::Reply { id, .. } => {
                let id = id.clone();
                self.take_reply(id, incoming, request);
            }
            Content::Request { id, method, params } => {
                let params = params.as_ref().and_then(|range| incoming.value(range)).unwrap_or_default();
                self.answer(&id.clone(), &method.clone(), &params);
                self.note_faults(&incoming);
            }
            Content::Notification { method, .. } => {
                self.count_notification(&method.clone());
                self.note_faults(&incoming);
            }
            Content::Batch(_) => self.take_batch(incoming, request),
            Content::Noise => self.take_noise(incoming, request),
        }
    }

    fn take_reply(&mut self, id: Option<Id>, incoming: Incoming, request: Option<i64>) {
        let ours = id.as_ref().and_then(Id::as_ours);
        if let Some(waiting) = ours.and_then(|id| self.waiting.remove(&id)) {
            return self.settle(waiting, incoming);
        }
        if let Some(ticket) = id.as_ref().and_then(|id| self.foreign.remove(id))
            && let Some(waiting) = self.waiting.remove(&ticket)
        {
            return self.settle(waiting, incoming);
        }
        if let Some(ours) = ours.filter(|id| (1..self.next_id).contains(id)) {
            let late = self.given_up.remove(&ours);
            let fault = if late { Fault::LateReply } else { Fault::DuplicateReply };
            return self.strays.add(&incoming, Some(fault));
        }
        let meant = id.as_ref().and_then(Id::as_loosely_ours).and_then(|id| self.waiting.remove(&id));
        if let Some(waiting) = meant {
            return self.settle_broken(waiting, incoming, Fault::IdOfAnotherType);
        }
        let fault = id.filter(|id| *id != Id::Null).map(|_| Fault::UnknownId);
        self.strays.add(&incoming, fault);
        self.keep_partial(request, incoming, fault);
    }

    /// The reply to one of our requests. Where it asks for input and manners allow, we go on instead.
    fn settle(&mut self, mut waiting: Waiting, incoming: Incoming) {
        if self.manners.give_input
            && let Some((method, mut params)) = waiting.origin.take()
            && waiting.rounds < MAX_ROUNDS
            && let Some(input) = input_for(&incoming)
        {
            params.extend(input);
            let (ticket, since, rounds) = (waiting.ticket, waiting.since, waiting.rounds + 1);
            let origin = Some((method.clone(), params.clone()));
            let id = self.next_id;
            self.send_request(ticket, &method, Some(&params), origin, rounds);
            if let Some(next) = self.waiting.get_mut(&id) {
                next.since = since;
            }
            return;
        }
        let took = waiting.since.elapsed();
        self.ready.push_back(Answered { ticket: waiting.ticket, outcome: Outcome::Reply(incoming), took });
    }

    fn settle_broken(&mut self, waiting: Waiting, incoming: Incoming, fault: Fault) {
        self.strays.add(&incoming, Some(fault));
        let mut faults = incoming.faults.clone();
        faults.add(fault);
        let took = waiting.since.elapsed();
        let outcome = Outcome::Broken { faults, said: Some(incoming), detail: String::new() };
        self.ready.push_back(Answered { ticket: waiting.ticket, outcome, took });
    }

    fn take_batch(&mut self, incoming: Incoming, request: Option<i64>) {
        let Content::Batch(items) = incoming.content.clone() else { return };
        let mut meant = None;
        for item in items {
            match &item.content {
                Content::Reply { id: Some(id), .. } => {
                    meant = meant.or(id.as_ours().and_then(|id| self.waiting.remove(&id)));
                }
                Content::Request { id, method, params } => {
                    let params = params.as_ref().and_then(|range| item.value(range)).unwrap_or_default();
                    self.answer(&id.clone(), &method.clone(), &params);
                }
                Content::Notification { method, .. } => self.count_notification(&method.clone()),
                _ => {}
            }
        }
        match meant {
            Some(waiting) => self.settle_broken(waiting, incoming, Fault::Batch),
            None => {
                self.strays.add(&incoming, None);
                self.keep_partial(request, incoming, None);
            }
        }
    }

    fn take_noise(&mut self, incoming: Incoming, request: Option<i64>) {
        self.strays.add(&incoming, None);
        let oversized = incoming.faults.has(Fault::Oversized);
        // Too long to be read, so its id is unknown; but where one answer is due, this was to be it.
        if oversized
            && self.waiting.len() == 1
            && let Some((_, waiting)) = self.waiting.pop_first()
        {
            return self.settle_broken(waiting, incoming, Fault::Oversized);
        }
        if !oversized
            && let Some(whole) = self.split.add(&incoming.bytes, self.bounds.nesting)
            && let Content::Reply { id: Some(id), .. } = &whole.content
            && let Some(waiting) = id.as_ours().and_then(|id| self.waiting.remove(&id))
        {
            self.strays.forget(Fault::NotJson, self.split.lines());
            return self.settle_broken(waiting, whole, Fault::SplitOverLines);
        }
        self.keep_partial(request, incoming, None);
    }

    /// Over HTTP even a message without an id belongs to the request of its exchange.
    fn keep_partial(&mut self, request: Option<i64>, mut incoming: Incoming, fault: Option<Fault>) {
        if let Some(waiting) = request.and_then(|id| self.waiting.get_mut(&id)) {
            if let Some(fault) = fault {
                incoming.faults.add(fault);
            }
            waiting.partial = Some(incoming);
        }
    }

    fn note_faults(&mut self, incoming: &Incoming) {
        if !incoming.faults.is_empty() {
            self.strays.add(incoming, None);
        }
    }

    fn count_notification(&mut self, method: &str) {
        if let Some(count) = self.notifications.get_mut(method) {
            *count += 1;
        } else if self.notifications.len() < MAX_NOTIFICATION_NAMES {
            self.notifications.insert(method.to_owned(), 1);
        }
    }

    fn answer(&mut self, id: &Id, method: &str, params: &Value) {
        if !self.manners.answer_requests {
            return;
        }
        let reply = match react(method, params) {
            Reaction::Result(result) => {
                format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.to_json())
            }
            Reaction::Error { code, message } => {
                let error = serde_json::json!({ "code": code, "message": message });
                format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.to_json())
            }
        };
        self.send(reply.into_bytes(), None, HeaderMap::new(), Correlation::ServerRequest);
    }

    async fn closing(&self) -> Closed {
        let Some(process) = self.process() else { return Closed { ending: None } };
        let ending = tokio::time::timeout(EXIT_AFTER_CLOSE, process.exited()).await.ok();
        Closed { ending }
    }
}

async fn exited(process: Option<&Process>) {
    match process {
        Some(process) => drop(process.exited().await),
        None => std::future::pending().await,
    }
}

/// What the end of an exchange means for the request that it carried.
fn outcome_of(ended: Ended, said: Option<Incoming>) -> Outcome {
    let mut faults = said.as_ref().map(|said| said.faults.clone()).unwrap_or_default();
    let (fault, detail) = match ended {
        Ended::Failed(error) => return Outcome::Lost(error),
        Ended::Status { status, body } => return Outcome::Refused { status, said, body },
        Ended::Redirect { status, location } => (Fault::Redirect, format!("status {status} to {location}")),
        Ended::WrongContentType { content_type, body } => {
            let head = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
            (Fault::WrongContentType, format!("{content_type}: {head}"))
        }
        Ended::Broken => (Fault::BrokenStream, String::new()),
        // All was read, and it did not answer the request.
        Ended::Complete => match &said {
            Some(_) => return Outcome::Broken { faults, said, detail: String::new() },
            None => (Fault::BrokenStream, String::new()),
        },
    };
    faults.add(fault);
    Outcome::Broken { faults, said, detail }
}

/// What a result that says `input_required` wants to have added to the next try.
fn input_for(incoming: &Incoming) -> Option<Map<String, Value>> {
    let Content::Reply { body: Body::Result(range), .. } = &incoming.content else { return None };
    // Most results are complete; a look at the text spares the parsing of all of them.
    if !incoming.text(range).contains("input_required") {
        return None;
    }
    let result = incoming.value(range)?;
    if result.get("resultType")?.as_str()? != "input_required" {
        return None;
    }
    let mut input = Map::new();
    if let Some(requests) = result.get("inputRequests").and_then(Value::as_object) {
        input.insert("inputResponses".to_owned(), Value::Object(react_to_all(requests)));
    }
    if let Some(state) = result.get("requestState") {
        input.insert("requestState".to_owned(), state.clone());
    }
    Some(input)
}
