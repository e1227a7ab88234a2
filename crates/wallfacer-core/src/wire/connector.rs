//! [`Target`] in, an open [`Connection`] and its [`Server`] out, as often as a fresh one is wanted.
//!
//! The era is found out once: a modern question first, and on anything but a modern answer the old handshake,
//! on a fresh process, because a server may have been put out of step by the question itself.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::time::Instant;
use wallfacer_process::{Process, Spec, StartError, Stdio as Pipes};

use super::connection::{Answered, Channel, Connection, Happening, Outcome};
use super::dialect::Dialect;
use super::error::ConnectError;
use super::fault::{Fault, Faults};
use super::http::{Address, Ended, Http, Style, What};
use super::message::{Body, Content, ErrorObject, Incoming};
use super::sample::{last_lines, sample, shortened};
use super::server::{Remark, Server};
use super::stdio::Stdio;
use crate::target::{
    Command, Confine, Endpoint, EndpointKind, Era, Net, Protocol, Reach, Shown, Target, Version,
};
use crate::world::{Standing, Vigil, Way, World, way_to};

/// A server that was only asked for its era gets this long to leave by itself.
const PROBE_GRACE: Duration = Duration::from_millis(250);
/// Between two looks whether a server that we started listens yet.
const PORT_PAUSE: Duration = Duration::from_millis(20);
/// A server that we have just ended may need so long to let go of its port; whatever holds it longer is another.
const PORT_RELEASE: Duration = Duration::from_secs(1);
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
}

/// What the first connection found out.
#[derive(Debug, Clone)]
struct Agreed {
    version: Version,
    style: Style,
    remarks: Vec<Remark>,
    standing: Standing,
}

/// What an answer says about the era of its server.
enum Sign {
    Modern(Box<(Connection, Value)>, Version),
    Legacy(Vec<Remark>),
}

impl Connector {
    pub fn new(target: Target, ambient: BTreeMap<OsString, OsString>) -> Connector {
        let world = World::new(&target, &ambient);
        Connector { target, ambient, world, prepared: false, agreed: None }
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

    /// Puts a variable into the environment that servers we start inherit.
    pub fn plant(&mut self, name: &str, value: &str) {
        self.ambient.insert(name.into(), value.into());
    }

    /// Opens a connection: to a fresh process where the server is ours to start, else a new session.
    pub async fn open(&mut self) -> Result<(Connection, Server), ConnectError> {
        self.prepare().await?;
        let (connection, mut server, style) = match self.open_inside().await {
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

    /// Asks a server of unknown era the modern question.
    async fn probe(&self, started: Instant) -> Result<Sign, ConnectError> {
        let mut connection = self.channel(Version::LATEST, Style::Streamable).await?;
        let asked = connection.request("server/discover", None);
        let deadline = Instant::now() + self.target.timeouts.probe;
        let sign = match connection.wait_for(asked, deadline).await {
            Happening::Answered(answered) => return self.read_sign(connection, answered).await,
            Happening::Closed(closed) => Sign::Legacy(vec![Remark::EndedOnProbe { ending: closed.ending }]),
            Happening::Deadline => return self.probe_slowly(connection, asked, started).await,
        };
        connection.close(PROBE_GRACE).await;
        Ok(sign)
    }

    /// Silence may be a server that ignores what it does not know, or one that is still starting. The old question
    /// is put after the new one: whatever is answered first settles it, and a server that is slow is not misjudged.
    async fn probe_slowly(
        &self,
        mut connection: Connection,
        asked: i64,
        started: Instant,
    ) -> Result<Sign, ConnectError> {
        connection.set_dialect(Dialect::new(Version::LATEST_LEGACY));
        let introduction = connection.dialect().introduction();
        connection.request("initialize", Some(&introduction));
        let deadline = started + self.target.timeouts.startup;
        let sign = match connection.next(deadline).await {
            Happening::Answered(answered) if answered.ticket == asked => {
                let sign = sign_of(&answered.outcome);
                connection.close(PROBE_GRACE).await;
                // A fresh process, for this one has heard both questions.
                return match sign {
                    Some((_, version)) => {
                        let fresh = self.channel(version, Style::Streamable).await?;
                        let (fresh, result) = self.ask_discover(fresh, Instant::now()).await?;
                        Ok(Sign::Modern(Box::new((fresh, result)), version))
                    }
                    None => Ok(Sign::Legacy(Vec::new())),
                };
            }
            Happening::Answered(_) => Sign::Legacy(vec![Remark::SilentOnProbe]),
            Happening::Closed(closed) => Sign::Legacy(vec![Remark::EndedOnProbe { ending: closed.ending }]),
            Happening::Deadline => return Err(self.unanswered(&mut connection, "initialize")),
        };
        connection.close(PROBE_GRACE).await;
        Ok(sign)
    }

    async fn read_sign(&self, mut connection: Connection, answered: Answered) -> Result<Sign, ConnectError> {
        match (sign_of(&answered.outcome), answered.outcome) {
            (Some((Some(result), version)), _) => Ok(Sign::Modern(Box::new((connection, result)), version)),
            // Modern, but not at our first word: the version was wrong, say. The right one is tried once.
            (Some((None, version)), _) => {
                connection.set_dialect(Dialect::new(version));
                let (connection, result) = self.ask_discover(connection, Instant::now()).await?;
                Ok(Sign::Modern(Box::new((connection, result)), version))
            }
            (None, Outcome::Refused { status: status @ (401 | 403), body, .. }) => {
                Err(ConnectError::HttpStatus { server: self.name(), status, body: sample(&body) })
            }
            (None, Outcome::Lost(error)) => Err(error.into()),
            (None, outcome) => {
                let ambiguous = matches!(outcome, Outcome::Refused { status: 404, said: Some(_), .. });
                connection.close(PROBE_GRACE).await;
                Ok(Sign::Legacy(ambiguous.then_some(Remark::AmbiguousProbe).into_iter().collect()))
            }
        }
    }

    async fn discover(
        &self,
        mut connection: Connection,
        version: Version,
        started: Instant,
        deadline: Instant,
    ) -> Result<(Connection, Server), ConnectError> {
        let asked = connection.request("server/discover", None);
        let happening = connection.wait_for(asked, deadline).await;
        let result = self.result(&mut connection, happening, "server/discover").await?;
        let server = Server::from_discover(&result, version, started.elapsed());
        Ok((connection, server))
    }

    async fn ask_discover(
        &self,
        mut connection: Connection,
        started: Instant,
    ) -> Result<(Connection, Value), ConnectError> {
        let asked = connection.request("server/discover", None);
        let deadline = started + self.target.timeouts.startup;
        let happening = connection.wait_for(asked, deadline).await;
        let result = self.result(&mut connection, happening, "server/discover").await?;
        Ok((connection, result))
    }

    /// The old handshake.
    async fn initialize(
        &self,
        mut connection: Connection,
        version: Version,
        started: Instant,
    ) -> Result<(Connection, Server), ConnectError> {
        let introduction = connection.dialect().introduction();
        let asked = connection.request("initialize", Some(&introduction));
        let deadline = started + self.target.timeouts.startup;
        let happening = connection.wait_for(asked, deadline).await;
        let result = self.result(&mut connection, happening, "initialize").await?;
        let offered = result.get("protocolVersion").and_then(Value::as_str).unwrap_or_default().to_owned();
        let server = self.name();
        let spoken = match Version::parse(&offered).filter(|version| version.era() == Era::Legacy) {
            None if offered.is_empty() => {
                let faults = Faults::default();
                let sample = "a result without `protocolVersion`".to_owned();
                return Err(ConnectError::Malformed { server, method: "initialize", faults, sample });
            }
            None => {
                let offered = shortened(&offered, WORDS);
                return Err(ConnectError::UnknownVersion { server, offered });
            }
            Some(spoken) => spoken,
        };
        if spoken != version && self.target.protocol == Protocol::Fixed(version) {
            return Err(ConnectError::OtherVersion { server, wanted: version, offered });
        }
        let server = Server::from_initialize(&result, spoken, started.elapsed());
        connection.set_dialect(Dialect::new(spoken));
        connection.notify("notifications/initialized", None);
        if let Channel::Http(http, _) = connection.channel_mut()
            && http.style() == Style::Streamable
            && http.session.is_some()
        {
            http.listen();
        }
        Ok((connection, server))
    }

    /// The result of an opening request, or why there is none.
    async fn result(
        &self,
        connection: &mut Connection,
        happening: Happening,
        method: &'static str,
    ) -> Result<Value, ConnectError> {
        let server = self.name();
        let outcome = match happening {
            Happening::Answered(answered) => answered.outcome,
            Happening::Deadline => return Err(self.unanswered(connection, method)),
            Happening::Closed(closed) => {
                let strays = connection.take_strays();
                let printed = strays.examples.first().map(|stray| sample(&stray.head)).unwrap_or_default();
                let stderr = stderr_tail(connection);
                return Err(ConnectError::Exited { server, ending: closed.ending, printed, stderr });
            }
        };
        match outcome {
            Outcome::Reply(incoming) => self.result_of(&incoming, method),
            Outcome::Refused { status, body, .. } => {
                Err(ConnectError::HttpStatus { server, status, body: sample(&body) })
            }
            Outcome::Broken { faults, said, detail } => {
                let sample =
                    if detail.is_empty() { sample_of(said.as_ref()) } else { shortened(&detail, WORDS) };
                Err(ConnectError::Malformed { server, method, faults, sample })
            }
            Outcome::Lost(error) => Err(error.into()),
        }
    }

    fn result_of(&self, incoming: &Incoming, method: &'static str) -> Result<Value, ConnectError> {
        let server = self.name();
        let malformed = |faults: Faults| ConnectError::Malformed {
            server: server.clone(),
            method,
            faults,
            sample: sample(&incoming.bytes),
        };
        match &incoming.content {
            Content::Reply { body: Body::Error(error), .. } => Err(ConnectError::Refused {
                server,
                method,
                code: error.code.unwrap_or_default(),
                message: shortened(&error.message, WORDS),
            }),
            Content::Reply { body: Body::Result(range), .. } if !incoming.faults.has(Fault::WrongVersion) => {
                match incoming.value(range) {
                    Some(result) if result.is_object() => Ok(result),
                    _ => {
                        let mut faults = incoming.faults.clone();
                        faults.add(Fault::NotAnObject);
                        Err(malformed(faults))
                    }
                }
            }
            _ => Err(malformed(incoming.faults.clone())),
        }
    }

    async fn channel(&self, version: Version, style: Style) -> Result<Connection, ConnectError> {
        let (channel, vigil) = match &self.target.reach {
            Reach::Command(command) => {
                let (process, pipes, vigil) = self.world.start(&self.spec(command))?;
                (Channel::Stdio(Stdio::new(process, pipes, self.target.bounds.line_bytes)), vigil)
            }
            Reach::Url(endpoint) => {
                let http = self.http(endpoint, version, style, Way::default()).await?;
                (Channel::Http(Box::new(http), None), Vigil::none(self.world.remarks().to_vec()))
            }
            Reach::Both { command, endpoint } => {
                let (process, vigil) = self.start_listener(command, endpoint).await?;
                let http = self.http(endpoint, version, style, way_to(&process)).await?;
                (Channel::Http(Box::new(http), Some(process)), vigil)
            }
        };
        Ok(Connection::new(channel, vigil, Dialect::new(version), &self.target.bounds))
    }

    async fn http(
        &self,
        endpoint: &Endpoint,
        version: Version,
        style: Style,
        way: Way,
    ) -> Result<Http, ConnectError> {
        let mut http = Http::new(endpoint, style, &self.target.bounds, way)?;
        // Only the modern era names its version from the first request on.
        if version.era() == Era::Modern {
            http.agree(version);
        }
        if style == Style::LegacySse {
            self.await_endpoint(&mut http).await?;
        }
        Ok(http)
    }

    /// The old transport opens with a stream whose first event says where to post.
    async fn await_endpoint(&self, http: &mut Http) -> Result<(), ConnectError> {
        let stream = http.listen();
        let deadline = Instant::now() + self.target.timeouts.startup;
        let server = self.name();
        loop {
            let arrival = match tokio::time::timeout_at(deadline, http.next()).await {
                Ok(arrival) if arrival.exchange == stream => arrival.what,
                Ok(_) => continue,
                Err(_) => {
                    let waited = self.target.timeouts.startup;
                    let stderr = String::new();
                    return Err(ConnectError::Silent { server, method: "GET", waited, stderr });
                }
            };
            match arrival {
                What::Event { name, incoming } if name.as_deref() == Some("endpoint") => {
                    let reference = String::from_utf8_lossy(&incoming.bytes).into_owned();
                    return http.set_endpoint(&reference).map_err(|_| {
                        let shown = shortened(&reference, WORDS);
                        let sample = format!("an `endpoint` that is no address of its own (`{shown}`)");
                        ConnectError::Malformed { server, method: "GET", faults: Faults::default(), sample }
                    });
                }
                What::Ended(Ended::Failed(error)) => return Err(error.into()),
                What::Ended(Ended::Status { status, body }) => {
                    return Err(ConnectError::HttpStatus { server, status, body: sample(&body) });
                }
                What::Ended(_) => {
                    let mut faults = Faults::default();
                    faults.add(Fault::BrokenStream);
                    let sample = String::new();
                    return Err(ConnectError::Malformed { server, method: "GET", faults, sample });
                }
                What::Head { .. } | What::Body(_) | What::Event { .. } => {}
            }
        }
    }

    fn spec(&self, command: &Command) -> Spec {
        Spec {
            args: command.args.clone(),
            env: command.environment.resolve(self.ambient.clone()),
            cwd: command.cwd.clone(),
            ..Spec::new(command.program.clone())
        }
    }

    /// Starts a server that listens, and waits until it does.
    async fn start_listener(
        &self,
        command: &Command,
        endpoint: &Endpoint,
    ) -> Result<(Process, Vigil), ConnectError> {
        let address = Address::parse(&endpoint.url).map_err(|error| ConnectError::Setup(error.into()))?;
        // In a network of its own every port is free.
        if !self.world.has_walls() || self.target.sandbox.net == Net::Host {
            self.await_free(&address).await?;
        }
        let (process, pipes, vigil) = self.world.start(&self.spec(command))?;
        let way = way_to(&process);
        tokio::spawn(drain(pipes));
        let deadline = Instant::now() + self.target.timeouts.startup;
        loop {
            if listens(&address, &way, deadline).await {
                return Ok((process, vigil));
            }
            let server = self.started_as();
            tokio::select! {
                ending = process.exited() => {
                    let (ending, printed) = (Some(ending), String::new());
                    let stderr = last_lines(&process.stderr().tail);
                    return Err(ConnectError::Exited { server, ending, printed, stderr });
                }
                () = tokio::time::sleep(PORT_PAUSE) => {}
            }
            if Instant::now() >= deadline {
                let stderr = last_lines(&process.stderr().tail);
                let (url, waited) = (self.name(), self.target.timeouts.startup);
                return Err(ConnectError::Deaf { server, url, waited, stderr });
            }
        }
    }

    /// What listens already would answer in the place of the server that is to be started.
    async fn await_free(&self, address: &Address) -> Result<(), ConnectError> {
        let deadline = Instant::now() + PORT_RELEASE;
        while listens(address, &Way::default(), Instant::now() + PORT_RELEASE).await {
            if Instant::now() >= deadline {
                return Err(ConnectError::Taken { server: self.started_as(), url: self.name() });
            }
            tokio::time::sleep(PORT_PAUSE).await;
        }
        Ok(())
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

    /// Nothing that came in time answers the question; what came instead may tell why.
    fn unanswered(&self, connection: &mut Connection, method: &'static str) -> ConnectError {
        let (server, strays) = (self.name(), connection.take_strays());
        if let Some(example) = strays.examples.first() {
            let (faults, sample) = (strays.faults(), sample(&example.head));
            return ConnectError::Malformed { server, method, faults, sample };
        }
        let waited = self.target.timeouts.startup;
        ConnectError::Silent { server, method, waited, stderr: stderr_tail(connection) }
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

/// What the answer to the modern question proves: a version, and the result where there is one.
fn sign_of(outcome: &Outcome) -> Option<(Option<Value>, Version)> {
    let incoming = match outcome {
        Outcome::Reply(incoming) => incoming,
        Outcome::Refused { status: 400 | 404, said: Some(incoming), .. } => incoming,
        _ => return None,
    };
    match &incoming.content {
        Content::Reply { body: Body::Result(range), .. } => {
            let result = incoming.value(range)?;
            let version = newest_modern(result.get("supportedVersions")?)?;
            Some((Some(result), version))
        }
        Content::Reply { body: Body::Error(error), .. } => {
            sign_of_error(error).map(|version| (None, version))
        }
        _ => None,
    }
}

fn sign_of_error(error: &ErrorObject) -> Option<Version> {
    match error.code? {
        -32022 => newest_modern(error.data.as_ref()?.get("supported")?),
        -32021 | -32020 => Some(Version::LATEST),
        _ => None,
    }
}

fn newest_modern(versions: &Value) -> Option<Version> {
    let known = versions.as_array()?.iter().filter_map(Value::as_str).filter_map(Version::parse);
    known.filter(|version| version.era() == Era::Modern).max()
}

/// When the old transport fails too, the first error is the telling one, unless the second is about the stream itself.
fn telling(first: ConnectError, second: ConnectError) -> ConnectError {
    match second {
        ConnectError::HttpStatus { .. } | ConnectError::Malformed { method: "GET", .. } => first,
        other => other,
    }
}

async fn listens(address: &Address, way: &Way, deadline: Instant) -> bool {
    let connecting = way.connect(&address.host, address.port);
    tokio::time::timeout_at(deadline, connecting).await.is_ok_and(|connected| connected.is_ok())
}

/// Reads what a listening server prints, so that it never blocks on it; its input stays open as long.
async fn drain(mut pipes: Pipes) {
    let mut buffer = [0; 4096];
    while matches!(pipes.stdout.read(&mut buffer).await, Ok(count) if count > 0) {}
    // Some servers end when their input does, so it is held until nothing holds the output either.
    drop(pipes.stdin);
}

fn stderr_tail(connection: &Connection) -> String {
    connection.process().map(|process| last_lines(&process.stderr().tail)).unwrap_or_default()
}

fn sample_of(incoming: Option<&Incoming>) -> String {
    incoming.map(|incoming| sample(&incoming.bytes)).unwrap_or_default()
}
