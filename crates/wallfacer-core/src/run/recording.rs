//! What was seen of one case, before anyone says what it means.

use std::time::Duration;

use wallfacer_process::{Sample, Stderr};

use super::aftermath::Aftermath;
use super::history::History;
use crate::wire::{Closed, Connection, Correlation, Direction, Happening, Outcome, Strays};
use crate::world::Traced;
use wallfacer_process::sink::Flow;

/// Notifications that are kept of one step; a server that floods us says the same in the first few.
const MAX_NOTICES: usize = 16;

/// The steps of a case as they were taken, up to the one that ended it.
#[derive(Debug)]
pub struct Recording {
    pub steps: Vec<Taken>,
    /// The end of what the server wrote to stderr; kept only where it went away or fell silent.
    pub stderr: Option<Stderr>,
}

/// One step as it was taken.
#[derive(Debug)]
pub struct Taken {
    /// The method of a request, or the kind of step in words.
    pub method: String,
    /// Whether an answer was waited for.
    pub awaited: bool,
    /// How the request was settled; none when it never was.
    pub outcome: Option<Outcome>,
    /// Set when the server went away instead.
    pub closed: Option<Closed>,
    pub took: Duration,
    /// How long the machine kept the server from working meanwhile, as far as that is known.
    pub kept_waiting: Duration,
    /// What came meanwhile and answers nothing.
    pub strays: Strays,
    /// The beginnings of the notifications that came meanwhile.
    pub notices: Vec<Box<[u8]>>,
    /// What the process held, after so many requests of a step that makes many.
    pub stock: Vec<(u32, Sample)>,
    /// What the server did to its world meanwhile; none where nobody watched.
    pub traced: Option<Traced>,
    /// What several clients were answered, where the step was theirs.
    pub history: Option<Box<History>>,
    /// What it asked services for meanwhile, which the sandbox answered; none where that is not known.
    pub fetched: Option<Vec<Fetched>>,
    /// How the server ended once its input was closed, where it had fallen silent behind a frame of ours and does not
    /// always end so.
    pub parting: Option<Closed>,
    /// What came of a disturbance.
    pub aftermath: Option<Box<Aftermath>>,
}

/// A request to a service, which the sandbox answered in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// That of HTTP; `STATEMENT` for what a database was asked, `GREETING` where it came to no request.
    pub method: String,
    pub host: String,
    /// With its query.
    pub path: String,
}

/// How a database is asked.
pub const STATEMENT: &str = "STATEMENT";
/// A greeting that the server broke off, because it trusts nobody who vouches for the sandbox.
const GREETING: &str = "GREETING";

impl Fetched {
    /// Whether it was answered with a document whose shape can be learned.
    pub fn is_document(&self) -> bool {
        self.method != STATEMENT && !self.is_distrusted()
    }

    /// Whether the server did not trust who answered.
    pub fn is_distrusted(&self) -> bool {
        self.method == GREETING
    }

    /// All requests of the step's call.
    pub fn of(traced: &Traced) -> Vec<Fetched> {
        let answered = |flow: &&Flow| flow.call == traced.call && !flow.planted && !flow.forwarded;
        let fetched = |flow: &Flow| {
            let named = |host: Option<String>| host.unwrap_or_else(|| flow.address.ip().to_string());
            if let Some(statement) = &flow.statement {
                let host = named(flow.name.clone());
                return Some(Fetched { method: STATEMENT.to_owned(), host, path: statement.clone() });
            }
            if flow.tls.as_ref().is_some_and(|greeting| greeting.distrusts) {
                let host = named(flow.name.clone());
                return Some(Fetched { method: GREETING.to_owned(), host, path: String::new() });
            }
            let request = flow.http.as_ref().filter(|request| request.method != "CONNECT")?;
            let host = named(flow.name.clone().or_else(|| request.host.clone()));
            Some(Fetched { method: request.method.clone(), host, path: request.path.clone() })
        };
        traced.flows.iter().filter(answered).filter_map(fetched).collect()
    }
}

/// The frames of a connection up to the beginning of a step.
#[derive(Debug, Clone, Copy, Default)]
pub struct Mark(u64);

impl Mark {
    pub fn now(connection: &Connection) -> Mark {
        Mark(connection.frames().total())
    }

    /// The notifications that came since, the latest first.
    pub fn notices(self, connection: &Connection) -> Vec<Box<[u8]>> {
        let since = connection.frames().total().saturating_sub(self.0);
        let since = usize::try_from(since).unwrap_or(usize::MAX);
        let frames = connection.frames().iter().rev().take(since);
        let notices = frames.filter(|frame| {
            frame.direction == Direction::Received && frame.correlation == Correlation::Notification
        });
        notices.take(MAX_NOTICES).map(|frame| frame.head.as_slice().into()).collect()
    }
}

impl Taken {
    /// A step that nobody answers, and that nothing has come of yet.
    pub fn unanswered(method: &str, took: Duration) -> Taken {
        Taken {
            method: method.to_owned(),
            awaited: false,
            outcome: None,
            closed: None,
            took,
            kept_waiting: Duration::ZERO,
            strays: Strays::default(),
            notices: Vec::new(),
            stock: Vec::new(),
            traced: None,
            history: None,
            fetched: None,
            parting: None,
            aftermath: None,
        }
    }

    /// What came of waiting for an answer.
    pub fn awaited(method: &str, happening: Happening, took: Duration) -> Taken {
        let (outcome, closed) = match happening {
            Happening::Answered(answered) => (Some(answered.outcome), None),
            Happening::Closed(closed) => (None, Some(closed)),
            Happening::Deadline => (None, None),
        };
        Taken { awaited: true, outcome, closed, ..Taken::unanswered(method, took) }
    }

    /// With what came besides since the mark.
    pub fn with_company(mut self, connection: &mut Connection, mark: Mark) -> Taken {
        self.notices = mark.notices(connection);
        self.strays = connection.take_strays();
        self
    }

    /// Whether an answer was waited for in vain, while the server was there.
    pub fn is_silent(&self) -> bool {
        self.awaited && self.outcome.is_none() && self.closed.is_none()
    }

    /// Whether there is no server to go on with, though none went away by itself.
    pub fn is_the_end(&self) -> bool {
        let aftermath = self.aftermath.as_ref();
        aftermath.is_some_and(|aftermath| aftermath.refused.is_some() || aftermath.impossible.is_some())
    }

    /// Whether the server went away, or left us without an answer.
    pub fn is_fatal(&self) -> bool {
        self.closed.is_some()
            || self.awaited && self.outcome.is_none()
            || matches!(self.outcome, Some(Outcome::Lost(_)))
    }
}
