//! What happens right before a server's program begins, and who sees what it does.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::jail::Opener;
use crate::sink::{self, Sink};
use crate::trace::{Address, Decision, Filter, Gate, Recorder, Socket, Transport};

/// What is done when the jail is there and the server has not begun: a network sink, for instance, gets its sockets
/// then, and may ask to be told before the server reaches out.
pub type Before = Box<dyn FnOnce(Option<&Opener>) -> io::Result<Option<Arc<dyn Gate>>> + Send>;

/// How a server is watched.
pub struct Watch {
    /// Which calls are seen; without it none is.
    pub filter: Option<Filter>,
    pub recorder: Arc<Recorder>,
    pub before: Before,
}

impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { filter, recorder, .. } = self;
        formatter
            .debug_struct("Watch")
            .field("filter", filter)
            .field("recorder", recorder)
            .finish_non_exhaustive()
    }
}

/// The sink listens wherever the target is about to reach out to.
impl Gate for Sink {
    fn before_connect(&self, address: &Address, socket: Option<Socket>) -> Decision {
        if let Address::Inet(address) = address {
            let transport = match socket.map(|socket| socket.transport) {
                Some(Transport::Datagram) => sink::Transport::Udp,
                _ => sink::Transport::Tcp,
            };
            // Where it cannot listen the target does so itself, or learns from the kernel that nobody is there.
            let _ = self.ensure(*address, transport);
        }
        Decision::Allow
    }
}
