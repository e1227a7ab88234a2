//! What the target sent out, and what it was answered: plain data for whoever judges it.

use std::net::SocketAddr;
use std::time::Instant;

/// One exchange with the outside: a question to DNS, a request over HTTP, or what went over a connection or to a
/// peer. What a long connection carries during another call is a flow of its own, so that each belongs to one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// Rises from flow to flow.
    pub id: u64,
    /// Flows of one connection have this in common.
    pub connection: u64,
    pub at: Instant,
    /// The call in flight when it began; `None` when there was none.
    pub call: Option<u64>,
    pub kind: Kind,
    /// The name that the address was given out for, else what TLS or HTTP named.
    pub name: Option<String>,
    /// The address that the target asked for.
    pub address: SocketAddr,
    /// Set from a TLS greeting on; `sent` and `answered` are then what was inside. Where no TLS came of it, `sent` is
    /// the greeting itself; what is forwarded stays as encrypted as it is.
    pub tls: Option<Hello>,
    pub http: Option<Request>,
    /// What a database was asked, where one was.
    pub statement: Option<String>,
    pub sent: Bytes,
    pub answered: Bytes,
    /// It reached a listener that was planted.
    pub planted: bool,
    /// It went to the real network.
    pub forwarded: bool,
    /// It has not ended: whoever waits for it waits for the network.
    pub open: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// `record` is the type asked for, such as `A`.
    Dns {
        question: String,
        record: String,
    },
    Tcp,
    Udp,
}

/// The first bytes of one direction, and how many there were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes {
    pub first: Vec<u8>,
    pub total: u64,
}

/// What a client says before anything is encrypted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hello {
    pub sni: Option<String>,
    pub alpn: Vec<String>,
    /// It ended the greeting because it trusts nobody who vouches for us.
    pub distrusts: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub host: Option<String>,
    /// As sent: a path with its query, or a whole URL where a proxy is spoken to.
    pub path: String,
}

/// What has been seen since it was last taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen {
    pub flows: Vec<Flow>,
    pub lost: Lost,
}

/// What went beyond the bounds of the sink. Not zero means: not all was observed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lost {
    /// Flows not recorded, connections turned away among them.
    pub flows: u64,
    /// Bytes within the first ones of a flow that were not kept for want of room.
    pub bytes: u64,
    /// Names whose address does not lead back to them.
    pub names: u64,
}

impl Lost {
    pub fn nothing(&self) -> bool {
        *self == Self::default()
    }
}
