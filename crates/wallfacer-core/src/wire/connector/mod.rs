//! [`Target`] in, an open [`Connection`] and its [`Server`] out, as often as a fresh one is wanted.
//!
//! The era is found out once: a modern question first, and on anything but a modern answer the old handshake,
//! on a fresh process, because a server may have been put out of step by the question itself.

mod channel;
mod era;
mod handshake;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::time::Instant;
use wallfacer_process::{Means, StartError};

use super::connection::{Connection, Farewell};
use super::error::ConnectError;
use super::http::Style;
use super::sample::shortened;
use super::server::{Remark, Server};
use crate::target::{Confine, EndpointKind, Era, Protocol, Shown, Target, Version};
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

    /// Speaks this version from now on.
    pub fn speak(&mut self, protocol: Protocol) {
        self.target.protocol = protocol;
    }

    /// Puts a variable into the environment that servers we start inherit.
    pub fn plant(&mut self, name: &str, value: &str) {
        self.ambient.insert(name.into(), value.into());
    }

    /// Opens a connection: to a fresh process where the server is ours to start, else a new session.
    pub async fn open(&mut self) -> Result<(Connection, Server), ConnectError> {
        self.prepare().await?;
        let mut opened = self.open_inside().await;
        // A busy machine looks like walls that do not hold; what is possible is not given up for one bad moment.
        if opened.as_ref().is_err_and(|error| self.may_do_without_walls(error)) {
            opened = self.open_inside().await;
        }
        let (connection, mut server, style) = match opened {
            Err(error) if self.may_do_without_walls(&error) => self.open_outside(&error).await?,
            opened => opened?,
        };
        let standing = connection.standing().clone();
        self.check(&standing)?;
        server.standing = standing.clone();
        let (version, remarks) = (server.protocol, server.remarks.clone());
        self.agreed = Some(Agreed { version, style, remarks, standing });
        Ok((connection, server))
    }

    /// Once, before anything is started: what must be had is there, and what must be downloaded is downloaded.
    async fn prepare(&mut self) -> Result<(), ConnectError> {
        if self.prepared {
            return Ok(());
        }
        if let Some(why) = self.world.obstacle() {
            return Err(ConnectError::Unmet { server: self.name(), why });
        }
        if let Some(command) = self.target.reach.command() {
            let spec = self.spec(command);
            self.world.fetch(&spec).await;
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

    fn may_do_without_walls(&self, error: &ConnectError) -> bool {
        let by_the_walls = match error {
            ConnectError::Start(error) => matches!(
                error,
                StartError::Execute { .. }
                    | StartError::Stuck { .. }
                    | StartError::Confine { .. }
                    | StartError::Watch { .. }
                    | StartError::WorkingDirectory { .. }
                    | StartError::Setup { .. }
            ),
            ConnectError::Exited { .. } | ConnectError::Silent { .. } | ConnectError::Deaf { .. } => true,
            _ => false,
        };
        by_the_walls && self.agreed.is_none() && self.world.has_walls() && self.world.may_do_without()
    }

    /// A server that does not work in the sandbox is no broken server, if it works without.
    async fn open_outside(
        &mut self,
        error: &ConnectError,
    ) -> Result<(Connection, Server, Style), ConnectError> {
        let said = error.to_string();
        let first = shortened(said.lines().next().unwrap_or_default(), WORDS);
        let outside = self.world.without_walls(format!("it does not start in the sandbox ({first})"));
        let inside = std::mem::replace(&mut self.world, outside);
        let opened = self.open_inside().await;
        if opened.is_err() {
            self.world = inside;
        }
        opened
    }

    async fn open_inside(&self) -> Result<(Connection, Server, Style), ConnectError> {
        Ok(match (&self.agreed, self.target.protocol) {
            (Some(agreed), _) => {
                let Agreed { version, style, remarks, .. } = agreed.clone();
                let (connection, mut server) = self.open_as(version, style).await?;
                server.remarks = remarks;
                (connection, server, style)
            }
            (None, Protocol::Fixed(version)) => self.open_fixed(version).await?,
            (None, Protocol::Auto) => self.open_newest().await?,
        })
    }

    /// Opens the conversation in a version and a transport that are known.
    async fn open_as(&self, version: Version, style: Style) -> Result<(Connection, Server), ConnectError> {
        let started = Instant::now();
        let connection = self.channel(version, style).await?;
        match version.era() {
            Era::Legacy => self.initialize(connection, version, started).await,
            Era::Modern => {
                let deadline = started + self.target.timeouts.startup;
                self.discover(connection, version, started, deadline).await
            }
        }
    }

    /// The version is the user's wish; only the HTTP transport may have to be found out.
    async fn open_fixed(&self, version: Version) -> Result<(Connection, Server, Style), ConnectError> {
        let style = self.first_style();
        match self.open_as(version, style).await {
            Ok((connection, server)) => Ok((connection, server, style)),
            Err(error) if self.may_be_sse(&error) && version.era() == Era::Legacy => {
                let (connection, server) =
                    self.open_as(version, Style::LegacySse).await.map_err(|other| telling(error, other))?;
                Ok((connection, server, Style::LegacySse))
            }
            Err(error) => Err(error),
        }
    }

    async fn open_newest(&self) -> Result<(Connection, Server, Style), ConnectError> {
        let style = self.first_style();
        if style == Style::LegacySse {
            return self.open_fixed(Version::LATEST_LEGACY).await;
        }
        let started = Instant::now();
        match self.probe(started).await? {
            Sign::Modern(opened, version) => {
                let (connection, result) = *opened;
                let server = Server::from_discover(&result, version, started.elapsed());
                Ok((connection, server, style))
            }
            Sign::Legacy(remarks) => {
                let (connection, mut server, style) = self.open_fixed(Version::LATEST_LEGACY).await?;
                server.remarks = remarks;
                Ok((connection, server, style))
            }
        }
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

/// When the old transport fails too, the first error is the telling one, unless the second is about the stream itself.
fn telling(first: ConnectError, second: ConnectError) -> ConnectError {
    match second {
        ConnectError::HttpStatus { .. } | ConnectError::Malformed { method: "GET", .. } => first,
        other => other,
    }
}
