//! What a hostile target may take of us. All bounds of the sink in one place, since together they are its memory:
//! about [`KEPT_IN_ALL`] plus some kilobytes for each open connection.

use std::time::Duration;

/// First bytes kept of each direction of a flow: a request with its body, and enough of a file to tell what it is.
pub(super) const KEPT_PER_DIRECTION: usize = 64 * 1024;

/// Bytes kept over all flows that have not been taken yet. A flood beyond this is counted, not kept.
pub(super) const KEPT_IN_ALL: usize = 16 * 1024 * 1024;

/// Flows that have not been taken yet; an honest server makes a handful for each call.
pub(super) const MAX_FLOWS: usize = 4096;

/// Sockets that wait for connections or datagrams. The one unused for longest makes room, so a target that walks
/// through all ports is still heard on each of them. Well below the 1,024 files that a process commonly may open.
pub(super) const MAX_DOORS: usize = 128;

/// Connections served at once; a browser opens six to one host.
pub(super) const MAX_CONNECTIONS: usize = 128;

/// Connections or datagrams that a door takes after it was told to close: as many as can have waited in front of it.
pub(super) const MAX_LATE: usize = 256;

/// Names that have got an address of their own.
pub(super) const MAX_NAMES: usize = 4096;

/// Peers that one UDP socket is told apart by.
pub(super) const MAX_PEERS: usize = 64;

/// Certificates kept for names that come back; more are signed anew each time.
pub(super) const MAX_LEAVES: usize = 1024;

/// The head of one HTTP request. Servers commonly refuse more than 8 to 16 KiB.
pub(super) const MAX_HEAD: usize = 64 * 1024;
/// Headers in it; those of a browser with many cookies are some thirty.
pub(super) const MAX_HEADERS: usize = 256;

/// First bytes of a request's body that decide its answer.
pub(super) const MAX_BODY: usize = 64 * 1024;

/// How much of a flood is sent: more than a server that keeps what it fetches should take.
pub(super) const FLOOD: usize = 100 * 1024 * 1024;

/// Characters of a statement that are shown.
pub(super) const MAX_STATEMENT: usize = 200;

/// Pieces in which that head may come: it is looked through anew with each.
pub(super) const MAX_PIECES: usize = 256;

/// The line of a chunk's length, or of a trailer, in a request's body.
pub(super) const MAX_CHUNK_LINE: usize = 8 * 1024;

/// Requests answered on one connection.
pub(super) const MAX_EXCHANGES: usize = 1000;

/// TLS within a tunnel within TLS is as deep as honest clients go.
pub(super) const MAX_LAYERS: usize = 4;

/// Bytes read from one connection before it is closed: nothing is learned from the rest.
pub(super) const MAX_READ: u64 = 256 * 1024 * 1024;

/// A client that sends nothing waits for us to speak first, which we do not: it should learn that before a caller
/// takes the call for hung.
pub(super) const IDLE: Duration = Duration::from_secs(3);

/// A client that has been answered may keep the connection for its next request.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// The longest that any connection lasts, however lively it is.
pub(super) const LIFETIME: Duration = Duration::from_secs(120);

/// How long the outside has to accept a forwarded connection.
pub(super) const REACH: Duration = Duration::from_secs(10);

/// When we have run out of files, accepting again at once would only burn the processor.
pub(super) const BREATHER: Duration = Duration::from_millis(50);

/// Each turn of the sink's thread takes what the kernel holds ready: a new connection in the first, its bytes in the
/// second, and what these set off in the others.
pub(super) const SETTLE_TURNS: usize = 4;
