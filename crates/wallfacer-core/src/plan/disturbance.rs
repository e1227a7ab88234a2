//! What happens to a server in the middle of its work: it is killed and started again, a second one is started beside it, a
//! call is taken back, nobody reads its answers, clients are slow or go away, the services and the disk that it needs fail.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::payload;

/// A request, to be sent in some unusual way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Request {
    pub method: String,
    #[serde(with = "payload::compacted")]
    pub params: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disturbance {
    /// End the server, by SIGKILL or as a client does, and start it again with its disk as it left that.
    Restart { killed: bool },
    /// Send a request, and go on after so many microseconds whether it is answered or not.
    Begin { micros: u64, request: Request },
    /// Send a request, take it back after so many milliseconds, and see what goes on then.
    Cancel { after_ms: u64, request: Request },
    /// Send a request so many times, and read nothing for so many milliseconds.
    Unread { times: u32, ms: u64, request: Request },
    /// Start a second process of the server beside the first, with the same files and ports. It is asked for nothing, and
    /// ended.
    Beside,
    /// The same, and it is asked for something first.
    BesideAsks { request: Request },
    /// End what was started by SIGKILL, and close the input: what it had started itself must go too.
    KillLauncher,
    /// From here on all services that the server asks fail in this way.
    Services(Trouble),
    /// Begin a request over HTTP, and hang up in the middle of it.
    HangUp { after_ms: u64, request: Request },
    /// Send a request under the session of the server before, which a restart has ended.
    Stale { request: Request },
    /// Send a request as a page of another origin would make a browser send it.
    Foreign { request: Request },
    /// Send a request under a session that its own client has ended.
    Ended { request: Request },
    /// Open so many further sessions, and look at their ids.
    Sessions { count: u32 },
    /// Send the half of a request over HTTP, and the rest after so many milliseconds. Meanwhile another client asks for
    /// something.
    SlowBody { ms: u64, request: Request },
    /// Send a request on a connection on which one under an unknown session was refused just before.
    Reuse { request: Request },
    /// A second process of the server is there, as behind a load balancer, and stores something in a session of its own. The
    /// session of the first process is used with the second.
    Elsewhere { plant: Request, request: Request },
    /// Store something in a session, and send a request of another client that names no session at all.
    Nameless { plant: Request, request: Request },
    /// Send a request over HTTP, lose the connection as soon as it can be resumed, and resume it.
    Drop { request: Request },
    /// Send a request that may tell how far it is, and see what it tells, also after its answer.
    Progress { request: Request },
    /// From here on the disk is so.
    Disk(Disk),
}

/// How a service fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trouble {
    Refuses,
    Resets,
    Silent,
    TooManyRequests,
    Error,
    Garbage,
    HalfAnAnswer,
    RedirectsForEver,
    Flood,
}

/// What is wrong with the disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Disk {
    /// Nothing more can be written.
    Full,
    /// What holds this text, and the directory that it lies in, cannot be written to.
    ReadOnly { holding: String },
    /// What holds this text is gone.
    Vanished { holding: String },
    /// There is room again, and everything can be written to.
    Well,
}

impl Trouble {
    pub const ALL: [Trouble; 9] = [
        Trouble::Refuses,
        Trouble::Resets,
        Trouble::Silent,
        Trouble::TooManyRequests,
        Trouble::Error,
        Trouble::Garbage,
        Trouble::HalfAnAnswer,
        Trouble::RedirectsForEver,
        Trouble::Flood,
    ];

    /// What the service does, in words that follow "a service that".
    pub fn in_words(self) -> &'static str {
        match self {
            Trouble::Refuses => "refuses connections",
            Trouble::Resets => "closes the connection without an answer",
            Trouble::Silent => "does not answer",
            Trouble::TooManyRequests => "answers 429 Too Many Requests",
            Trouble::Error => "answers 500 Internal Server Error",
            Trouble::Garbage => "answers with bytes that mean nothing",
            Trouble::HalfAnAnswer => "hangs up in the middle of its answer",
            Trouble::RedirectsForEver => "redirects for ever",
            Trouble::Flood => "answers with 100 MB",
        }
    }
}

impl Disturbance {
    /// Whether the server is of no use to others afterwards.
    pub fn spoils(&self) -> bool {
        !matches!(self, Disturbance::Services(_) | Disturbance::Progress { .. })
    }

    /// The request that it sends, if it sends one.
    pub fn request(&self) -> Option<&Request> {
        match self {
            Disturbance::Begin { request, .. }
            | Disturbance::Cancel { request, .. }
            | Disturbance::Unread { request, .. }
            | Disturbance::HangUp { request, .. }
            | Disturbance::Stale { request }
            | Disturbance::Foreign { request }
            | Disturbance::Ended { request }
            | Disturbance::SlowBody { request, .. }
            | Disturbance::Reuse { request }
            | Disturbance::Elsewhere { request, .. }
            | Disturbance::Nameless { request, .. }
            | Disturbance::Drop { request }
            | Disturbance::BesideAsks { request }
            | Disturbance::Progress { request } => Some(request),
            Disturbance::Restart { .. }
            | Disturbance::Beside
            | Disturbance::KillLauncher
            | Disturbance::Sessions { .. }
            | Disturbance::Services(_)
            | Disturbance::Disk(_) => None,
        }
    }
}

impl Request {
    /// A call of a tool.
    pub fn tool(name: &str, arguments: Value) -> Request {
        let params =
            Map::from_iter([("name".to_owned(), Value::from(name)), ("arguments".to_owned(), arguments)]);
        Request { method: "tools/call".to_owned(), params }
    }
}
