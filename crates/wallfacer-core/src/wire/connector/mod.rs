//! Opens a [`Connection`] to a [`Target`] and learns who the [`Server`] is, as often as a fresh one is wanted.
//!
//! The era is found out once: a modern question first, and on anything but a modern answer the old handshake,
//! on a fresh process, because a server may have been put out of step by the question itself.

mod channel;
mod era;
mod handshake;
mod refusal;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use wallfacer_process::Means;

use super::connection::{Connection, Farewell};
use super::error::ConnectError;
use super::http::Style;
use super::server::{Remark, Server};
use super::shortened;
use crate::target::{Command, Confine, EndpointKind, Era, Protocol, Reach, Shown, Target, Version};
use crate::world::{Standing, World};
use era::Sign;

/// A server that was only asked for its era gets this long to leave by itself.
const PROBE_GRACE: Duration = Duration::from_millis(250);
/// What of a server's own words goes into a message.
const WORDS: usize = 160;

/// Opens connections to one target. A clone knows what its original has found out by then.
#[derive(Debug, Clone)]
pub struct Connector {
    target: Target,
    /// The environment that the server may inherit from.
    ambient: BTreeMap<OsString, OsString>,
    world: World,
    prepared: bool,
    agreed: Option<Agreed>,
    /// Whether the server was seen to stay after its input was closed; all clones know.
    lingers: Arc<AtomicBool>,
}

/// What the first connection found out.
#[derive(Debug, Clone)]
struct Agreed {
    version: Version,
    style: Style,
    remarks: Vec<Remark>,
    standing: Standing,
}

impl Connector {
    pub fn new(target: Target, ambient: BTreeMap<OsString, OsString>) -> Connector {
        let world = World::new(&target, &ambient);
        Connector { target, ambient, world, prepared: false, agreed: None, lingers: Arc::default() }
    }

    /// Ends a conversation from which nothing more is to be learned. A server that is known not to leave when its input is
    /// closed is told at once by a signal: to wait for each of its lives in vain would take longer than to start them.
    pub async fn dismiss(&self, connection: Connection, grace: Duration) -> Farewell {
        if self.lingers.load(Ordering::Relaxed) {
            connection.urge();
        }
        let farewell = connection.close(grace).await;
        self.learn_from(&farewell);
        farewell
    }

    /// How a server left tells how its next lives will.
    pub fn learn_from(&self, farewell: &Farewell) {
        let lingered = farewell.process.as_ref().is_some_and(|ended| ended.means != Means::Itself);
        self.lingers.fetch_or(lingered, Ordering::Relaxed);
    }

    /// What the world of each life is made of.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The same, to be changed: it holds from the next life on.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// How far the server is confined and watched; none before the first life.
    pub fn standing(&self) -> Option<&Standing> {
        self.agreed.as_ref().map(|agreed| &agreed.standing)
    }

    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The same server, started by another command; all else stays as it is.
    pub fn started_by(&self, command: Command) -> Connector {
        let mut other = self.clone();
        if let Reach::Command(own) | Reach::Both { command: own, .. } = &mut other.target.reach {
            *own = command;
        }
        other
    }

    /// Where the server looks for programs.
    pub fn search_path(&self) -> OsString {
        let spec = self.target.reach.command().map(|command| self.spec(command));
        spec.and_then(|spec| spec.env.get(OsStr::new("PATH")).cloned()).unwrap_or_default()
    }

    /// From now on requests come from a page of another host, as browsers tell it; false where the server does not listen.
    pub fn come_from(&mut self, host: &str) -> bool {
        let (Reach::Url(endpoint) | Reach::Both { endpoint, .. }) = &mut self.target.reach else {
            return false;
        };
        let port = endpoint.url.split_once("://").and_then(|(_, rest)| rest.split('/').next());
        let port = port.and_then(|authority| authority.rsplit_once(':')).map(|(_, port)| format!(":{port}"));
        let host = format!("{host}{}", port.unwrap_or_default());
        endpoint.headers.push(("Origin".to_owned(), format!("http://{host}")));
        endpoint.headers.push(("Host".to_owned(), host));
        true
    }

    /// Speaks this version from now on.
    pub fn speak(&mut self, protocol: Protocol) {
        self.target.protocol = protocol;
    }

    /// Puts a variable into the environment that servers we start inherit.
    pub fn plant(&mut self, name: &str, value: &str) {
        self.ambient.insert(name.into(), value.into());
    }

    /// Opens a connection: to a fresh process where the server is ours to start, else a new session. All of it, however
    /// often it must be started until it is known how to speak to it, has one start-up limit. A server that does not
    /// start in its sandbox is never started without.
    pub async fn open(&mut self) -> Result<(Connection, Server), ConnectError> {
        self.prepare().await?;
        let limit = self.limit_from_now();
        let (connection, mut server, style) = match self.open_within(limit).await {
            Err(error) if self.may_be_the_sandbox(&error) => self.look_into(error, limit).await?,
            opened => opened?,
        };
        let standing = connection.standing().clone();
        self.check(&standing)?;
        server.standing = standing.clone();
        let (version, remarks) = (server.protocol, server.remarks.clone());
        self.agreed = Some(Agreed { version, style, remarks, standing });
        Ok((connection, server))
    }

    /// Opens a further session with the server behind a connection, where it was started to listen; over stdio one with a
    /// second process in the same sandbox, where one waits there; else the same as [`Connector::open`]: another process, or
    /// another session with a server that is not ours.
    pub async fn open_beside(&mut self, first: &Connection) -> Result<(Connection, Server), ConnectError> {
        let Some((agreed, process)) = self.agreed.clone().zip(first.process()) else {
            return self.open().await;
        };
        let (limit, started) = (self.limit_from_now(), Instant::now());
        let connection = if self.target.reach.endpoint().is_some() {
            self.channel_beside(process, agreed.version, agreed.style, limit).await?
        } else if let Some(connection) = self.channel_to_second(process, agreed.version).await {
            connection
        } else {
            return self.open().await;
        };
        let opened = match agreed.version.era() {
            Era::Legacy => self.initialize(connection, agreed.version, started, limit).await,
            Era::Modern => self.discover(connection, agreed.version, started, limit).await,
        };
        let (connection, mut server) = opened.map_err(|error| error.with_words_of(process))?;
        server.standing = agreed.standing;
        Ok((connection, server))
    }

    /// Once, before anything is started: what must be had is there, and what must be downloaded is downloaded.
    pub async fn prepare(&mut self) -> Result<(), ConnectError> {
        if self.prepared {
            return Ok(());
        }
        if let Some(why) = self.world.obstacle() {
            return Err(ConnectError::Unmet { server: self.name(), why });
        }
        if let Some(command) = self.target.reach.command() {
            let spec = self.spec(command);
            let fetched = self.world.fetch(&spec).await;
            fetched.map_err(|why| ConnectError::Unmet { server: self.name(), why })?;
        }
        self.prepared = true;
        Ok(())
    }

    /// Whether a life has what must be had, and no less than those before it: what was found harmless must stay so.
    fn check(&self, standing: &Standing) -> Result<(), ConnectError> {
        let sandbox = &self.target.sandbox;
        let confined = sandbox.required.confine
            || sandbox.confine == Confine::Require
            || self.standing().is_some_and(Standing::is_confined);
        let lacks = confined && !standing.is_confined();
        if !lacks && (!sandbox.required.observe || standing.observed.calls) {
            return Ok(());
        }
        let why = standing.remarks.last().cloned();
        let why = why.unwrap_or_else(|| "this machine refuses it".to_owned());
        Err(ConnectError::Unmet { server: self.name(), why })
    }

    async fn open_within(&self, limit: Instant) -> Result<(Connection, Server, Style), ConnectError> {
        Ok(match (&self.agreed, self.target.protocol) {
            (Some(agreed), _) => {
                let Agreed { version, style, remarks, .. } = agreed.clone();
                let (connection, mut server) = self.open_as(version, style, limit).await?;
                server.remarks = remarks;
                (connection, server, style)
            }
            (None, Protocol::Fixed(version)) => self.open_fixed(version, limit).await?,
            (None, Protocol::Auto) => self.open_newest(limit).await?,
        })
    }

    /// Opens the conversation in a version and a transport that are known.
    async fn open_as(
        &self,
        version: Version,
        style: Style,
        limit: Instant,
    ) -> Result<(Connection, Server), ConnectError> {
        let started = Instant::now();
        let connection = self.channel(version, style, limit).await?;
        match version.era() {
            Era::Legacy => self.initialize(connection, version, started, limit).await,
            Era::Modern => self.discover(connection, version, started, limit).await,
        }
    }

    /// The version is the user's wish; only the HTTP transport may have to be found out.
    async fn open_fixed(
        &self,
        version: Version,
        limit: Instant,
    ) -> Result<(Connection, Server, Style), ConnectError> {
        let style = self.first_style();
        match self.open_as(version, style, limit).await {
            Ok((connection, server)) => Ok((connection, server, style)),
            Err(error) if self.may_be_sse(&error) && version.era() == Era::Legacy => {
                let opened = self.open_as(version, Style::LegacySse, limit).await;
                let (connection, server) = opened.map_err(|other| telling(error, other))?;
                Ok((connection, server, Style::LegacySse))
            }
            Err(error) => Err(error),
        }
    }

    async fn open_newest(&self, limit: Instant) -> Result<(Connection, Server, Style), ConnectError> {
        let style = self.first_style();
        if style == Style::LegacySse {
            return self.open_fixed(Version::LATEST_LEGACY, limit).await;
        }
        let started = Instant::now();
        if self.world.has_walls() && self.target.reach.endpoint().is_none() {
            return self.open_either(started, limit).await;
        }
        match self.probe(limit).await? {
            Sign::Modern(opened, version) => {
                let (connection, result) = *opened;
                let server = Server::from_discover(&result, version, started.elapsed());
                Ok((connection, server, style))
            }
            Sign::Legacy(remarks) => {
                let limit = if has_answered(&remarks) { self.limit_from_now() } else { limit };
                let (connection, mut server, style) = self.open_fixed(Version::LATEST_LEGACY, limit).await?;
                server.remarks = remarks;
                Ok((connection, server, style))
            }
        }
    }

    /// Asks both questions at once, each of a process of its own, where two do not meet: a server that takes long to start
    /// is not started twice in a row.
    async fn open_either(
        &self,
        started: Instant,
        limit: Instant,
    ) -> Result<(Connection, Server, Style), ConnectError> {
        let mut probe = Box::pin(self.probe(limit));
        let mut legacy = Box::pin(self.open_fixed(Version::LATEST_LEGACY, limit));
        let mut opened = None;
        let sign = loop {
            tokio::select! {
                sign = &mut probe => break sign?,
                done = &mut legacy, if opened.is_none() => opened = Some(done),
            }
        };
        match sign {
            Sign::Modern(modern, version) => {
                let (connection, result) = *modern;
                let server = Server::from_discover(&result, version, started.elapsed());
                Ok((connection, server, Style::Streamable))
            }
            Sign::Legacy(remarks) => {
                let opened = match opened {
                    Some(opened) => opened,
                    None => legacy.await,
                };
                let (connection, mut server, style) = opened?;
                server.remarks = remarks;
                Ok((connection, server, style))
            }
        }
    }

    /// For a server that is started once more after it has answered: one that is slow to start is not silent.
    fn limit_from_now(&self) -> Instant {
        Instant::now() + self.target.timeouts.startup
    }

    fn first_style(&self) -> Style {
        match self.target.reach.endpoint().map(|endpoint| endpoint.kind) {
            Some(EndpointKind::LegacySse) => Style::LegacySse,
            _ => Style::Streamable,
        }
    }

    /// Whether a refusal leaves it open that the server speaks the old HTTP transport.
    fn may_be_sse(&self, error: &ConnectError) -> bool {
        let automatic =
            self.target.reach.endpoint().is_some_and(|endpoint| endpoint.kind == EndpointKind::Auto);
        automatic && matches!(error, ConnectError::HttpStatus { status: 400 | 404 | 405, .. })
    }

    /// The server's name in messages: its address, or the command that starts it.
    fn name(&self) -> String {
        match self.target.shown().url {
            Some(url) => shortened(&url, WORDS),
            None => self.started_as(),
        }
    }

    fn started_as(&self) -> String {
        let command = Shown { url: None, ..self.target.shown() };
        shortened(&command.to_string(), WORDS)
    }
}

/// Whether the question for its era was answered, and not by the end of the server.
fn has_answered(remarks: &[Remark]) -> bool {
    !remarks.iter().any(|remark| matches!(remark, Remark::EndedOnProbe { .. }))
}

/// When the old transport fails too, the first error is the telling one, unless the second is about the stream itself.
fn telling(first: ConnectError, second: ConnectError) -> ConnectError {
    match second {
        ConnectError::HttpStatus { .. } | ConnectError::Malformed { method: "GET", .. } => first,
        other => other,
    }
}
