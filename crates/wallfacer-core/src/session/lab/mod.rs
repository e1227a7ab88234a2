//! Starts servers in the worlds that tests need, keeps those that are healthy, and performs jobs on them.

mod attempt;
mod equipment;
mod idle;
mod job;
mod list;
mod novelty;
mod one_by_one;
mod pair;
mod sequence;
mod teaching;
mod together;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::Semaphore;

pub use attempt::attempt;
pub use equipment::{Needs, equip, learn_noise, observer, planted, said, watching};
pub use idle::Crew;
pub use job::{Done, Job, Pace, Started, Together, Work, World};
pub use list::{list, open};
pub use one_by_one::Tried;
pub use pair::{Both, Pair};
pub use teaching::{refusal, teach};
pub use together::{Aside, Asked, Judged, Part, shard_size};

use self::idle::Idle;
use crate::catalogue::Catalogue;
use crate::plan::{Case, Intent, Step, Subject};
use crate::run::{Patience, Runner};
use crate::stop::{Stop, Stopped};
use crate::wire::{ConnectError, Connector};

/// How long a server that was only looked at may take to leave.
pub const GRACE: Duration = Duration::from_secs(2);
/// A server that takes longer to start goes on to the next job where it can: a start would cost more than many calls.
const DEAR_START: Duration = Duration::from_millis(250);

/// Where jobs are performed. Any number of threads may do so at once.
pub struct Lab {
    catalogue: Arc<Catalogue>,
    worlds: BTreeMap<World, Connector>,
    patience: Patience,
    /// At most as many servers start at once as there are processors.
    starts: Arc<Semaphore>,
    idle: Idle,
    lives: AtomicU64,
    keeps_servers: bool,
    parallel: bool,
    stop: Stop,
}

/// Why a job has no result.
#[derive(Debug)]
pub enum Failed {
    Connect(ConnectError),
    /// It was told to end.
    Stopped,
}

impl From<ConnectError> for Failed {
    fn from(error: ConnectError) -> Failed {
        Failed::Connect(error)
    }
}

impl From<Stopped> for Failed {
    fn from(_: Stopped) -> Failed {
        Failed::Stopped
    }
}

impl Lab {
    /// For a server that was looked at. `startup` is what that took.
    pub fn new(connector: &Connector, catalogue: Arc<Catalogue>, startup: Duration, stop: &Stop) -> Lab {
        let parallel = connector.standing().is_some_and(|standing| standing.is_confined());
        let mut watched = connector.clone();
        watched.world_mut().watch = true;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Lab {
            catalogue,
            worlds: BTreeMap::from([(World::Plain, connector.clone()), (World::Watched, watched)]),
            patience: Patience::new(connector.target().timeouts.clone()),
            starts: Arc::new(Semaphore::new(cores.max(2))),
            idle: Idle::default(),
            lives: AtomicU64::new(0),
            keeps_servers: startup >= DEAR_START,
            parallel,
            stop: stop.clone(),
        }
    }

    /// A server that is there already.
    pub fn adopt(&self, world: World, crew: Crew) {
        self.add_lives(crew.runner.lives);
        self.idle.put(world, crew);
    }

    /// Servers of this world are started so.
    pub fn with(mut self, world: World, connector: Connector) -> Lab {
        self.worlds.insert(world, connector);
        self
    }

    pub fn connector(&self, world: World) -> &Connector {
        self.worlds.get(&world).unwrap_or(&self.worlds[&World::Plain])
    }

    pub fn stop(&self) -> &Stop {
        &self.stop
    }

    /// Whether servers do not meet: each has its own disk and its own network.
    pub fn is_parallel(&self) -> bool {
        self.parallel
    }

    /// Servers that were started so far.
    pub fn lives(&self) -> u64 {
        self.lives.load(Ordering::Relaxed)
    }

    /// Servers that somebody else started for this run.
    pub fn add_lives(&self, lives: u64) {
        self.lives.fetch_add(lives, Ordering::Relaxed);
    }

    /// Somebody to start and ask servers of a world.
    pub fn runner(&self, world: World) -> Runner {
        let connector = self.connector(world).clone();
        Runner::new(connector, &self.catalogue, self.patience.clone()).taking_turns(self.starts.clone())
    }

    /// Performs a job. What repeats calls ends then; `lingers` is told once the job only waits.
    pub fn perform(&self, job: Job, until: Option<Instant>, lingers: &dyn Fn()) -> Result<Done, Failed> {
        if !self.parallel {
            self.idle.rest_others(job.world);
        }
        let fresh = matches!(job.work, Work::Start | Work::List | Work::Alone { .. });
        let kept = if fresh { None } else { self.idle.take(job.world) };
        let mut crew = kept.unwrap_or_else(|| Crew::new(self.runner(job.world), &self.stop));
        let before = crew.runner.lives;
        let done = self.work(&mut crew, job.clone(), until, lingers);
        self.add_lives(crew.runner.lives - before);
        match &done {
            Ok(done) if self.is_kept(&job.work, done) => self.idle.put(job.world, crew),
            _ => crew.rest(),
        }
        done
    }

    fn work(
        &self,
        crew: &mut Crew,
        job: Job,
        until: Option<Instant>,
        lingers: &dyn Fn(),
    ) -> Result<Done, Failed> {
        let Crew { runner, runtime, .. } = crew;
        runner.repeat_until(until);
        let context = &*job.context;
        let stop = &self.stop;
        Ok(match job.work {
            Work::Start => {
                let case = start_case(0);
                let recording =
                    runtime.block_on(stop.unless(runner.perform(&case, &self.patience.clone())))??;
                let server = runtime.block_on(stop.unless(runner.life()))??.server.clone();
                Done::Started(Box::new(Started { server, recording }))
            }
            Work::List => {
                let mut connector = self.connector(job.world).clone();
                let (_, listed) = runtime.block_on(stop.unless(list(&mut connector)))??;
                self.add_lives(1);
                Done::Listed(Box::new(listed))
            }
            Work::Together(together) => {
                Done::Together(together::perform(together, crew, context, until, lingers)?)
            }
            Work::OneByOne { cases, patient } => {
                Done::OneByOne(one_by_one::perform(cases, patient, crew, context, until)?)
            }
            Work::Alone { case, brief } => {
                Done::OneByOne(one_by_one::perform(vec![*case], !brief, crew, context, until)?)
            }
            Work::Part => Done::Parted(runtime.block_on(stop.unless(runner.part()))?.map(Box::new)),
        })
    }

    /// Whether the server of a job goes on to the next.
    fn is_kept(&self, work: &Work, done: &Done) -> bool {
        match (work, done) {
            (Work::Together(together), Done::Together(part)) => {
                (together.goes_on || self.keeps_servers) && part.is_clean()
            }
            // What the next calls do is held against what this one did by itself.
            (Work::Start | Work::OneByOne { .. }, _) => true,
            _ => false,
        }
    }

    /// Ends all servers that wait for work.
    pub fn rest(&self) {
        self.idle.rest();
    }
}

/// What a server does before it is asked anything, and when it is asked for nothing.
pub fn start_case(seed: u64) -> Case {
    of_server(vec![Step::Restart, Step::Probe], seed)
}

/// A script that is about the server as a whole.
pub fn of_server(steps: Vec<Step>, seed: u64) -> Case {
    Case { subject: Subject::Server, steps, ..Case::tool("", json!({}), Intent::Example, seed) }
}
