//! The words in which the table says what a client must have seen.

/// One behaviour of the server, with what a client sees of it when it connects, lists the tools, and then
/// calls `echo` with `{"text": "hello"}` once.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    pub name: &'static str,
    pub about: &'static str,
    /// The transports over which the mode shows what `expected` says.
    pub stdio: bool,
    pub http: bool,
    pub legacy_sse: bool,
    pub expected: Expected,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    pub start: Start,
    /// None where the client never comes to ask.
    pub answer: Option<Answer>,
    /// What is recorded on the way, each at least once.
    pub faults: &'static [Fault],
    /// What has become of the server by the time the answer is known, before anyone ends it.
    pub ending: Ending,
    /// Whether the server's children outlive it.
    pub left_behind: bool,
    pub catalogue: Catalogue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
}

/// How connecting ends, for a client that probes the era as the specification says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    Connects { era: Era },
    Exits { code: i32 },
    DiesBySignal,
    Silent,
    HttpStatus(u16),
    Malformed,
}

/// What became of the one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Completed,
    ToolError,
    /// Refused by a JSON-RPC error or an HTTP status of the four hundreds.
    Rejected,
    /// A fault of the server's own: -32603 and the like, or an HTTP status of the five hundreds.
    Failed,
    /// Bytes came, but no valid answer to this request within the time limit.
    Malformed,
    Silent,
    Gone,
}

/// What is wrong with bytes that came, whether or not an answer was found among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    NotUtf8,
    NotJson,
    /// A reply printed over several lines.
    SplitOverLines,
    /// The last line has no newline.
    Unterminated,
    Oversized,
    TooDeep,
    NotAnObject,
    Batch,
    DuplicateKey,
    BigNumber,
    LoneSurrogate,
    /// `jsonrpc` is not "2.0".
    WrongVersion,
    ResultAndError,
    NeitherResultNorError,
    UnknownId,
    IdOfAnotherType,
    NoId,
    DuplicateReply,
    BadError,
    HttpStatus(u16),
    WrongContentType,
    /// An event stream that ended without the reply, or that is none.
    BrokenStream,
    Redirect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    StillRunning,
    Exited(i32),
    Signalled(i32),
    /// Still running, but it will never say anything again.
    StdoutClosed,
}

/// What is known after listing the tools to the last page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Catalogue {
    /// All that were listed, broken ones included.
    pub tools: usize,
    pub broken: usize,
    pub repeated_cursor: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Stdio,
    Http,
    LegacySse,
}

impl Mode {
    pub fn runs_over(&self, transport: Transport) -> bool {
        match transport {
            Transport::Stdio => self.stdio,
            Transport::Http => self.http,
            Transport::LegacySse => self.legacy_sse,
        }
    }

    /// The arguments with which [`server`](crate::server) plays this mode.
    pub fn arguments(&self, transport: Transport) -> Vec<&'static str> {
        match transport {
            Transport::Stdio => vec![self.name],
            Transport::Http => vec![self.name, "--http"],
            Transport::LegacySse => vec![self.name, "--legacy-sse"],
        }
    }

    /// What is expected, seen over this transport: HTTP+SSE is of the legacy era alone.
    pub fn expected_over(&self, transport: Transport) -> Expected {
        match (self.expected.start, transport) {
            (Start::Connects { .. }, Transport::LegacySse) => {
                Expected { start: Start::Connects { era: Era::Legacy }, ..self.expected }
            }
            _ => self.expected,
        }
    }
}
