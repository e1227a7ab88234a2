//! Finds out why a server does not start in its sandbox: starts it there once more, watched, and reads off what it lacks.
//! It is never started without the sandbox for that, because a hostile server would only have to refuse.

use std::path::PathBuf;
use std::time::Duration;

use tokio::time::Instant;
use wallfacer_process::{Rung, StartError};

use super::Connector;
use super::channel::drain;
use crate::target::{Confine, Era, Protocol, Reach, Version};
use crate::wire::connection::{Connection, Happening};
use crate::wire::error::ConnectError;
use crate::wire::http::{Address, Style};
use crate::wire::server::Server;
use crate::world::{Lack, Sought, Standing};

/// How long the start that is watched may take beyond the limit. What a server lacks it looks for at once.
const BEYOND_LIMIT: Duration = Duration::from_secs(3);
/// How long it may take where the limit leaves more: to be watched makes some launchers slow.
const WITHIN_LIMIT: Duration = Duration::from_secs(10);

/// What came of the start that was watched.
struct Looked {
    sought: Sought,
    standing: Option<Standing>,
    /// It works this time.
    answered: bool,
}

impl Connector {
    /// Whether a first start failed in a way that the sandbox may be the reason for.
    pub(super) fn may_be_the_sandbox(&self, error: &ConnectError) -> bool {
        let by_the_sandbox = match error {
            ConnectError::Start(error) => match error {
                StartError::Execute { .. }
                | StartError::Stuck { .. }
                | StartError::Confine { .. }
                | StartError::Watch { .. }
                | StartError::Setup { .. } => true,
                StartError::WorkingDirectory { .. } | StartError::NoInterpreter { .. } => {
                    hidden(error).is_some()
                }
                _ => false,
            },
            ConnectError::Exited { .. } | ConnectError::Silent { .. } | ConnectError::Deaf { .. } => true,
            _ => false,
        };
        by_the_sandbox && self.agreed.is_none() && self.world.has_walls()
    }

    /// Starts it once more, watched. What works then has met a bad moment, and is opened anew in what is left of its time;
    /// else the failure is told with what was seen.
    pub(super) async fn look_into(
        &self,
        error: ConnectError,
        limit: Instant,
    ) -> Result<(Connection, Server, Style), ConnectError> {
        let looked = match &error {
            ConnectError::Start(error) => Looked::at_nothing(hidden(error)),
            _ => self.look(limit).await,
        };
        if looked.answered
            && Instant::now() < limit
            && let Ok(opened) = self.open_within(limit).await
        {
            return Ok(opened);
        }
        if looked.standing.is_some_and(|standing| standing.rung == Rung::Unconfined) {
            return Err(error);
        }
        let sandbox = &self.target.sandbox;
        Err(ConnectError::NotInSandbox {
            failure: Box::new(error),
            sought: looked.sought,
            may_do_without: sandbox.confine == Confine::Auto && !sandbox.required.confine,
        })
    }

    async fn look(&self, limit: Instant) -> Looked {
        let mut watched = self.clone();
        watched.world.watch = true;
        watched.world.lookups = true;
        let now = Instant::now();
        let until = limit.min(now + WITHIN_LIMIT).max(now + BEYOND_LIMIT);
        let looked = match &self.target.reach {
            Reach::Command(_) => watched.look_over_stdio(until).await,
            Reach::Both { .. } => watched.look_at_listener(until).await,
            Reach::Url(_) => None,
        };
        looked.unwrap_or_else(|| Looked::at_nothing(None))
    }

    /// Puts the question that was not answered.
    async fn look_over_stdio(&self, until: Instant) -> Option<Looked> {
        let version = match self.target.protocol {
            Protocol::Fixed(version) => version,
            Protocol::Auto => Version::LATEST_LEGACY,
        };
        let mut connection = self.channel(version, Style::Streamable, until).await.ok()?;
        let asked = match version.era() {
            Era::Modern => connection.request("server/discover", None),
            Era::Legacy => {
                let introduction = connection.dialect().introduction();
                connection.request("initialize", Some(&introduction))
            }
        };
        let answered = matches!(connection.wait_for(asked, until).await, Happening::Answered(_));
        let traced = connection.settle_step();
        let spec = self.spec(self.target.reach.command()?);
        let standing = connection.standing().clone();
        Some(Looked {
            sought: self.world.sought(&spec, &standing, &traced),
            standing: Some(standing),
            answered,
        })
    }

    async fn look_at_listener(&self, until: Instant) -> Option<Looked> {
        let spec = self.spec(self.target.reach.command()?);
        let address = Address::parse(&self.target.reach.endpoint()?.url).ok()?;
        let (process, pipes, mut vigil) = self.world.start(&spec).ok()?;
        drain(pipes);
        let answered = self.await_listening(&process, &address, until).await.is_ok();
        let traced = vigil.settle(Some(&process));
        let standing = vigil.standing;
        Some(Looked {
            sought: self.world.sought(&spec, &standing, &traced),
            standing: Some(standing),
            answered,
        })
    }
}

impl Looked {
    /// Where nothing ran that could be looked at.
    fn at_nothing(hidden: Option<PathBuf>) -> Looked {
        let lacks = hidden.map(Lack::Hidden).into_iter().collect();
        Looked { sought: Sought { watched: false, lacks }, standing: None, answered: false }
    }
}

/// What a start needs that is there outside and not inside.
fn hidden(error: &StartError) -> Option<PathBuf> {
    let needed = match error {
        StartError::WorkingDirectory { directory, .. } => directory.clone(),
        StartError::NoInterpreter { interpreter, .. } => PathBuf::from(interpreter),
        StartError::Execute { path, .. } => path.clone(),
        _ => return None,
    };
    (needed.is_absolute() && needed.exists()).then_some(needed)
}
