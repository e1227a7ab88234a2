//! Runs HTTP exchanges on a thread of their own, so that one reply is read while another is judged, and a connection can be
//! used by another thread than the one that opened it.

use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinSet};

/// When this is dropped, its thread ends, and with it whatever runs there.
#[derive(Debug)]
pub struct Courier {
    tasks: JoinSet<()>,
    runtime: Handle,
    _end: oneshot::Sender<()>,
}

impl Courier {
    pub fn new() -> Courier {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("the machine has room for a thread that waits");
        let handle = runtime.handle().clone();
        let (end, ended) = oneshot::channel();
        thread::spawn(move || {
            let _the_other_side_is_gone = runtime.block_on(ended);
        });
        Courier { tasks: JoinSet::new(), runtime: handle, _end: end }
    }

    pub fn begin(&mut self, exchange: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        while self.tasks.try_join_next().is_some() {}
        self.tasks.spawn_on(exchange, &self.runtime)
    }
}
