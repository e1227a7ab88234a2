//! Servers that wait for the next job, by the world that they live in.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};
use std::time::Duration;

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
        let _or_its_keeper = self.runtime.block_on(self.stop.unless(self.runner.leave()));
    }
}

/// How often somebody who waits for a server looks around.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Starting a server can take as long as thousands of calls, so one that has done well goes on.
#[derive(Default)]
pub struct Idle {
    crews: Mutex<BTreeMap<World, Vec<Crew>>>,
    /// Jobs under way whose servers may come back.
    at_work: Mutex<BTreeMap<World, usize>>,
    came_back: Condvar,
}

/// A job whose server may come back.
pub struct AtWork<'a> {
    idle: &'a Idle,
    world: World,
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        if let Some(count) = self.idle.counts().get_mut(&self.world) {
            *count -= 1;
        }
        self.idle.came_back.notify_all();
    }
}

impl Idle {
    pub fn take(&self, world: World) -> Option<Crew> {
        self.all().get_mut(&world)?.pop()
    }

    pub fn put(&self, world: World, crew: Crew) {
        self.all().entry(world).or_default().push(crew);
        self.came_back.notify_all();
    }

    /// A server of this world may come back as long as this is kept.
    pub fn at_work(&self, world: World) -> AtWork<'_> {
        *self.counts().entry(world).or_default() += 1;
        AtWork { idle: self, world }
    }

    pub fn is_any_at_work(&self, world: World) -> bool {
        self.counts().get(&world).is_some_and(|count| *count > 0)
    }

    /// Waits a little for somebody of this world to come back.
    pub fn wait_for(&self, world: World) -> Option<Crew> {
        let crews = self.all();
        let waited = self.came_back.wait_timeout(crews, LOOK_EVERY);
        let (mut crews, _) = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
        crews.get_mut(&world)?.pop()
    }

    fn counts(&self) -> std::sync::MutexGuard<'_, BTreeMap<World, usize>> {
        self.at_work.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
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
