//! Carries out one HTTP request and reports its head, its messages and its end. Each exchange runs as a task of its own
//! and reports through a bounded queue, so that a server can neither flood us nor hold up another exchange.

use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue, LOCATION};
use http::{Method, Request, Response, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming as Received;
use tokio::sync::mpsc;

use super::agent::{Agent, HttpError};
use super::body::Body;
use super::sse::{Event, Parser};
use crate::target::Bounds;
use crate::wire::message::{Content, Incoming};

/// How often a stream that was cut before its reply is taken up again.
const MAX_RESUMES: usize = 8;
/// A server may ask for a pause before we come back; it does not get more than this.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(2);
/// What is kept of a body that is no message.
const FOREIGN_BODY_BYTES: usize = 16 << 10;

/// One request to be made.
#[derive(Debug, Clone)]
pub struct Exchange {
    pub number: u64,
    /// The id of our JSON-RPC request that it carries.
    pub request: Option<i64>,
    pub method: Method,
    pub authority: String,
    pub path: String,
    pub headers: HeaderMap,
    pub body: Bytes,
    /// Whether a stream that ends early may be taken up again by its last event id.
    pub resumable: bool,
    pub conduct: Conduct,
}

/// How the client behaves meanwhile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Conduct {
    #[default]
    Usual,
    /// It sends half of its body, and the rest after this time.
    Slow(Duration),
    /// It loses the connection as soon as there is an event id to resume it by, and resumes it.
    Drops,
}

/// Something that an exchange has to say.
#[derive(Debug)]
pub struct Arrival {
    pub exchange: u64,
    pub request: Option<i64>,
    pub what: What,
}

#[derive(Debug)]
pub enum What {
    Head {
        status: u16,
        headers: HeaderMap,
    },
    /// The whole body.
    Body(Incoming),
    Event {
        name: Option<String>,
        incoming: Incoming,
    },
    Ended(Ended),
}

/// How an exchange ended.
#[derive(Debug)]
pub enum Ended {
    Complete,
    /// A status of 400 and above; `body` is its beginning.
    Status {
        status: u16,
        body: Bytes,
    },
    Redirect {
        status: u16,
        location: String,
    },
    WrongContentType {
        content_type: String,
        body: Bytes,
    },
    /// The stream or body was cut, or ended without the reply.
    Broken,
    Failed(HttpError),
}

impl Ended {
    pub fn is_success(&self) -> bool {
        matches!(self, Ended::Complete | Ended::WrongContentType { .. })
    }
}

impl Exchange {
    /// Runs to the end, or until nobody listens any more.
    pub async fn run(self, agent: Arc<Agent>, bounds: Bounds, reports: mpsc::Sender<Arrival>) {
        let teller = Teller { exchange: self.number, request: self.request, reports };
        let ended = match self.perform(&agent, &bounds, &teller).await {
            Ok(ended) => ended,
            Err(error) => Ended::Failed(error),
        };
        teller.tell(What::Ended(ended)).await;
    }

    async fn perform(&self, agent: &Agent, bounds: &Bounds, teller: &Teller) -> Result<Ended, HttpError> {
        let (response, loan) = agent.send(self.http_request()).await?;
        let (status, content_type) = (response.status(), content_type(&response));
        teller.tell(What::Head { status: status.as_u16(), headers: response.headers().clone() }).await;
        let ended = if status.is_redirection() {
            let location = response.headers().get(LOCATION).map(lossy).unwrap_or_default();
            Ended::Redirect { status: status.as_u16(), location }
        } else if status.is_success() && content_type == "text/event-stream" {
            self.stream(agent, bounds, teller, response).await?
        } else {
            self.whole_body(bounds, teller, response, content_type).await
        };
        if matches!(ended, Ended::Complete | Ended::Status { .. }) {
            agent.give_back(loan);
        }
        Ok(ended)
    }

    async fn whole_body(
        &self,
        bounds: &Bounds,
        teller: &Teller,
        response: Response<Received>,
        content_type: String,
    ) -> Ended {
        let status = response.status();
        let is_json = content_type == "application/json" || content_type.ends_with("+json");
        let limit = if is_json { bounds.line_bytes } else { FOREIGN_BODY_BYTES };
        let body = match read_body(response.into_body(), limit).await {
            Read::Whole(body) => body,
            Read::TooLong(head) if is_json => {
                teller.tell(What::Body(Incoming::oversized(head))).await;
                return Ended::Broken;
            }
            Read::TooLong(head) => head,
            Read::Cut(head) => {
                if is_json {
                    teller.tell(What::Body(Incoming::read(head, bounds.nesting))).await;
                }
                return Ended::Broken;
            }
        };
        let empty = body.iter().all(u8::is_ascii_whitespace);
        if is_json && !empty {
            teller.tell(What::Body(Incoming::read(body.clone(), bounds.nesting))).await;
        }
        if status.is_client_error() || status.is_server_error() {
            let kept = body.slice(..body.len().min(FOREIGN_BODY_BYTES));
            return Ended::Status { status: status.as_u16(), body: kept };
        }
        // What comes with a receipt, or answers a notification, is nobody's business as long as it is a success.
        if is_json || self.request.is_none() || status == StatusCode::ACCEPTED {
            return Ended::Complete;
        }
        Ended::WrongContentType { content_type, body }
    }

    /// Reads an event stream; where it is cut before the reply, takes it up again by its last event id.
    async fn stream(
        &self,
        agent: &Agent,
        bounds: &Bounds,
        teller: &Teller,
        response: Response<Received>,
    ) -> Result<Ended, HttpError> {
        let mut reader = Reader {
            bounds,
            teller,
            wanted: self.request,
            last_id: None,
            pause: Duration::ZERO,
            drops: self.conduct == Conduct::Drops,
        };
        let mut seen = reader.read(response.into_body()).await;
        for _ in 0..MAX_RESUMES {
            let Some(last_id) = reader.last_id.clone().filter(|_| self.resumable && seen != Seen::Reply)
            else {
                break;
            };
            tokio::time::sleep(reader.pause).await;
            let (response, _loan) = agent.send(self.resume_request(&last_id)).await?;
            if !response.status().is_success() || content_type(&response) != "text/event-stream" {
                break;
            }
            seen = reader.read(response.into_body()).await;
        }
        Ok(match (seen, self.request) {
            (Seen::Reply, _) | (Seen::End, None) => Ended::Complete,
            (Seen::End | Seen::Cut, _) => Ended::Broken,
        })
    }

    fn http_request(&self) -> Request<Body> {
        let body = match self.conduct {
            Conduct::Slow(pause) => Body::in_halves(&self.body, pause),
            Conduct::Usual | Conduct::Drops => Body::whole(self.body.clone()),
        };
        self.build(self.method.clone(), self.headers.clone(), body)
    }

    fn resume_request(&self, last_id: &str) -> Request<Body> {
        let mut headers = self.headers.clone();
        headers.remove(CONTENT_TYPE);
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Ok(value) = HeaderValue::from_bytes(last_id.as_bytes()) {
            headers.insert("last-event-id", value);
        }
        self.build(Method::GET, headers, Body::whole(Bytes::new()))
    }

    fn build(&self, method: Method, headers: HeaderMap, body: Body) -> Request<Body> {
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = self.path.parse().unwrap_or_default();
        *request.headers_mut() = headers;
        if let Ok(host) = HeaderValue::from_str(&self.authority) {
            request.headers_mut().entry(http::header::HOST).or_insert(host);
        }
        request
    }
}

/// Speaks for one exchange. Once nobody listens, what is left to say is dropped.
struct Teller {
    exchange: u64,
    request: Option<i64>,
    reports: mpsc::Sender<Arrival>,
}

impl Teller {
    async fn tell(&self, what: What) {
        let arrival = Arrival { exchange: self.exchange, request: self.request, what };
        let _nobody_listens = self.reports.send(arrival).await;
    }
}

/// How far one stream got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Reply,
    End,
    Cut,
}

struct Reader<'a> {
    bounds: &'a Bounds,
    teller: &'a Teller,
    wanted: Option<i64>,
    last_id: Option<String>,
    pause: Duration,
    /// Whether the connection is lost at the next event that is not the reply and has an id.
    drops: bool,
}

impl Reader<'_> {
    async fn read(&mut self, mut body: Received) -> Seen {
        let mut parser = Parser::new(self.bounds.line_bytes);
        let mut seen = Seen::End;
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else { return if seen == Seen::Reply { seen } else { Seen::Cut } };
            let Ok(bytes) = frame.into_data() else { continue };
            let Ok(events) = parser.feed(&bytes) else {
                let incoming = Incoming::oversized(bytes.slice(..bytes.len().min(FOREIGN_BODY_BYTES)));
                self.teller.tell(What::Event { name: None, incoming }).await;
                return Seen::Cut;
            };
            for event in events {
                if self.take(event).await {
                    seen = Seen::Reply;
                } else if self.drops && self.last_id.is_some() && seen != Seen::Reply {
                    self.drops = false;
                    return Seen::Cut;
                }
            }
        }
        match parser.is_between_events() {
            true => seen,
            false if seen == Seen::Reply => seen,
            false => Seen::Cut,
        }
    }

    /// Hands an event on; true when it is the reply that we wait for.
    async fn take(&mut self, event: Event) -> bool {
        if event.id.is_some() {
            self.last_id = event.id;
        }
        if let Some(pause) = event.retry_ms {
            self.pause = Duration::from_millis(pause).min(MAX_RETRY_PAUSE);
        }
        // A priming event carries an id and no data: it is there to be resumed from, not to be read.
        if event.data.is_empty() {
            return false;
        }
        let incoming = Incoming::read(event.data, self.bounds.nesting);
        let is_reply = match &incoming.content {
            Content::Reply { id: Some(id), .. } => self.wanted.is_some() && id.as_ours() == self.wanted,
            _ => false,
        };
        self.teller.tell(What::Event { name: event.name, incoming }).await;
        is_reply
    }
}

enum Read {
    Whole(Bytes),
    TooLong(Bytes),
    Cut(Bytes),
}

async fn read_body(mut body: Received, limit: usize) -> Read {
    let mut whole = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let Ok(frame) = frame else { return Read::Cut(whole.freeze()) };
        let Ok(data) = frame.into_data() else { continue };
        let room = limit.saturating_sub(whole.len());
        whole.extend_from_slice(&data[..data.len().min(room)]);
        if data.len() > room {
            whole.truncate(FOREIGN_BODY_BYTES);
            return Read::TooLong(whole.freeze());
        }
    }
    Read::Whole(whole.freeze())
}

/// The media type alone, in lower case.
fn content_type(response: &Response<Received>) -> String {
    let value = response.headers().get(CONTENT_TYPE).map(lossy).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

fn lossy(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}
