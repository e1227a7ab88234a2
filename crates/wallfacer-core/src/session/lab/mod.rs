//! Starts servers in the worlds that tests need, keeps those that are healthy, and performs jobs on them.

mod attempt;
mod equipment;
mod health;
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
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::json;

pub use attempt::attempt;
pub use equipment::{Needs, equip, learn_noise, observer, planted, said, watching};
pub use health::Spoiled;
pub use idle::Crew;
pub use job::{Done, Job, Pace, Started, Together, Work, World};
pub use list::{list, open};
pub use one_by_one::Tried;
pub use pair::{Both, Pair};
pub use teaching::{confining, fails_in_words, named, named_by, refusal, teach};
pub use together::{Aside, Asked, Entangled, Judged, Part, shard_size, silent_together};

use self::idle::Idle;
use crate::catalogue::Catalogue;
use crate::plan::{Case, Intent, Step, Subject};
use crate::run::{Gate, Ledger, Patience, Reserve, Runner, Turn, Urgency};
use crate::stop::{Stop, Stopped};
use crate::target::Reach;
use crate::wire::{ConnectError, Connector};

/// How long a server that was only looked at may take to leave.
pub const GRACE: Duration = Duration::from_secs(2);
/// A server that takes longer to start goes on to the next job where it can: a start would cost more than many calls.
pub const DEAR_START: Duration = Duration::from_millis(250);

/// Where jobs are performed. Any number of threads may do so at once.
pub struct Lab {
    catalogue: Arc<Catalogue>,
    worlds: BTreeMap<World, Connector>,
    patience: Patience,
    /// At most as many servers start at once as there are processors.
    gate: Arc<Gate>,
    /// Servers that are started ahead, where a start is dear.
    reserves: Mutex<BTreeMap<World, Arc<Reserve>>>,
    idle: Idle,
    ledger: Arc<Ledger>,
    /// What a start takes.
    startup: Duration,
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
            patience: Patience::new(connector.target().timeouts.clone()).with_start_of(startup),
            gate: Gate::new(cores.max(2)),
            reserves: Mutex::default(),
            idle: Idle::default(),
            ledger: Arc::default(),
            startup,
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

    pub fn has(&self, world: World) -> bool {
        self.worlds.contains_key(&world)
    }

    /// Has a server of a world started before it is asked for, where a start is dear.
    pub fn get_ready(&self, world: World) {
        if let Some(reserve) = self.reserve(world, &self.runner(world)) {
            reserve.start_soon();
        }
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
        self.ledger.lives()
    }

    /// Whether it is a server that is there already, and that several sessions are opened with.
    pub fn is_remote(&self) -> bool {
        matches!(self.connector(World::Plain).target().reach, Reach::Url(_))
    }

    /// What was done so far.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Tools that the server lists.
    pub fn tools(&self) -> usize {
        self.catalogue.tools.entries.len()
    }

    /// Whether a start takes so long that it is worth avoiding.
    pub fn starts_are_dear(&self) -> bool {
        self.keeps_servers
    }

    /// Servers that somebody else started for this run.
    pub fn add_lives(&self, lives: u64) {
        self.ledger.add_lives(lives);
    }

    /// Somebody to start and ask servers of a world.
    pub fn runner(&self, world: World) -> Runner {
        let connector = self.connector(world).clone();
        let runner = Runner::new(connector, &self.catalogue, self.patience.clone());
        let runner = runner.taking_turns(self.gate.clone()).counting(self.ledger.clone());
        let runner = if self.parallel { runner.in_worlds_apart() } else { runner };
        match self.reserve(world, &runner) {
            Some(reserve) => runner.supplied_by(reserve),
            None => runner,
        }
    }

    /// Where servers of a world are started ahead: none where a start is cheap, or where two servers could meet.
    fn reserve(&self, world: World, runner: &Runner) -> Option<Arc<Reserve>> {
        let connector = self.connector(world);
        if !(self.keeps_servers && self.parallel) || self.is_remote() {
            return None;
        }
        let mut reserves = self.reserves.lock().unwrap_or_else(PoisonError::into_inner);
        let reserve = reserves.entry(world).or_insert_with(|| {
            let (headers, gate, ledger) = (runner.headers().clone(), self.gate.clone(), self.ledger.clone());
            let name = format!("{world:?}");
            Arc::new(Reserve::new(name, connector.clone(), headers, gate, ledger, self.stop.clone()))
        });
        Some(reserve.clone())
    }

    /// Somebody who performs a job: where a server of its world is at work, and a start is dear, the first that comes back
    /// from it or is started.
    fn crew(&self, world: World, until: Option<Instant>) -> Crew {
        if let Some(crew) = self.idle.take(world) {
            return crew;
        }
        let runner = self.runner(world);
        let Some(reserve) = self.reserve(world, &runner) else { return Crew::new(runner, &self.stop) };
        let is_over = || self.stop.is_told() || is_past(until);
        let begun = Instant::now();
        while self.idle.is_any_at_work(world) && !reserve.is_ready() && !is_over() {
            // Who has waited as long as a start takes has one started: that costs at most twice what was best.
            if begun.elapsed() >= self.startup {
                reserve.start_soon();
            }
            if let Some(crew) = self.idle.wait_for(world) {
                return crew;
            }
        }
        Crew::new(runner, &self.stop)
    }

    /// Performs a job. What repeats calls ends then; `lingers` is told once the job only waits.
    pub fn perform(&self, job: Job, until: Option<Instant>, lingers: &dyn Fn()) -> Result<Done, Failed> {
        let fresh = match job.work {
            Work::Start | Work::List => true,
            // A call that was not answered at once may just have met a busy machine, which is not worth a dear start.
            Work::Alone { brief, .. } => !(brief && self.keeps_servers),
            _ => false,
        };
        // Two servers at a time could disturb each other, on one disk or at one port. Two sessions with one server do not.
        match self.parallel || self.is_remote() {
            true => {}
            false if fresh => self.idle.rest(),
            false => self.idle.rest_others(job.world),
        }
        let turn = match fresh && self.keeps_servers && job.work.urgency() > Urgency::First {
            true => Some(self.turn(job.work.urgency(), until)?),
            false => None,
        };
        let mut crew = match fresh {
            true => Crew::new(self.runner(job.world).with_turn(turn), &self.stop),
            false => self.crew(job.world, until),
        };
        // Where a start is dear, a server that is only there when nothing new is tried any more would be started in vain.
        if self.keeps_servers && !crew.runner.is_at_work() && is_past(until) {
            return Err(Failed::Stopped);
        }
        let _at_work = (!fresh).then(|| self.idle.at_work(job.world));
        crew.runner.start_for(format!("{:?}, {}", job.world, job.work.in_words()), job.work.urgency());
        let done = self.work(&mut crew, job.clone(), until, lingers);
        match &done {
            Ok(done) if self.is_kept(&job.work, done) => self.idle.put(job.world, crew),
            _ => crew.rest(),
        }
        done
    }

    /// The right to start a server; none where the time is up before.
    fn turn(&self, urgency: Urgency, until: Option<Instant>) -> Result<Turn, Failed> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a thread that just started can wait");
        let turn = self.stop.unless(self.gate.turn(urgency));
        let Some(until) = until else { return Ok(runtime.block_on(turn)?) };
        let in_time = async { tokio::time::timeout_at(until.into(), turn).await };
        Ok(runtime.block_on(in_time).map_err(|_| Failed::Stopped)??)
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
                let listed = runtime.block_on(stop.unless(list(&mut connector)))?;
                // Without one of its settings a server may not start at all.
                let listed = match job.world {
                    World::Unrestricted => listed.map_or_else(|_| Catalogue::default(), |(_, listed)| listed),
                    _ => listed?.1,
                };
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
                part.is_healthy() && (self.keeps_servers || together.goes_on && part.is_clean())
            }
            // What the next calls do is held against what this one did by itself.
            (Work::Start | Work::OneByOne { .. }, _) => true,
            (Work::Alone { brief, .. }, Done::OneByOne(tried)) => {
                *brief && self.keeps_servers && !tried.iter().any(Tried::is_fatal)
            }
            _ => false,
        }
    }

    /// Ends all servers that wait for work.
    pub fn rest(&self) {
        for reserve in
            std::mem::take(&mut *self.reserves.lock().unwrap_or_else(PoisonError::into_inner)).values()
        {
            reserve.end();
        }
        self.idle.rest();
    }
}

fn is_past(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

/// What a server does before it is asked anything, and when it is asked for nothing.
pub fn start_case(seed: u64) -> Case {
    of_server(vec![Step::Restart, Step::Probe], seed)
}

/// A script that is about the server as a whole.
pub fn of_server(steps: Vec<Step>, seed: u64) -> Case {
    Case { subject: Subject::Server, steps, ..Case::tool("", json!({}), Intent::Example, seed) }
}
