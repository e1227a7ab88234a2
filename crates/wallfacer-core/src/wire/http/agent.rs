//! Sends one HTTP request, and gives the head of its response and a body to read. No redirects, no retries, no cookies:
//! what the server says is what we see.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::{Request, Response};
use hyper::body::Incoming;
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsConnector;

use super::address::Address;
use super::body::Body;
use crate::world::Way;

/// A host that neither accepts nor refuses a connection would otherwise cost the whole call.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// Idle connections kept for the next request.
const MAX_IDLE: usize = 64;
/// Servers close connections that were idle for some seconds. A request sent at that moment would look as if it had made the
/// server hang up.
const IDLE_LIMIT: Duration = Duration::from_secs(1);

/// Why a request got no response.
#[derive(Debug, Clone, thiserror::Error)]
pub enum HttpError {
    #[error("cannot reach {authority}: {reason}")]
    Connect { authority: String, reason: String },
    #[error("no TLS connection with {authority}: {reason}")]
    Tls { authority: String, reason: String },
    #[error("{authority} does not speak HTTP as it should: {reason}")]
    Protocol { authority: String, reason: String },
    /// The connection broke off before a response.
    #[error("{authority} closed the connection without an answer")]
    Closed { authority: String },
}

/// Connections to one server.
#[derive(Debug)]
pub struct Agent {
    authority: String,
    host: String,
    port: u16,
    way: Way,
    tls: Option<Arc<ClientConfig>>,
    /// Each with the moment since which it is idle, the newest last.
    idle: Mutex<Vec<(Instant, SendRequest<Body>)>>,
}

/// A connection on loan; given back once its response has been read to the end.
#[derive(Debug)]
pub struct Loan(SendRequest<Body>);

impl Agent {
    pub fn new(address: &Address, way: Way) -> Result<Agent, HttpError> {
        let tls = match address.tls {
            true => Some(tls_config(&address.authority)?),
            false => None,
        };
        Ok(Agent {
            authority: address.authority.clone(),
            host: address.host.clone(),
            port: address.port,
            way,
            tls,
            idle: Mutex::new(Vec::new()),
        })
    }

    /// Sends one request. A kept connection that turns out to be closed before anything was sent is replaced.
    pub async fn send(&self, request: Request<Body>) -> Result<(Response<Incoming>, Loan), HttpError> {
        while let Some(mut sender) = self.take_idle() {
            if sender.ready().await.is_err() {
                continue;
            }
            match sender.send_request(request.clone()).await {
                Ok(response) => return Ok((response, Loan(sender))),
                Err(error) if error.is_canceled() => continue,
                Err(error) => return Err(self.broken(&error)),
            }
        }
        let mut sender = self.connect().await?;
        match sender.send_request(request).await {
            Ok(response) => Ok((response, Loan(sender))),
            Err(error) => Err(self.broken(&error)),
        }
    }

    pub fn give_back(&self, loan: Loan) {
        let mut idle = self.idle();
        if idle.len() < MAX_IDLE {
            idle.push((Instant::now(), loan.0));
        }
    }

    fn take_idle(&self) -> Option<SendRequest<Body>> {
        let mut idle = self.idle();
        let (since, sender) = idle.pop()?;
        if since.elapsed() < IDLE_LIMIT {
            return Some(sender);
        }
        // The others have been idle for even longer.
        idle.clear();
        None
    }

    fn idle(&self) -> MutexGuard<'_, Vec<(Instant, SendRequest<Body>)>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn connect(&self) -> Result<SendRequest<Body>, HttpError> {
        let unreachable = |reason: String| HttpError::Connect { authority: self.authority.clone(), reason };
        let connecting = self.way.connect(&self.host, self.port);
        let stream = match tokio::time::timeout(CONNECT_LIMIT, connecting).await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return Err(unreachable(plain(&error))),
            Err(_) => return Err(unreachable(format!("no answer within {}s", CONNECT_LIMIT.as_secs()))),
        };
        let _slower_without_but_works = stream.set_nodelay(true);
        match &self.tls {
            None => self.handshake(stream).await,
            Some(config) => {
                let failed = |reason: String| HttpError::Tls { authority: self.authority.clone(), reason };
                let name =
                    ServerName::try_from(self.host.clone()).map_err(|error| failed(error.to_string()))?;
                let connecting = TlsConnector::from(config.clone()).connect(name, stream);
                match tokio::time::timeout(CONNECT_LIMIT, connecting).await {
                    Ok(Ok(stream)) => self.handshake(stream).await,
                    Ok(Err(error)) => Err(failed(error.to_string())),
                    Err(_) => Err(failed(format!("no handshake within {}s", CONNECT_LIMIT.as_secs()))),
                }
            }
        }
    }

    async fn handshake<S>(&self, stream: S) -> Result<SendRequest<Body>, HttpError>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let (sender, connection) =
            handshake(TokioIo::new(stream)).await.map_err(|error| self.broken(&error))?;
        // Its errors reach us through the request that it carries.
        tokio::spawn(connection);
        Ok(sender)
    }

    fn broken(&self, error: &hyper::Error) -> HttpError {
        let authority = self.authority.clone();
        if error.is_parse() {
            return HttpError::Protocol { authority, reason: error.to_string() };
        }
        HttpError::Closed { authority }
    }
}

fn tls_config(authority: &str) -> Result<Arc<ClientConfig>, HttpError> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder = builder
        .map_err(|error| HttpError::Tls { authority: authority.to_owned(), reason: error.to_string() })?;
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

/// The system's words without its error number.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
        _ => error.to_string(),
    }
}
