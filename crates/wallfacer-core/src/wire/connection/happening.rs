//! What can come of waiting on a connection.

use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderMap;
use wallfacer_process::{Ended as ProcessEnded, Ending};

use super::Ticket;
use crate::wire::fault::Faults;
use crate::wire::frame::FrameLog;
use crate::wire::http::HttpError;
use crate::wire::message::Incoming;
use crate::wire::strays::Strays;
use crate::world::Traced;

/// The head of an HTTP response.
#[derive(Debug, Clone)]
pub struct Head {
    pub exchange: u64,
    pub request: Option<i64>,
    pub status: u16,
    pub headers: HeaderMap,
}

/// What happened first.
#[derive(Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "it is handed on once per answer; a box would cost more than the move"
)]
pub enum Happening {
    Answered(Answered),
    /// Nothing more will come on this connection.
    Closed(Closed),
    Deadline,
}

/// One request is settled.
#[derive(Debug)]
pub struct Answered {
    pub ticket: Ticket,
    pub outcome: Outcome,
    pub took: Duration,
}

/// How a request was settled.
#[derive(Debug)]
pub enum Outcome {
    /// A reply with the right id; its faults say whether it is a good one.
    Reply(Incoming),
    /// An HTTP status of 400 and above without a reply of the right id.
    Refused { status: u16, said: Option<Incoming>, body: Bytes },
    /// Bytes that mean to answer but do not.
    Broken { faults: Faults, said: Option<Incoming>, detail: String },
    /// The connection broke off.
    Lost(HttpError),
}

/// The other side is gone.
#[derive(Debug, Clone)]
pub struct Closed {
    /// How the process ended; none where it lives on with its output closed, or is not ours.
    pub ending: Option<Ending>,
}

/// What is left after a connection was closed.
#[derive(Debug)]
pub struct Farewell {
    pub process: Option<ProcessEnded>,
    pub strays: Strays,
    pub frames: FrameLog,
    /// What the server did after the last step, up to its end; none where nobody watched.
    pub traced: Option<Traced>,
}
