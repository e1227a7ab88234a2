//! What happens to a server in the middle of its work, as far as it takes another server: restarts, second instances,
//! sessions of another life.

use std::time::{Duration, Instant};

use tokio::time::timeout;

use super::Runner;
use crate::plan::{Disturbance, Request};
use crate::run::aftermath::{Aftermath, Meanwhile};
use crate::run::call::{Call, answer, execute};
use crate::run::held_up::HeldUp;
use crate::run::life::Life;
use crate::run::patience::Patience;
use crate::run::recording::{Mark, Taken};
use crate::wire::{Conduct, ConnectError, Connection, Connector, Happening};
use crate::world::Carried;

/// What clients give a server to leave.
pub(super) const LEAVING: Duration = Duration::from_secs(5);
/// SIGTERM, by its number on every system.
const TERMINATE: i32 = 15;
/// Room for what a server and its interpreter write, and little enough to be filled.
const SMALL_DISK: u64 = 24 << 20;
/// Sessions that a stored case can open at most, and how long it can take over a request.
const MAX_SESSIONS: u32 = 64;
const MAX_PAUSE: Duration = Duration::from_secs(20);
/// A slow client has begun its request when the others ask.
const HEAD_START: Duration = Duration::from_millis(300);
const NO_SECOND: &str = "no second process could be started in its sandbox";
/// What a page of another origin says of itself.
const FOREIGN_HOST: &str = "pages.example";

impl Runner {
    pub(super) async fn disturb(
        &mut self,
        disturbance: &Disturbance,
        patience: &Patience,
    ) -> Result<Taken, ConnectError> {
        match disturbance {
            Disturbance::Restart { killed } => self.restart(*killed).await,
            Disturbance::Beside => self.start_second(patience).await,
            Disturbance::BesideAsks { request } => self.ask_second(request, patience).await,
            Disturbance::Stale { request } => self.ask_under_former_session(request, patience).await,
            Disturbance::Foreign { request } => self.ask_as_foreign_page(request, patience).await,
            Disturbance::Ended { request } => self.ask_under_ended_session(request, patience).await,
            Disturbance::Sessions { count } => self.open_sessions(*count).await,
            Disturbance::SlowBody { ms, request } => self.ask_slowly(request, *ms, patience).await,
            Disturbance::Reuse { request } => self.ask_after_refusal(request, patience).await,
            Disturbance::Elsewhere { plant, request } => self.ask_elsewhere(plant, request, patience).await,
            Disturbance::Nameless { plant, request } => {
                self.ask_without_session(plant, request, patience).await
            }
            other => Ok(self.life().await?.disturb(other, patience).await),
        }
    }

    /// Ends the server at hand, and starts it again with what it left on its disk.
    async fn restart(&mut self, killed: bool) -> Result<Taken, ConnectError> {
        let started = Instant::now();
        self.others.clear();
        self.life().await?;
        let mut life = self.life.take().expect("just there");
        end(&mut life, killed).await;
        let mut aftermath = Aftermath::default();
        self.former_session = life.connection.session().or(self.former_session.take());
        match left_by(&life.connection, std::mem::take(&mut self.carried)) {
            Ok(carried) => self.carried = carried,
            Err(why) => aftermath.impossible = Some(why),
        }
        drop(life);
        if aftermath.impossible.is_none() {
            let mut connector = self.with_disk();
            match Life::start(&mut connector, &self.headers).await {
                Ok(life) => {
                    self.mark = Mark::now(&life.connection);
                    self.life = Some(life);
                    self.lives += 1;
                }
                Err(error) => aftermath = failed(&error),
            }
        }
        let method = if killed { "kill and start again" } else { "end and start again" };
        Ok(told(method, started, aftermath))
    }

    /// A second process of the server, as a second client of the same user would start it: with the same files and ports.
    async fn start_second(&mut self, patience: &Patience) -> Result<Taken, ConnectError> {
        let started = Instant::now();
        self.life().await?;
        let aftermath = match self.open_other().await {
            Ok(second) if is_apart(&second) => impossible(NO_SECOND),
            Ok(mut second) => {
                let probe = second.probe(patience);
                let answered = execute(&mut second.connection, &probe).await;
                let refused = answered.is_fatal().then(|| "it starts, and answers nothing".to_owned());
                self.connector.dismiss(second.connection, LEAVING).await;
                Aftermath { refused, ..Aftermath::default() }
            }
            Err(error) => failed(&error),
        };
        Ok(told("second instance", started, aftermath))
    }

    /// A second process is asked for something, and ended in peace.
    async fn ask_second(&mut self, request: &Request, patience: &Patience) -> Result<Taken, ConnectError> {
        self.life().await?;
        let mut second = match self.open_other().await {
            Ok(second) if is_apart(&second) => {
                return Ok(told("second process", Instant::now(), impossible(NO_SECOND)));
            }
            Ok(second) => second,
            // That is found where nothing is asked of it.
            Err(error) => return Ok(told("second process", Instant::now(), impossible(&error.to_string()))),
        };
        let taken = execute(&mut second.connection, &call(request, patience)).await;
        self.connector.dismiss(second.connection, LEAVING).await;
        match taken.outcome {
            Some(_) => Ok(taken),
            None => Ok(told("second process", Instant::now(), impossible("it gives no answer"))),
        }
    }

    /// Whoever has not heard of a restart goes on with the session of before.
    async fn ask_under_former_session(
        &mut self,
        request: &Request,
        patience: &Patience,
    ) -> Result<Taken, ConnectError> {
        let former = self.former_session.clone();
        let life = self.life().await?;
        let Some(former) = former else {
            return Ok(told("stale session", Instant::now(), impossible("there are no sessions")));
        };
        let own = life.connection.replace_session(Some(former));
        let taken = execute(&mut life.connection, &call(request, patience)).await;
        life.connection.replace_session(own);
        Ok(taken)
    }

    /// A browser that shows a page of another origin, whose name leads here, makes all of its requests so.
    async fn ask_as_foreign_page(
        &mut self,
        request: &Request,
        patience: &Patience,
    ) -> Result<Taken, ConnectError> {
        self.life().await?;
        let mut connector = self.connector.clone();
        let first = self.life.as_ref().map(|life| &life.connection).filter(|first| first.process().is_some());
        let Some(first) = first.filter(|_| connector.come_from(FOREIGN_HOST)) else {
            return Ok(told("foreign page", Instant::now(), impossible("the server does not listen")));
        };
        match connector.open_beside(first).await {
            Ok((mut connection, _)) => Ok(execute(&mut connection, &call(request, patience)).await),
            Err(error) => Ok(told("foreign page", Instant::now(), failed(&error))),
        }
    }

    /// A further session, as another client opens it; or why there is none.
    pub(super) async fn open_session(&mut self) -> Result<Result<Connection, String>, ConnectError> {
        self.life().await?;
        let mut connector = self.connector.clone();
        let listens = connector.target().reach.endpoint().is_some();
        let first = self.life.as_ref().map(|life| &life.connection).filter(|first| first.process().is_some());
        let Some(first) = first.filter(|_| listens) else {
            return Ok(Err("the server does not listen".to_owned()));
        };
        // That a second client is turned away is found where clients are there at the same time.
        Ok(connector
            .open_beside(first)
            .await
            .map_or_else(|error| Err(error.to_string()), |(connection, _)| Ok(connection)))
    }

    /// A client ends its session, and goes on with it all the same.
    async fn ask_under_ended_session(
        &mut self,
        request: &Request,
        patience: &Patience,
    ) -> Result<Taken, ConnectError> {
        let method = "ended session";
        let started = Instant::now();
        let mut other = match self.open_session().await? {
            Ok(other) if other.session().is_some() => other,
            Ok(_) => return Ok(told(method, started, impossible("there are no sessions"))),
            Err(why) => return Ok(told(method, started, impossible(&why))),
        };
        let status = other.end_session((started + LEAVING).into()).await;
        if !status.is_some_and(|status| (200..300).contains(&status)) {
            return Ok(told(method, started, impossible("clients cannot end a session")));
        }
        Ok(execute(&mut other, &call(request, patience)).await)
    }

    /// Opens sessions one after another, and keeps them open until all are there.
    pub(super) async fn open_sessions(&mut self, count: u32) -> Result<Taken, ConnectError> {
        let started = Instant::now();
        let mut open = Vec::new();
        for _ in 0..count.min(MAX_SESSIONS) {
            match self.open_session().await? {
                Ok(another) => open.push(another),
                Err(why) => return Ok(told("sessions", started, impossible(&why))),
            }
        }
        let ids = open.iter().filter_map(Connection::session);
        let sessions = ids.map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned()).collect();
        Ok(told("sessions", started, Aftermath { sessions, ..Aftermath::default() }))
    }

    /// One client sends its request slowly; another one asks for something meanwhile.
    async fn ask_slowly(
        &mut self,
        request: &Request,
        ms: u64,
        patience: &Patience,
    ) -> Result<Taken, ConnectError> {
        let mut other = match self.open_session().await? {
            Ok(other) => other,
            Err(why) => return Ok(told("slow client", Instant::now(), impossible(&why))),
        };
        let pause = Duration::from_millis(ms).min(MAX_PAUSE);
        let call = call(request, patience);
        let life = self.life().await?;
        let probe = life.probe(patience);
        // What was sent before has been answered, so that this is the request that is sent so.
        life.connection.behave(Conduct::Slow(pause));
        let ticket = life.connection.request(&call.method, Some(&call.params));
        let started = Instant::now();
        // Who asks first is no proof of anything.
        let early = life.connection.wait_for(ticket, (started + HEAD_START).into()).await;
        if !matches!(early, Happening::Deadline) {
            return Ok(Taken::awaited(&call.method, early, started.elapsed()));
        }
        let slow_for = pause.saturating_sub(started.elapsed());
        let mut held = HeldUp::since_now(life.connection.process());
        let asked = execute(&mut other, &probe).await;
        held.look(life.connection.process());
        let meanwhile = Meanwhile {
            slow_for,
            took: asked.took,
            kept_waiting: held.time(),
            answered: asked.outcome.is_some(),
        };
        let aftermath = Aftermath { meanwhile: Some(meanwhile), ..Aftermath::default() };
        let (happening, kept_waiting) = answer(&mut life.connection, ticket, call.timeout + pause).await;
        let taken = Taken::awaited(&call.method, happening, started.elapsed());
        Ok(Taken { kept_waiting, aftermath: Some(Box::new(aftermath)), ..taken })
    }

    /// Starts a server in a world that is as the case needs it.
    pub(super) async fn start_for_case(&mut self) -> Result<(), ConnectError> {
        let mut connector = self.with_disk();
        let life = Life::start(&mut connector, &self.headers).await?;
        self.mark = Mark::now(&life.connection);
        self.life = Some(life);
        self.lives += 1;
        Ok(())
    }

    /// How servers are started that find what the one before them left.
    fn with_disk(&self) -> Connector {
        let mut connector = self.connector.clone();
        let world = connector.world_mut();
        world.plants.extend(self.carried.plants.clone());
        world.disk = self.small_disk.then_some(SMALL_DISK);
        world.second = self.second;
        connector
    }
}

/// Whether a further server has a world of its own, and shares nothing with the first.
fn is_apart(other: &Life) -> bool {
    other.connection.process().is_some()
}

pub(super) fn told(method: &str, started: Instant, aftermath: Aftermath) -> Taken {
    Taken { aftermath: Some(Box::new(aftermath)), ..Taken::unanswered(method, started.elapsed()) }
}

pub(super) fn impossible(why: &str) -> Aftermath {
    Aftermath { impossible: Some(why.to_owned()), ..Aftermath::default() }
}

/// What came of a start that failed: by the server's own doing, or by ours.
pub(super) fn failed(error: &ConnectError) -> Aftermath {
    if let ConnectError::NotInSandbox { failure, .. } = error {
        // It did start there, before all this.
        return failed(failure);
    }
    let by_server = matches!(
        error,
        ConnectError::Exited { .. }
            | ConnectError::Silent { .. }
            | ConnectError::Deaf { .. }
            | ConnectError::HttpStatus { .. }
    );
    match by_server {
        true => Aftermath { refused: Some(error.to_string()), ..Aftermath::default() },
        false => impossible(&error.to_string()),
    }
}

pub(super) fn call(request: &Request, patience: &Patience) -> Call {
    let timeout = patience.for_request(&request.method, &request.params);
    Call { method: request.method.clone(), params: request.params.clone(), timeout }
}

/// Ends a server as a client does, or by SIGKILL.
async fn end(life: &mut Life, killed: bool) {
    if !killed {
        let _how = life.leave().await;
    }
    let Some(process) = life.connection.process() else { return };
    if killed {
        process.kill();
        let _too_long = timeout(LEAVING, process.exited()).await;
        return;
    }
    if life.connection.transport() != "stdio" {
        let _ended_already = process.signal(TERMINATE);
    }
    let _how = process.end(LEAVING).await;
}

pub(super) fn left_by(connection: &Connection, carried: Carried) -> Result<Carried, String> {
    match connection.process() {
        Some(process) => carried.and_left_by(process),
        None => Err("the server is not ours to start".to_owned()),
    }
}
