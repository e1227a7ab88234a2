//! Messages over HTTP: each of ours is an exchange of its own, and what all of them say arrives in one queue.

mod address;
mod agent;
mod body;
mod courier;
mod exchange;
mod headers;
mod sse;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, header};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

pub use address::{Address, BadUrl};
pub use agent::HttpError;
pub use exchange::{Arrival, Conduct, Ended, What};
pub use headers::{HeaderParams, modern_headers};

use agent::Agent;
use courier::Courier;
use exchange::Exchange;

use crate::target::{Bounds, Endpoint, Era, Version};
use crate::world::Way;

/// Arrivals that wait to be looked at; a server that says more is slowed down, not buffered.
const QUEUE: usize = 256;

/// The channel to a server over HTTP.
#[derive(Debug)]
pub struct Http {
    agent: Arc<Agent>,
    address: Address,
    /// Where messages are posted: the address itself, or what the old transport's `endpoint` event named.
    post_to: String,
    own_headers: HeaderMap,
    style: Style,
    bounds: Bounds,
    pub session: Option<HeaderValue>,
    version: Option<Version>,
    /// How the next message is posted.
    conduct: Conduct,
    exchanges: u64,
    main_stream: Option<u64>,
    courier: Courier,
    running: BTreeMap<u64, AbortHandle>,
    reports: mpsc::Sender<Arrival>,
    arrivals: mpsc::Receiver<Arrival>,
}

/// Which of the two HTTP transports is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    Streamable,
    /// Replies come over one long stream, opened first.
    LegacySse,
}

/// A header that cannot be sent.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SetupError {
    #[error(transparent)]
    Url(#[from] BadUrl),
    #[error(transparent)]
    Http(#[from] HttpError),
    #[error("`{name}` is no header that HTTP can carry; check --header and [target] headers")]
    Header { name: String },
}

impl Http {
    pub fn new(endpoint: &Endpoint, style: Style, bounds: &Bounds, way: Way) -> Result<Http, SetupError> {
        let address = Address::parse(&endpoint.url)?;
        let mut own_headers = HeaderMap::new();
        if let Some(value) =
            address.authorization.as_deref().and_then(|text| HeaderValue::from_str(text).ok())
        {
            own_headers.insert(header::AUTHORIZATION, value);
        }
        for (name, value) in &endpoint.headers {
            let bad = || SetupError::Header { name: name.clone() };
            let key = HeaderName::try_from(name.as_str()).map_err(|_| bad())?;
            own_headers.append(key, HeaderValue::from_str(value).map_err(|_| bad())?);
        }
        let (reports, arrivals) = mpsc::channel(QUEUE);
        Ok(Http {
            agent: Arc::new(Agent::new(&address, way)?),
            post_to: address.path.clone(),
            address,
            own_headers,
            style,
            bounds: bounds.clone(),
            session: None,
            version: None,
            conduct: Conduct::default(),
            exchanges: 0,
            main_stream: None,
            courier: Courier::new(),
            running: BTreeMap::new(),
            reports,
            arrivals,
        })
    }

    pub fn style(&self) -> Style {
        self.style
    }

    /// From now on requests name this version in their headers.
    pub fn agree(&mut self, version: Version) {
        self.version = Some(version);
    }

    /// The next message is posted in this way, and those after it as usual.
    pub fn behave(&mut self, conduct: Conduct) {
        self.conduct = conduct;
    }

    /// Takes the address that the old transport's first event names.
    pub fn set_endpoint(&mut self, reference: &str) -> Result<(), BadUrl> {
        self.post_to = self.address.join(reference.trim())?.path;
        Ok(())
    }

    /// Posts one message; gives the number of the exchange.
    pub fn post(&mut self, body: Bytes, request: Option<i64>, extra: HeaderMap) -> u64 {
        let mut headers = self.headers("application/json, text/event-stream");
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.extend(extra);
        let resumable = self.style == Style::Streamable && !self.is_modern();
        self.start(Method::POST, self.post_to.clone(), headers, body, (request, resumable))
    }

    /// The same for bytes of ours that may be no request: what answers them ends with their own response.
    pub fn post_raw(&mut self, body: Bytes, request: Option<i64>) -> u64 {
        let mut headers = self.headers("application/json, text/event-stream");
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self.start(Method::POST, self.post_to.clone(), headers, body, (request, false))
    }

    fn is_modern(&self) -> bool {
        self.version.is_some_and(|version| version.era() == Era::Modern)
    }

    /// Opens the stream on which the server may speak unasked.
    pub fn listen(&mut self) -> u64 {
        let headers = self.headers("text/event-stream");
        let stream = self.start(Method::GET, self.address.path.clone(), headers, Bytes::new(), (None, false));
        if self.style == Style::LegacySse {
            self.main_stream = Some(stream);
        }
        stream
    }

    /// Whether the whole conversation hangs on this exchange.
    pub fn is_main_stream(&self, exchange: u64) -> bool {
        self.main_stream == Some(exchange)
    }

    /// Ends the session, as a polite client does.
    pub fn delete(&mut self) -> Option<u64> {
        let legacy = self.version.is_some_and(|version| version.era() == Era::Legacy);
        if !legacy || self.session.is_none() || self.style == Style::LegacySse {
            return None;
        }
        let headers = self.headers("application/json, text/event-stream");
        Some(self.start(Method::DELETE, self.address.path.clone(), headers, Bytes::new(), (None, false)))
    }

    /// Breaks off an exchange: in the modern era this is how a request is cancelled.
    pub fn abort(&mut self, exchange: u64) {
        if let Some(task) = self.running.remove(&exchange) {
            task.abort();
        }
    }

    /// The next thing that any exchange has to say. Cancel-safe.
    pub async fn next(&mut self) -> Arrival {
        match self.arrivals.recv().await {
            Some(arrival) => {
                if matches!(arrival.what, What::Ended(_)) {
                    self.running.remove(&arrival.exchange);
                }
                arrival
            }
            // We hold a sender ourselves, so the queue is never closed.
            None => std::future::pending().await,
        }
    }

    fn headers(&self, accept: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.extend(self.own_headers.clone());
        if let Some(session) = &self.session {
            headers.insert("mcp-session-id", session.clone());
        }
        // The header came with 2025-06-18; older servers do not know it.
        if let Some(version) = self.version.filter(|version| *version >= Version::V2025_06_18) {
            headers.insert("mcp-protocol-version", HeaderValue::from_static(version.as_str()));
        }
        headers
    }

    fn start(
        &mut self,
        method: Method,
        path: String,
        headers: HeaderMap,
        body: Bytes,
        (request, resumable): (Option<i64>, bool),
    ) -> u64 {
        self.exchanges += 1;
        let number = self.exchanges;
        let conduct = std::mem::take(&mut self.conduct);
        let exchange = Exchange {
            number,
            request,
            resumable,
            method,
            authority: self.address.authority.clone(),
            path,
            headers,
            body,
            conduct,
        };
        let task = exchange.run(self.agent.clone(), self.bounds.clone(), self.reports.clone());
        self.running.insert(number, self.courier.begin(task));
        number
    }
}
