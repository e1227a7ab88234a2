//! Runs probes until nothing is left to do or the time is up: hands out their jobs, proves what is suspected beside them,
//! and lets each read what came of its jobs.

use std::cell::Cell;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use super::agenda::{Budget, Turns};
use super::lab::{Done, Failed, Job, Lab};
use super::probes::{Notebook, Probe};
use super::prove::{Confirmed, Proof};
use crate::event::{Event, Listener};
use crate::run::Start;
use crate::stop::Reason;
use crate::target::Severity;
use crate::wire::ConnectError;

/// Jobs that only wait, at the same time: each holds a server or two in memory.
const MAX_WAITING: usize = 6;
/// Jobs of tests that have no other one running, beyond as many as there are workers: each may hold the longest of replies.
const MAX_BESIDE: usize = 1;
/// Proofs at the same time.
const MAX_PROOFS: usize = 4;
/// How often it is looked whether the time is up.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What a thread that asks servers may have on its stack: proofs are made of many small steps within each other.
const STACK: usize = 8 << 20;
/// How often it is told how far the run is.
const TELL_EVERY: Duration = Duration::from_millis(500);

/// What probes, servers and time a run has.
pub struct Engine<'a> {
    pub lab: &'a Lab,
    pub budget: Budget,
    /// Jobs that compute, at the same time.
    pub workers: usize,
    /// Further ones, of probes that have no other job running.
    beside: usize,
}

/// What somebody has finished.
enum Finished {
    Job {
        probe: usize,
        number: u64,
        waited: bool,
        took: Duration,
        done: Result<Done, Failed>,
    },
    /// A job that has computed, and only waits now.
    Lingers {
        probe: usize,
        took: Duration,
    },
    Proof {
        proof: Proof,
        confirmed: Result<Vec<Confirmed>, Failed>,
    },
}

/// What is going on.
struct Running {
    /// Jobs that compute, of each probe.
    computing: Vec<usize>,
    waiting: usize,
    proofs: usize,
    /// The running jobs of each probe, both those that compute and those that wait, and how long it had none although it was
    /// not done.
    jobs: Vec<usize>,
    idle: Vec<Duration>,
}

impl Running {
    fn of(probes: usize) -> Running {
        let (computing, jobs, idle) = (vec![0; probes], vec![0; probes], vec![Duration::ZERO; probes]);
        Running { computing, waiting: 0, proofs: 0, jobs, idle }
    }

    /// Adds the time that has passed to each probe that has work to do, but no job running.
    fn pass(&mut self, time: Duration, probes: &[&mut dyn Probe]) {
        for (probe, idle) in self.idle.iter_mut().enumerate() {
            if self.jobs[probe] == 0 && !probes[probe].is_done() {
                *idle += time;
            }
        }
    }

    fn any(&self) -> bool {
        self.computing() + self.waiting + self.proofs > 0
    }

    fn computing(&self) -> usize {
        self.computing.iter().sum()
    }
}

impl Engine<'_> {
    /// With so many jobs that compute at the same time, where a number is asked for.
    pub fn new(lab: &Lab, budget: Budget, asked: Option<usize>) -> Engine<'_> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        // Several sessions with one server do not disturb each other as long as nothing is being proven.
        let several = lab.is_parallel() || lab.is_remote();
        let workers = asked.unwrap_or(if several { cores } else { 1 }).max(1);
        // Where a start is dear, most jobs wait for a server.
        let beside = match asked.is_none() && lab.is_parallel() {
            true if lab.starts_are_dear() => usize::MAX - workers,
            true => MAX_BESIDE,
            false => 0,
        };
        Engine { lab, budget, workers, beside }
    }

    /// Runs the probes; how much time each of them had.
    pub fn run(
        &self,
        probes: &mut [&mut dyn Probe],
        notebook: &mut Notebook,
        listener: &mut dyn Listener,
    ) -> Result<Vec<Duration>, ConnectError> {
        let mut turns = Turns::new(probes.iter().map(|probe| probe.worth()));
        let (sender, receiver) = mpsc::channel();
        let mut running = Running::of(probes.len());
        let mut failed = None;
        let mut cut_short = false;
        let mut told = Instant::now();
        std::thread::scope(|scope| {
            loop {
                if self.budget.is_overdue() {
                    self.lab.stop().tell(Reason::Overdue);
                }
                let is_over = failed.is_some() || self.lab.stop().is_told();
                if !is_over {
                    cut_short |=
                        self.hand_out(scope, &sender, probes, notebook, &turns, &mut running, listener);
                    self.begin_proofs(scope, &sender, notebook, &mut running);
                    for outcome in notebook.prover.take_outcomes() {
                        for (index, probe) in probes.iter_mut().enumerate() {
                            notebook.probe = index;
                            probe.hear(&outcome, notebook);
                        }
                    }
                    if !running.any() {
                        // What was just heard may have set somebody going.
                        let more =
                            self.hand_out(scope, &sender, probes, notebook, &turns, &mut running, listener);
                        cut_short |= more;
                        self.begin_proofs(scope, &sender, notebook, &mut running);
                    }
                }
                if !running.any() {
                    break;
                }
                let waits = Instant::now();
                let finished = receiver.recv_timeout(LOOK_EVERY);
                running.pass(waits.elapsed(), probes);
                match finished {
                    Ok(finished) => {
                        let failure = take(finished, probes, notebook, &mut turns, &mut running, listener);
                        failed = failed.take().or(failure);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
                for tool in std::mem::take(&mut notebook.newly_reached) {
                    listener.hear(&Event::ToolReached { tool: &tool });
                }
                for Start { purpose, waited, took } in self.lab.ledger().take_starts() {
                    let (waited_ms, took_ms) = (waited.as_millis() as u64, took.as_millis() as u64);
                    listener.hear(&Event::ServerStarted { purpose: &purpose, waited_ms, took_ms });
                }
                if told.elapsed() >= TELL_EVERY {
                    told = Instant::now();
                    listener.hear(&self.working(notebook));
                }
            }
        });
        for (probe, idle) in probes.iter().zip(&running.idle) {
            listener.hear(&Event::TestDone { test: probe.name(), idle_ms: idle.as_millis() as u64 });
        }
        self.lab.rest();
        if let Some(error) = failed {
            return Err(error);
        }
        let why = (cut_short || self.lab.stop().is_told()).then(|| self.lab.stop().why());
        notebook.out_of_time |= why.is_some();
        for (index, probe) in probes.iter_mut().enumerate() {
            notebook.probe = index;
            probe.finish(why, notebook);
        }
        Ok((0..probes.len()).map(|probe| turns.spent(probe)).collect())
    }

    /// How far the run is.
    fn working(&self, notebook: &Notebook) -> Event<'static> {
        let left = self.budget.end().map(|end| end.saturating_duration_since(Instant::now()));
        Event::Working {
            calls: self.lab.ledger().calls(),
            reached: notebook.reached.len(),
            tools: self.lab.tools(),
            suspicions: notebook.prover.open(),
            left_ms: left.map(|left| left.as_millis() as u64),
        }
    }

    /// Hands out jobs as long as there is room. True where there were more, and no time for them.
    #[expect(clippy::too_many_arguments, reason = "all that there is")]
    fn hand_out<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        sender: &mpsc::Sender<Finished>,
        probes: &mut [&mut dyn Probe],
        notebook: &mut Notebook,
        turns: &Turns,
        running: &mut Running,
        listener: &mut dyn Listener,
    ) -> bool {
        loop {
            if !self.has_room(running) {
                return false;
            }
            let is_room = running.computing() < self.workers;
            let waits = running.waiting < MAX_WAITING;
            // A job may be waiting for its server, or for a tool that is silent: no other probe should have to wait with it.
            let is_room_beside = running.computing() < self.workers + self.beside;
            let computes = |probe: usize| is_room || is_room_beside && running.computing[probe] == 0;
            if !waits && !(0..probes.len()).any(computes) {
                return false;
            }
            let open = notebook.prover.has_grave();
            if self.budget.is_exploring_over(open) {
                return probes.iter().any(|probe| !probe.is_done());
            }
            let mut proposed = None;
            for index in turns.order() {
                notebook.probe = index;
                if !waits && !computes(index) {
                    continue;
                }
                if let Some((number, job)) = probes[index].propose(computes(index), listener) {
                    proposed = Some((index, number, job));
                    break;
                }
            }
            let Some((probe, number, job)) = proposed else { return false };
            running.jobs[probe] += 1;
            match job.waits {
                true => running.waiting += 1,
                false => running.computing[probe] += 1,
            }
            let until = match job.waits {
                true => self.budget.end(),
                false => self.budget.exploring_until(open),
            };
            self.begin(scope, sender, probe, number, job, until);
        }
    }

    /// Where servers would meet, one at a time is asked.
    fn has_room(&self, running: &Running) -> bool {
        let alone = self.lab.is_remote() || running.waiting == 0;
        self.lab.is_parallel() || running.proofs == 0 && alone && running.computing() < self.workers
    }

    fn begin<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        sender: &mpsc::Sender<Finished>,
        probe: usize,
        number: u64,
        job: Job,
        until: Option<Instant>,
    ) {
        let sender = sender.clone();
        spawn(scope, move || {
            let begun = Instant::now();
            let waited = Cell::new(job.waits);
            let lingers = || {
                if !waited.replace(true) {
                    let took = begun.elapsed();
                    let _run_is_over = sender.send(Finished::Lingers { probe, took });
                }
            };
            let done = self.lab.perform(job, until, &lingers);
            let waited = waited.get();
            // Nobody listens only when the run is over.
            let _run_is_over =
                sender.send(Finished::Job { probe, number, waited, took: begun.elapsed(), done });
        });
    }

    /// Begins proofs as long as there is room. What is of little weight waits while anything else is open.
    fn begin_proofs<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        sender: &mpsc::Sender<Finished>,
        notebook: &mut Notebook,
        running: &mut Running,
    ) {
        loop {
            let parallel = self.lab.is_parallel();
            let most = if parallel { MAX_PROOFS } else { 1 };
            let alone = !running.any();
            if running.proofs >= most || !parallel && !alone || self.budget.is_over() {
                return;
            }
            // Where a start costs much, what weighs little waits until nothing else is to be done.
            let busy = running.computing() > 0 && (running.proofs > 0 || self.lab.starts_are_dear());
            let least = if busy { Severity::Medium } else { Severity::Low };
            if !parallel {
                self.lab.rest();
            }
            let (exploring, dear) = (running.computing() > 0, self.lab.starts_are_dear());
            let Some(proof) = notebook.prover.next(least, exploring, dear, self.budget.end()) else {
                return;
            };
            running.proofs += 1;
            let sender = sender.clone();
            spawn(scope, move || {
                let confirmed = proof.perform(self.lab);
                let _run_is_over = sender.send(Finished::Proof { proof, confirmed });
            });
        }
    }
}

fn spawn<'scope>(scope: &'scope Scope<'scope, '_>, work: impl FnOnce() + Send + 'scope) {
    let thread = std::thread::Builder::new().stack_size(STACK);
    thread.spawn_scoped(scope, work).expect("the machine has room for a thread");
}

/// Takes in what is finished; the error where nothing can go on.
fn take(
    finished: Finished,
    probes: &mut [&mut dyn Probe],
    notebook: &mut Notebook,
    turns: &mut Turns,
    running: &mut Running,
    listener: &mut dyn Listener,
) -> Option<ConnectError> {
    match finished {
        Finished::Lingers { probe, took } => {
            running.computing[probe] -= 1;
            running.waiting += 1;
            turns.spend(probe, took);
            None
        }
        Finished::Job { probe, number, waited, took, done } => {
            running.jobs[probe] -= 1;
            match waited {
                true => running.waiting -= 1,
                false => {
                    running.computing[probe] -= 1;
                    turns.spend(probe, took);
                }
            }
            match done {
                Ok(done) => {
                    notebook.probe = probe;
                    probes[probe].read(number, done, notebook, listener);
                    None
                }
                Err(Failed::Stopped) => None,
                Err(Failed::Connect(error)) => Some(error),
            }
        }
        Finished::Proof { proof, confirmed } => {
            running.proofs -= 1;
            match confirmed {
                Ok(confirmed) => {
                    notebook.prover.take(proof, confirmed, listener);
                    None
                }
                Err(Failed::Stopped) => {
                    notebook.prover.give_back(proof);
                    None
                }
                Err(Failed::Connect(error)) => {
                    notebook.prover.give_back(proof);
                    Some(error)
                }
            }
        }
    }
}
