//! Where the messages for one client are written to.

use serde_json::Value;

/// Where everything goes that belongs to one request: standard output, or the answer to one POST.
pub trait Outlet: Send + Sync {
    /// One whole message, as a line of standard output or an event of a stream. The bytes need not be JSON.
    fn line(&self, bytes: &[u8]);

    /// One whole message, written and flushed byte by byte.
    fn dribble(&self, bytes: &[u8]);

    fn send(&self, message: &Value) {
        self.line(message.to_string().as_bytes());
    }

    /// Whether further requests are read by the thread that is writing here, so that a slow one must not hold it.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether the client can still be reached.
    fn is_open(&self) -> bool {
        true
    }

    /// Leaves the request without an answer: where an HTTP response is due, until the client goes away.
    fn hold(&self) {}

    /// Ends the stream before the reply; the client fetches the rest. Nothing where there is no stream.
    fn suspend(&self) {}
}
