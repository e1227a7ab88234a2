//! Cases in, recordings out, on as few lives as it takes. With several calls in flight a death or a silence is not
//! blamed on anyone: the calls in question are made again, one by one, on a fresh server.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;
use wallfacer_process::{Process, Stderr};

use super::life::Life;
use super::patience::Patience;
use super::recording::{Mark, Recording, Taken};
use crate::catalogue::Catalogue;
use crate::plan::{Case, Step};
use crate::target::{Reach, Target};
use crate::wire::{
    Answered, Closed, ConnectError, Connector, Farewell, Happening, HeaderParams, Outcome, Ticket,
};

/// Finished calls that are suspected too when a server dies and no call in flight explains it.
const MEMORY: usize = 128;
/// How long after its answer a server may die of it.
const LATE_DEATH_MS: u64 = 300;
/// So many cases are not waited behind: what kills late comes up among the others too.
const MANY_CASES: usize = 200;
/// How often a late death is hunted in vain; a server that dies of nothing in particular would keep us for ever.
const MAX_VAIN_HUNTS: usize = 2;
/// Cases that are performed again, alone, because something came astray while they had company.
const MAX_DOUBTFUL: usize = 256;
/// How long a server may take to leave before it is made to.
const GRACE: Duration = Duration::from_millis(500);

/// Runs cases against one target.
#[derive(Debug)]
pub struct Runner {
    connector: Connector,
    headers: HeaderParams,
    patience: Patience,
    life: Option<Life>,
    /// A second session beside it.
    other: Option<Life>,
    /// Where the notifications begin that belong to the next answer.
    mark: Mark,
    /// Late deaths that no call explained.
    vain_hunts: usize,
    /// How many servers were started so far.
    pub lives: u64,
}

/// Says which cases are still wanted, and takes what came of them.
pub trait Foreman {
    fn wants(&mut self, index: usize, case: &Case) -> bool;

    /// Whether this call is known to take long, so that its silence is nobody's suspicion.
    fn expects_silence(&self, case: &Case) -> bool;

    /// Whether what came in company may belong to another call than the one it came with.
    fn doubts(&self, recording: &Recording) -> bool;

    /// The case is the one of that place, or, where a server died behind its answer, the same with a probe added.
    fn take(&mut self, index: usize, case: &Case, recording: Recording);
}

/// A server that went away or fell silent, though none of the calls that it had makes it do so alone.
#[derive(Debug)]
pub struct Unexplained {
    /// The cases in flight or just finished, by their place in the list.
    pub suspects: Vec<usize>,
    pub closed: Option<Closed>,
}

/// A call in flight.
#[derive(Debug)]
struct Flight {
    index: usize,
    deadline: Instant,
}

impl Runner {
    pub fn new(connector: Connector, catalogue: &Catalogue, patience: Patience) -> Runner {
        let marked = catalogue.tools.entries.iter().filter(|tool| !tool.header_params.is_empty());
        let headers = marked.map(|tool| (tool.name.clone(), tool.header_params.clone())).collect();
        Runner {
            connector,
            headers,
            patience,
            life: None,
            other: None,
            mark: Mark::default(),
            vain_hunts: 0,
            lives: 0,
        }
    }

    pub fn patience(&self) -> &Patience {
        &self.patience
    }

    /// Ends the current server, so that the next case meets a fresh one.
    pub async fn rest(&mut self) {
        for life in [self.other.take(), self.life.take()].into_iter().flatten() {
            self.connector.dismiss(life.connection, GRACE).await;
        }
    }

    /// Says goodbye to the current server, if there is one; what it does then, and whom it leaves behind.
    pub async fn part(&mut self) -> Option<Farewell> {
        let farewell = self.life.take()?.connection.close(GRACE).await;
        self.connector.learn_from(&farewell);
        Some(farewell)
    }

    /// A second session with the server, opened where there is none: another process where each client starts its own.
    pub async fn other(&mut self) -> Result<&mut Life, ConnectError> {
        self.life().await?;
        if self.other.is_none() {
            self.other = Some(match beside(self.connector.target()) {
                Some(mut beside) => Life::start(&mut beside, &self.headers).await?,
                None => Life::start(&mut self.connector, &self.headers).await?,
            });
        }
        Ok(self.other.as_mut().expect("just opened"))
    }

    /// The end of what the servers at hand wrote to stderr, where they are ours.
    pub fn last_words(&self) -> Option<Stderr> {
        let lives = [&self.other, &self.life].into_iter().flatten();
        let said = lives.filter_map(|life| life.connection.process().map(Process::stderr));
        said.max_by_key(|said| said.tail.len())
    }

    /// The current life, started where there is none.
    pub async fn life(&mut self) -> Result<&mut Life, ConnectError> {
        if self.life.is_none() {
            let life = Life::start(&mut self.connector, &self.headers).await?;
            self.mark = Mark::now(&life.connection);
            self.life = Some(life);
            self.lives += 1;
        }
        Ok(self.life.as_mut().expect("just started"))
    }

    /// Performs one case alone. A server that went away or fell silent is not used again.
    pub async fn perform(&mut self, case: &Case, patience: &Patience) -> Result<Recording, ConnectError> {
        let mut steps = Vec::new();
        if !self.prepare(case).await? {
            return Ok(Recording { steps, stderr: None });
        }
        self.life().await?.forget_what_is_undone_by(case);
        for step in &case.steps {
            if *step == Step::Restart {
                self.rest().await;
                // What a server does before it is asked anything is the first thing that it does.
                if let Some(traced) = self.life().await?.startup.take() {
                    let started = Taken::unanswered("start", Duration::ZERO);
                    steps.push(Taken { traced: Some(traced), ..started });
                }
                continue;
            }
            let taken = self.life().await?.take(step, patience).await;
            let fatal = taken.is_fatal();
            steps.push(taken);
            if fatal {
                break;
            }
        }
        let fatal = steps.iter().any(Taken::is_fatal);
        let recording = self.life().await?.finish(steps);
        if fatal {
            self.kill();
        }
        Ok(recording)
    }

    /// Asks the server at hand what must come before a case, where it was not asked yet. False where it does not outlive
    /// that: then nothing can be said of the case.
    async fn prepare(&mut self, case: &Case) -> Result<bool, ConnectError> {
        let patience = self.patience.clone();
        let life = self.life().await?;
        if life.is_ready_for(case) {
            return Ok(true);
        }
        let ready = life.prepare(case, &patience).await;
        let mark = Mark::now(&life.connection);
        self.mark = mark;
        if !ready {
            self.kill();
        }
        Ok(ready)
    }

    /// Performs one case on a server that nobody has spoken to.
    pub async fn perform_fresh(
        &mut self,
        case: &Case,
        patience: &Patience,
    ) -> Result<Recording, ConnectError> {
        self.rest().await;
        self.perform(case, patience).await
    }

    /// Whether a server that leaves this call unanswered answers other requests meanwhile.
    pub async fn is_wedged_by(&mut self, case: &Case) -> Result<bool, ConnectError> {
        self.rest().await;
        let patience = self.patience.clone();
        if !self.prepare(case).await? {
            return Ok(false);
        }
        let life = self.life().await?;
        if let Some((method, params)) = case.single_call() {
            life.connection.request(method, Some(params));
        }
        let wedged = life.take(&Step::Probe, &patience).await.is_fatal();
        self.kill();
        Ok(wedged)
    }

    /// Performs many cases, each at most once, handing over each recording under its case's place in the list.
    /// The order of hand-over is the server's; the recordings are those of the cases alone.
    pub async fn sweep(
        &mut self,
        cases: &[Case],
        in_flight: usize,
        foreman: &mut dyn Foreman,
    ) -> Result<Vec<Unexplained>, ConnectError> {
        let mut unexplained = Vec::new();
        let mut waiting: VecDeque<usize> = (0..cases.len()).collect();
        let mut flights: BTreeMap<Ticket, Flight> = BTreeMap::new();
        let mut finished: VecDeque<usize> = VecDeque::new();
        let mut doubtful: BTreeSet<usize> = BTreeSet::new();
        let mut in_flight = in_flight;
        let watched = self.connector.world().is_watched();
        while !waiting.is_empty() || !flights.is_empty() {
            while waiting.front().is_some_and(|index| !foreman.wants(*index, &cases[*index])) {
                waiting.pop_front();
            }
            // A script of several steps, or with raw frames, needs the server for itself; and so does every call where what
            // it does is watched.
            let alone = waiting.front().is_some_and(|index| watched || cases[*index].single_call().is_none());
            if alone && flights.is_empty() {
                let index = waiting.pop_front().expect("just seen");
                self.perform_again(cases, index, &mut finished, foreman).await?;
                continue;
            }
            if waiting.is_empty() && flights.is_empty() {
                break;
            }
            self.fill(cases, in_flight, &mut waiting, &mut flights, foreman).await?;
            if flights.is_empty() {
                continue;
            }
            match self.land(&flights).await? {
                Happening::Answered(answered) => {
                    let Some(flight) = flights.remove(&answered.ticket) else { continue };
                    remember(&mut finished, flight.index);
                    let recording = self.recording(&cases[flight.index], answered);
                    // With company, what came astray may belong to any of them.
                    if !flights.is_empty() && foreman.doubts(&recording) {
                        doubtful.insert(flight.index);
                        doubtful.extend(flights.values().map(|flight| flight.index));
                    }
                    foreman.take(flight.index, &cases[flight.index], recording);
                }
                Happening::Deadline if self.let_go(cases, &mut flights, foreman) => {}
                stuck => {
                    let closed = if let Happening::Closed(closed) = stuck { Some(closed) } else { None };
                    let death = closed.clone().and_then(|closed| self.death(closed));
                    self.kill();
                    let suspects: Vec<usize> =
                        std::mem::take(&mut flights).into_values().map(|flight| flight.index).collect();
                    let earlier = std::mem::take(&mut finished);
                    let blamed = self.blame(cases, &suspects, &earlier, &mut finished, foreman).await?;
                    if !blamed {
                        // Of all that the server was asked together it may die again.
                        if let (Some(death), Some(first)) = (death, suspects.first()) {
                            foreman.take(*first, &cases[*first], death);
                        }
                        let suspects = if suspects.is_empty() { earlier.into() } else { suspects };
                        unexplained.push(Unexplained { suspects, closed });
                        // What only company does would come again and again, and each time cost a time limit.
                        in_flight = 1;
                    }
                }
            }
        }
        if cases.len() < MANY_CASES
            && let Some(closed) = self.died_late().await
            && !self.blame_late(cases, &finished, foreman).await?
        {
            let suspects = finished.iter().copied().collect();
            unexplained.push(Unexplained { suspects, closed: Some(closed) });
        }
        finished.clear();
        for index in doubtful.into_iter().take(MAX_DOUBTFUL) {
            self.perform_again(cases, index, &mut finished, foreman).await?;
        }
        Ok(unexplained)
    }

    /// The end of the current server, as a call sees it that waits in vain.
    fn death(&self, closed: Closed) -> Option<Recording> {
        let gone = Taken::awaited("tools/call", Happening::Closed(closed), Duration::ZERO);
        self.life.as_ref().map(|life| life.finish(vec![gone]))
    }

    /// Performs a case alone, behind others that the same server was asked. A server that ends meanwhile may do so because
    /// of one of those, so a fresh one is asked too. True when something was seen to end or silence the server.
    async fn perform_again(
        &mut self,
        cases: &[Case],
        index: usize,
        before: &mut VecDeque<usize>,
        foreman: &mut dyn Foreman,
    ) -> Result<bool, ConnectError> {
        let (case, patience) = (&cases[index], self.patience.clone());
        let mut recording = self.perform(case, &patience).await?;
        let mut explained = false;
        if !before.is_empty() && recording.steps.iter().any(is_death) {
            let earlier = std::mem::take(before);
            let alone = self.perform_fresh(case, &patience).await?;
            let guilty = alone.steps.iter().any(is_death);
            explained = guilty || self.blame_late(cases, &earlier, foreman).await?;
            // What neither does alone is a matter of all of them, so the recording stays as it was.
            if explained {
                recording = alone;
            }
            self.rest().await;
        } else {
            remember(before, index);
        }
        if self.life.is_none() {
            before.clear();
        }
        explained |= recording.steps.iter().any(explains_silence);
        foreman.take(index, case, recording);
        Ok(explained)
    }

    /// How the server ended, where it dies now that all is answered, of something that it was asked.
    async fn died_late(&mut self) -> Option<Closed> {
        let life = self.life.as_mut()?;
        let closed = life.take(&Step::Pause(LATE_DEATH_MS), &self.patience).await.closed;
        if closed.is_some() {
            self.kill();
        }
        closed
    }

    /// Gives up the calls that have waited too long, where that was to be expected of all of them.
    fn let_go(
        &mut self,
        cases: &[Case],
        flights: &mut BTreeMap<Ticket, Flight>,
        foreman: &mut dyn Foreman,
    ) -> bool {
        let now = Instant::now();
        let overdue: Vec<(Ticket, usize)> = flights
            .iter()
            .filter(|(_, flight)| flight.deadline <= now)
            .map(|(ticket, flight)| (*ticket, flight.index))
            .collect();
        let expected =
            !overdue.is_empty() && overdue.iter().all(|(_, index)| foreman.expects_silence(&cases[*index]));
        if !expected {
            return false;
        }
        for (ticket, index) in overdue {
            flights.remove(&ticket);
            if let Some(life) = &mut self.life {
                life.connection.cancel(ticket);
            }
            let (method, params) = cases[index].single_call().expect("only single calls are in flight");
            let took = self.patience.stretched(1).for_request(method, params);
            let silent = Taken { awaited: true, ..Taken::unanswered(method, took) };
            foreman.take(index, &cases[index], Recording { steps: vec![silent], stderr: None });
        }
        true
    }

    /// Sends as many single calls as may be in flight.
    async fn fill(
        &mut self,
        cases: &[Case],
        in_flight: usize,
        waiting: &mut VecDeque<usize>,
        flights: &mut BTreeMap<Ticket, Flight>,
        foreman: &mut dyn Foreman,
    ) -> Result<(), ConnectError> {
        let patience = self.patience.clone();
        while flights.len() < in_flight.max(1)
            && let Some(index) = waiting.front().copied()
            && let Some((method, params)) = cases[index].single_call()
        {
            let ready = self.life().await?.is_ready_for(&cases[index]);
            // What must come first needs the server for itself.
            if !ready && !flights.is_empty() {
                break;
            }
            waiting.pop_front();
            if !foreman.wants(index, &cases[index]) || !ready && !self.prepare(&cases[index]).await? {
                continue;
            }
            let life = self.life().await?;
            life.forget_what_is_undone_by(&cases[index]);
            let ticket = life.connection.request(method, Some(params));
            // What is known to take long gets all the time that there is.
            let time = match foreman.expects_silence(&cases[index]) {
                true => patience.stretched(1).for_request(method, params),
                false => patience.for_request(method, params),
            };
            let deadline = Instant::now() + time;
            flights.insert(ticket, Flight { index, deadline });
        }
        Ok(())
    }

    /// Waits until a call is answered, the server is gone, or a call has waited too long.
    async fn land(&mut self, flights: &BTreeMap<Ticket, Flight>) -> Result<Happening, ConnectError> {
        let Some(deadline) = flights.values().map(|flight| flight.deadline).min() else {
            return Ok(Happening::Deadline);
        };
        let happening = self.life().await?.connection.next(deadline).await;
        Ok(match happening {
            Happening::Answered(Answered { outcome: Outcome::Lost(_), .. }) => {
                Happening::Closed(Closed { ending: None })
            }
            other => other,
        })
    }

    fn recording(&mut self, case: &Case, answered: Answered) -> Recording {
        let method = case.single_call().map(|(method, _)| method).unwrap_or_default();
        let took = answered.took;
        let mut taken = Taken::awaited(method, Happening::Answered(answered), took);
        if let Some(life) = &mut self.life {
            taken = taken.with_company(&mut life.connection, self.mark);
            self.mark = Mark::now(&life.connection);
        }
        Recording { steps: vec![taken], stderr: None }
    }

    /// Makes the calls in question again, one by one. True when one of them, or of the earlier ones, explains what
    /// happened. What the server that is left was asked goes into `finished`.
    async fn blame(
        &mut self,
        cases: &[Case],
        suspects: &[usize],
        earlier: &VecDeque<usize>,
        finished: &mut VecDeque<usize>,
        foreman: &mut dyn Foreman,
    ) -> Result<bool, ConnectError> {
        let mut explained = false;
        for index in suspects {
            if foreman.wants(*index, &cases[*index]) {
                explained |= self.perform_again(cases, *index, finished, foreman).await?;
            } else {
                explained = true;
            }
        }
        if explained {
            return Ok(true);
        }
        let late = self.blame_late(cases, earlier, foreman).await?;
        self.rest().await;
        finished.clear();
        Ok(late)
    }

    /// A server may answer first and die after. What was answered last is made again, half of it at a time, until one
    /// call is left that the server does not outlive.
    async fn blame_late(
        &mut self,
        cases: &[Case],
        finished: &VecDeque<usize>,
        foreman: &mut dyn Foreman,
    ) -> Result<bool, ConnectError> {
        if self.vain_hunts >= MAX_VAIN_HUNTS {
            return Ok(false);
        }
        let mut suspects: Vec<usize> = finished.iter().copied().collect();
        while suspects.len() > 1 {
            let later = suspects.split_off(suspects.len() / 2);
            let dies = self.dies_of(cases, &suspects).await?;
            suspects = if dies { suspects } else { later };
        }
        let Some(index) = suspects.first() else { return Ok(false) };
        self.rest().await;
        let mut case = cases[*index].clone();
        case.steps.extend([Step::Pause(LATE_DEATH_MS), Step::Probe]);
        let recording = self.perform(&case, &self.patience.clone()).await?;
        let dies = recording.steps.iter().any(Taken::is_fatal);
        if dies {
            foreman.take(*index, &case, recording);
        } else {
            self.vain_hunts += 1;
        }
        Ok(dies)
    }

    /// Whether a fresh server ends, now or soon after, when it is asked all of this.
    async fn dies_of(&mut self, cases: &[Case], asked: &[usize]) -> Result<bool, ConnectError> {
        self.rest().await;
        let patience = self.patience.clone();
        for index in asked {
            let recording = self.perform(&cases[*index], &patience).await?;
            if recording.steps.iter().any(Taken::is_fatal) {
                return Ok(true);
            }
        }
        Ok(self.died_late().await.is_some())
    }

    /// Ends a server that is gone or stuck; waiting for it politely would be in vain.
    fn kill(&mut self) {
        self.life = None;
        self.other = None;
    }
}

/// A way to a server that is started and then reached over HTTP, without starting it once more.
fn beside(target: &Target) -> Option<Connector> {
    let Reach::Both { endpoint, .. } = &target.reach else { return None };
    let target = Target { reach: Reach::Url(endpoint.clone()), ..target.clone() };
    Some(Connector::new(target, BTreeMap::new()))
}

/// Alone too it was fatal, or was answered in a way that nobody could match to it among others.
fn explains_silence(taken: &Taken) -> bool {
    taken.is_fatal() || matches!(taken.outcome, Some(Outcome::Broken { .. }))
}

/// The server went away.
fn is_death(taken: &Taken) -> bool {
    taken.closed.is_some() || matches!(taken.outcome, Some(Outcome::Lost(_)))
}

fn remember(finished: &mut VecDeque<usize>, index: usize) {
    if finished.len() == MEMORY {
        finished.pop_front();
    }
    finished.push_back(index);
}
