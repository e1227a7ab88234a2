//! A server at work in, the same server for the next part out, as long as nothing is held against it.

use std::sync::Mutex;

use tokio::runtime::Runtime;

use crate::run::Runner;
use crate::stop::Stop;

/// A runner, with what its server is waited for with.
pub struct Crew {
    pub runner: Runner,
    pub runtime: Runtime,
    stop: Stop,
}

impl Crew {
    pub fn new(runner: Runner, stop: &Stop) -> Crew {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Crew { runner, runtime: runtime.expect("a thread that just started can wait"), stop: stop.clone() }
    }

    /// Ends the server; where there is no time left to ask it, its keeper does.
    pub fn rest(mut self) {
        let _or_its_keeper = self.runtime.block_on(self.stop.unless(self.runner.rest()));
    }
}

/// Crews between two parts. Starting a server can take as long as thousands of calls, so in a long plan a server that has
/// done well goes on.
#[derive(Default)]
pub struct Idle {
    crews: Mutex<Vec<Crew>>,
}

impl Idle {
    pub fn take(&self) -> Option<Crew> {
        self.all().pop()
    }

    pub fn put(&self, crew: Crew) {
        self.all().push(crew);
    }

    /// Ends all servers: others are about to be started, and two could be in each other's way.
    pub fn rest(&self) {
        let crews = std::mem::take(&mut *self.all());
        crews.into_iter().for_each(Crew::rest);
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Crew>> {
        // A worker that panicked ends the run anyway.
        self.crews.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
