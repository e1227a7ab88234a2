//! Asks before the target connects whether it may, so that a listener can be opened for it in time.

use super::event::{Address, Socket};

/// Asked before each connect, and before each send that names an address of its own, while the task waits: so that a
/// listener can be opened for it in time, or the call be refused.
///
/// The address is a claim: another thread of the target may change it before the kernel reads it. Whoever must be sure
/// decides by the socket alone.
pub trait Gate: Send + Sync {
    fn before_connect(&self, address: &Address, socket: Option<Socket>) -> Decision;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Allow,
    /// The call is not made; the target sees this `errno`.
    Deny(i32),
}
