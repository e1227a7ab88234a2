//! Starts the process, or reaches the address, of a target and opens a channel to it.

use std::fs::File;
use std::io;
use std::thread;
use std::time::Duration;

use tokio::time::Instant;
use wallfacer_process::{Process, Spec, Stdio as Pipes};

use super::{Connector, WORDS};
use crate::target::{Command, Endpoint, Era, Net, Reach, Version};
use crate::wire::connection::{Channel, Connection};
use crate::wire::dialect::Dialect;
use crate::wire::error::ConnectError;
use crate::wire::fault::{Fault, Faults};
use crate::wire::http::{Address, Ended, Http, Style, What};
use crate::wire::sample::{last_lines, sample};
use crate::wire::shortened;
use crate::wire::stdio::Stdio;
use crate::world::{Vigil, Way, way_to};

/// Between two looks whether a server that we started listens yet.
const PORT_PAUSE: Duration = Duration::from_millis(20);
/// A server that we have just ended may need so long to let go of its port; whatever holds it longer is another.
const PORT_RELEASE: Duration = Duration::from_secs(1);

impl Connector {
    pub(super) async fn channel(
        &self,
        version: Version,
        style: Style,
        limit: Instant,
    ) -> Result<Connection, ConnectError> {
        let (channel, vigil) = match &self.target.reach {
            Reach::Command(command) => {
                let (process, pipes, vigil) = self.world.start(&self.spec(command))?;
                (Channel::Stdio(Stdio::new(process, pipes, self.target.bounds.line_bytes)), vigil)
            }
            Reach::Url(endpoint) => {
                let http = self.http(endpoint, version, style, Way::default(), limit).await?;
                (Channel::Http(Box::new(http), None), Vigil::none(self.world.remarks().to_vec()))
            }
            Reach::Both { command, endpoint } => {
                let (process, vigil) = self.start_listener(command, endpoint, limit).await?;
                let http = self.http(endpoint, version, style, way_to(&process), limit).await?;
                (Channel::Http(Box::new(http), Some(process)), vigil)
            }
        };
        let mut connection = Connection::new(channel, vigil, Dialect::new(version), &self.target.bounds);
        connection.roots.clone_from(&self.target.roots);
        Ok(connection)
    }

    /// A further channel to a server that we started and that listens.
    pub(super) async fn channel_beside(
        &self,
        process: &Process,
        version: Version,
        style: Style,
        limit: Instant,
    ) -> Result<Connection, ConnectError> {
        let endpoint = self.target.reach.endpoint().expect("only what listens has room for another");
        let http = self.http(endpoint, version, style, way_to(process), limit).await?;
        let channel = Channel::Http(Box::new(http), None);
        let vigil = Vigil::none(self.world.remarks().to_vec());
        let mut connection = Connection::new(channel, vigil, Dialect::new(version), &self.target.bounds);
        connection.roots.clone_from(&self.target.roots);
        Ok(connection)
    }

    /// A channel to a second process of a server over stdio, in the same sandbox; none where none waits there.
    pub(super) async fn channel_to_second(&self, process: &Process, version: Version) -> Option<Connection> {
        let pipes = process.second().await.ok()?;
        let channel = Channel::Stdio(Stdio::second(pipes, self.target.bounds.line_bytes));
        let vigil = Vigil::none(self.world.remarks().to_vec());
        let mut connection = Connection::new(channel, vigil, Dialect::new(version), &self.target.bounds);
        connection.roots.clone_from(&self.target.roots);
        Some(connection)
    }

    async fn http(
        &self,
        endpoint: &Endpoint,
        version: Version,
        style: Style,
        way: Way,
        limit: Instant,
    ) -> Result<Http, ConnectError> {
        let mut http = Http::new(endpoint, style, &self.target.bounds, way)?;
        // Only the modern era names its version from the first request on.
        if version.era() == Era::Modern {
            http.agree(version);
        }
        if style == Style::LegacySse {
            self.await_endpoint(&mut http, limit).await?;
        }
        Ok(http)
    }

    /// The old transport opens with a stream whose first event says where to post.
    async fn await_endpoint(&self, http: &mut Http, limit: Instant) -> Result<(), ConnectError> {
        let stream = http.listen();
        let server = self.name();
        loop {
            let arrival = match tokio::time::timeout_at(limit, http.next()).await {
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

    pub(super) fn spec(&self, command: &Command) -> Spec {
        Spec {
            args: command.args.clone(),
            env: command.environment.resolve(self.ambient.clone()),
            // Without `..`, which may lead through a directory that the sandbox hides.
            cwd: command.cwd.as_ref().map(|cwd| cwd.canonicalize().unwrap_or_else(|_| cwd.clone())),
            ..Spec::new(command.program.clone())
        }
    }

    /// Starts a server that listens, and waits until it does.
    async fn start_listener(
        &self,
        command: &Command,
        endpoint: &Endpoint,
        limit: Instant,
    ) -> Result<(Process, Vigil), ConnectError> {
        let address = Address::parse(&endpoint.url).map_err(|error| ConnectError::Setup(error.into()))?;
        // In a network of its own every port is free.
        if !self.world.has_walls() || self.target.sandbox.net == Net::Host {
            self.await_free(&address).await?;
        }
        let (process, pipes, vigil) = self.world.start(&self.spec(command))?;
        drain(pipes);
        self.await_listening(&process, &address, limit).await?;
        Ok((process, vigil))
    }

    pub(super) async fn await_listening(
        &self,
        process: &Process,
        address: &Address,
        limit: Instant,
    ) -> Result<(), ConnectError> {
        let way = way_to(process);
        loop {
            if listens(address, &way, limit).await {
                return Ok(());
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
            if Instant::now() >= limit {
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
}

async fn listens(address: &Address, way: &Way, deadline: Instant) -> bool {
    let connecting = way.connect(&address.host, address.port);
    tokio::time::timeout_at(deadline, connecting).await.is_ok_and(|connected| connected.is_ok())
}

/// Reads what a listening server prints, so that it never blocks on a full pipe; its input stays open as long. This has a
/// thread of its own, because one runtime may start the server and another talk to it.
pub(super) fn drain(Pipes { stdin, stdout }: Pipes) {
    let (Ok(stdin), Ok(stdout)) = (stdin.into_nonblocking_fd(), stdout.into_blocking_fd()) else { return };
    thread::spawn(move || {
        let _until_it_ends = io::copy(&mut File::from(stdout), &mut io::sink());
        // Some servers end when their input does, so it is held until nothing holds the output either.
        drop(stdin);
    });
}
