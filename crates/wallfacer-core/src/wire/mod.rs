//! Speaks MCP with a [`Target`](crate::target::Target) over a [`Connection`]: bytes, framing, JSON-RPC and both eras of
//! the protocol, over stdio, Streamable HTTP and the old HTTP+SSE.
//!
//! The layer is our own because a well-meaning client hides what we are here to see: it drops what it cannot parse,
//! reads `"1"` as `1`, repeats requests by itself, and calls a garbled answer a timeout.

mod alarm;
mod answers;
mod connection;
mod connector;
mod dialect;
mod error;
mod fault;
mod frame;
mod http;
mod id;
mod json;
mod message;
mod sample;
mod server;
mod stdio;
mod strays;

pub use answers::{Reaction, react};
pub use connection::{Answered, Closed, Connection, Farewell, Happening, Head, Manners, Outcome, Ticket};
pub use connector::Connector;
pub use dialect::Dialect;
pub use error::ConnectError;
pub use fault::{Fault, Faults};
pub use frame::{Correlation, Direction, Frame, FrameLog, Stream};
pub use http::{Conduct, HeaderParams, HttpError, SetupError};
pub use id::Id;
pub use message::{Body, Content, ErrorObject, Incoming};
pub use sample::{indented, last_lines, sample};
pub use server::{Remark, Server};
pub use strays::{Stray, Strays};
pub use wallfacer_text::shortened;
