//! Servers that wait for the next job, by the world that they live in.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tokio::runtime::Runtime;

use super::job::World;
use crate::run::Runner;
use crate::stop::Stop;

/// Somebody who asks servers, with what they are waited for with. A connection lives and dies with its runtime.
pub struct Crew {
    pub runner: Runner,
    pub runtime: Runtime,
    pub stop: Stop,
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

/// Starting a server can take as long as thousands of calls, so one that has done well goes on.
#[derive(Default)]
pub struct Idle {
    crews: Mutex<BTreeMap<World, Vec<Crew>>>,
}

impl Idle {
    pub fn take(&self, world: World) -> Option<Crew> {
        self.all().get_mut(&world)?.pop()
    }

    pub fn put(&self, world: World, crew: Crew) {
        self.all().entry(world).or_default().push(crew);
    }

    pub fn rest(&self) {
        let crews = std::mem::take(&mut *self.all());
        crews.into_values().flatten().for_each(Crew::rest);
    }

    /// Ends the servers of other worlds: one of this world is about to start, and two could be in each other's way.
    pub fn rest_others(&self, world: World) {
        let mut crews = std::mem::take(&mut *self.all());
        let kept = crews.remove(&world);
        crews.into_values().flatten().for_each(Crew::rest);
        self.all().extend(kept.map(|kept| (world, kept)));
    }

    fn all(&self) -> std::sync::MutexGuard<'_, BTreeMap<World, Vec<Crew>>> {
        // A worker that panicked ends the run anyway.
        self.crews.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
