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
use crate::event::Listener;
use crate::target::Severity;
use crate::wire::ConnectError;

/// Jobs that only wait, at the same time: each holds a server or two in memory.
const MAX_WAITING: usize = 6;
/// Proofs at the same time.
const MAX_PROOFS: usize = 4;
/// How often it is looked whether the time is up.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What probes, servers and time a run has.
pub struct Engine<'a> {
    pub lab: &'a Lab,
    pub budget: Budget,
    /// Jobs that compute, at the same time.
    pub workers: usize,
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
#[derive(Default)]
struct Running {
    computing: usize,
    waiting: usize,
    proofs: usize,
}

impl Running {
    fn any(&self) -> bool {
        self.computing + self.waiting + self.proofs > 0
    }
}

impl Engine<'_> {
    /// How many jobs compute at the same time, where this many are asked for.
    pub fn workers(lab: &Lab, asked: Option<usize>) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        asked.unwrap_or(if lab.is_parallel() { cores } else { 1 }).max(1)
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
        let mut running = Running::default();
        let mut failed = None;
        let mut cut_short = false;
        std::thread::scope(|scope| {
            loop {
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
                match receiver.recv_timeout(LOOK_EVERY) {
                    Ok(finished) => {
                        let failure = take(finished, probes, notebook, &mut turns, &mut running, listener);
                        failed = failed.take().or(failure);
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => break,
                }
            }
        });
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
            let computes = running.computing < self.workers && self.has_room(running);
            let waits = running.waiting < MAX_WAITING && self.has_room(running);
            if !computes && !waits {
                return false;
            }
            let open = notebook.prover.open() > 0;
            if self.budget.is_exploring_over(open) {
                return probes.iter().any(|probe| !probe.is_done());
            }
            let mut proposed = None;
            for index in turns.order() {
                notebook.probe = index;
                if let Some((number, job)) = probes[index].propose(computes, listener) {
                    proposed = Some((index, number, job));
                    break;
                }
            }
            let Some((probe, number, job)) = proposed else { return false };
            match job.waits {
                true => running.waiting += 1,
                false => running.computing += 1,
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
        self.lab.is_parallel() || running.waiting + running.proofs == 0 && running.computing < self.workers
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
        scope.spawn(move || {
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
            let busy = running.proofs > 0 && running.computing > 0;
            let least = if busy { Severity::Medium } else { Severity::Low };
            if !parallel {
                self.lab.rest();
            }
            let Some(proof) = notebook.prover.next(least, running.computing > 0, self.budget.end()) else {
                return;
            };
            running.proofs += 1;
            let sender = sender.clone();
            scope.spawn(move || {
                let confirmed = proof.perform(self.lab);
                let _run_is_over = sender.send(Finished::Proof { proof, confirmed });
            });
        }
    }
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
            running.computing -= 1;
            running.waiting += 1;
            turns.spend(probe, took);
            None
        }
        Finished::Job { probe, number, waited, took, done } => {
            match waited {
                true => running.waiting -= 1,
                false => {
                    running.computing -= 1;
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
