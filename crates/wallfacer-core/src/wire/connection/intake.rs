//! Sorts what arrives into answers to our requests, strays, and questions that we answer at once.

use std::path::PathBuf;
use std::time::Duration;

use http::header::HeaderMap;
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::{Answered, Channel, Closed, Connection, Head, Outcome, Waiting};
use crate::wire::answers::{Reaction, react, react_to_all};
use crate::wire::fault::Fault;
use crate::wire::frame::{Correlation, Direction, Stream};
use crate::wire::http::{Arrival as HttpArrival, Ended, Style, What};
use crate::wire::id::Id;
use crate::wire::message::{Body, Content, Incoming};
use crate::wire::stdio::Arrival as StdioArrival;

/// Rounds of `input_required` that one request may ask for.
const MAX_ROUNDS: usize = 8;
/// Names of notifications that are counted one by one.
const MAX_NOTIFICATION_NAMES: usize = 256;
/// Heads of HTTP responses that are kept.
const MAX_HEADS: usize = 1_024;
/// Between the last word of a process and its end lie moments; more than this and it lives on.
const EXIT_AFTER_FAILURE: Duration = Duration::from_secs(1);
/// Who closes its output nearly always ends; on a busy machine that takes longer to be seen.
const EXIT_AFTER_CLOSE: Duration = Duration::from_secs(5);

impl Connection {
    pub(super) async fn take_stdio(&mut self, arrival: StdioArrival) {
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

    pub(super) async fn take_http(&mut self, arrival: HttpArrival) {
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
                    let exit = tokio::time::timeout(EXIT_AFTER_FAILURE, process.exited());
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
        let outcome = outcome(waiting.partial.map(|partial| *partial));
        self.ready.push_back(Answered { ticket: waiting.ticket, outcome, took: waiting.since.elapsed() });
    }

    /// One frame has come: write it down, and see what it means.
    fn take(&mut self, incoming: Incoming, stream: Stream, request: Option<i64>) {
        let ours = match &incoming.content {
            Content::Reply { id: Some(id), .. } => id.as_ours(),
            _ => None,
        };
        let correlation = match &incoming.content {
            Content::Reply { .. } => match ours {
                Some(id) if self.waiting.contains_key(&id) => Correlation::Request(id),
                _ => Correlation::None,
            },
            Content::Request { .. } => Correlation::ServerRequest,
            Content::Notification { .. } => Correlation::Notification,
            Content::Batch(_) | Content::Noise => Correlation::None,
        };
        let now = Instant::now();
        let (at, faults) = (now - self.opened, incoming.faults.clone());
        self.frames.add(at, Direction::Received, stream, &incoming.bytes, faults, correlation);
        if !matches!(incoming.content, Content::Noise) {
            self.split.reset();
        }
        match &incoming.content {
            Content::Reply { .. } => match ours.and_then(|id| self.waiting.remove(&id)) {
                Some(waiting) => self.settle(now, waiting, incoming),
                None => self.take_stray_reply(now, ours, incoming, request),
            },
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

    /// A reply whose id is not that of a request in flight.
    fn take_stray_reply(
        &mut self,
        now: Instant,
        ours: Option<i64>,
        incoming: Incoming,
        request: Option<i64>,
    ) {
        let id = match &incoming.content {
            Content::Reply { id, .. } => id.clone(),
            _ => None,
        };
        if let Some(ticket) = id.as_ref().and_then(|id| self.foreign.remove(id))
            && let Some(waiting) = self.waiting.remove(&ticket)
        {
            return self.settle(now, waiting, incoming);
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
        // An error without an id says that a message could not be read; where one answer is due, that message is known.
        let unread = matches!(&incoming.content, Content::Reply { body: Body::Error(_), .. });
        if incoming.faults.has(Fault::NoId)
            && unread
            && request.is_none()
            && self.waiting.len() == 1
            && let Some((_, waiting)) = self.waiting.pop_first()
        {
            return self.settle_broken(waiting, incoming, Fault::NoId);
        }
        let fault = id.filter(|id| *id != Id::Null).map(|_| Fault::UnknownId);
        self.strays.add(&incoming, fault);
        self.keep_partial(request, incoming, fault);
    }

    /// The reply to one of our requests. Where it asks for input and manners allow, we go on instead.
    fn settle(&mut self, now: Instant, mut waiting: Waiting, incoming: Incoming) {
        if self.manners.give_input
            && let Some(origin) = waiting.origin.take()
            && waiting.rounds < MAX_ROUNDS
            && let Some(input) = input_for(&incoming, &self.roots)
        {
            let (method, mut params) = *origin;
            params.extend(input);
            let (ticket, since, rounds) = (waiting.ticket, waiting.since, waiting.rounds + 1);
            let origin = Some(Box::new((method.clone(), params.clone())));
            let id = self.next_id;
            self.send_request(ticket, &method, Some(&params), origin, rounds);
            if let Some(next) = self.waiting.get_mut(&id) {
                next.since = since;
            }
            return;
        }
        let took = now - waiting.since;
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
            waiting.partial = Some(Box::new(incoming));
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
        let reply = match react(method, params, &self.roots) {
            Reaction::Result(result) => {
                format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.to_json())
            }
            Reaction::Error { code, message } => {
                let error = serde_json::json!({ "code": code, "message": message });
                format!(r#"{{"jsonrpc":"2.0","id":{},"error":{error}}}"#, id.to_json())
            }
        };
        self.send(Instant::now(), reply.into_bytes(), None, HeaderMap::new(), Correlation::ServerRequest);
    }

    pub(super) async fn closing(&self) -> Closed {
        let Some(process) = self.process() else { return Closed { ending: None } };
        let ending = tokio::time::timeout(EXIT_AFTER_CLOSE, process.exited()).await.ok();
        Closed { ending }
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
fn input_for(incoming: &Incoming, roots: &[PathBuf]) -> Option<Map<String, Value>> {
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
        input.insert("inputResponses".to_owned(), Value::Object(react_to_all(requests, roots)));
    }
    if let Some(state) = result.get("requestState") {
        input.insert("requestState".to_owned(), state.clone());
    }
    Some(input)
}
