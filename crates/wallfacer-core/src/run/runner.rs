//! Cases in, recordings out, on as few lives as it takes. With several calls in flight a death or a silence is not
//! blamed on anyone: the calls in question are made again, one by one, on a fresh server.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::life::Life;
use super::patience::Patience;
use super::recording::{Recording, Taken};
use crate::catalogue::Catalogue;
use crate::plan::{Case, Step};
use crate::wire::{Answered, Closed, ConnectError, Connector, Happening, HeaderParams, Outcome, Ticket};

/// Finished calls that are suspected too when a server dies and no call in flight explains it.
const MEMORY: usize = 16;
/// How long after its answer a server may die of it.
const LATE_DEATH_MS: u64 = 300;
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
    /// How many servers were started so far.
    pub lives: u64,
}

/// Says which cases are still wanted, and takes what came of them.
pub trait Foreman {
    fn wants(&mut self, index: usize, case: &Case) -> bool;

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
        Runner { connector, headers, patience, life: None, lives: 0 }
    }

    pub fn patience(&self) -> &Patience {
        &self.patience
    }

    /// Ends the current server, so that the next case meets a fresh one.
    pub async fn rest(&mut self) {
        if let Some(life) = self.life.take() {
            life.connection.close(GRACE).await;
        }
    }

    /// The current life, started where there is none.
    pub async fn life(&mut self) -> Result<&mut Life, ConnectError> {
        if self.life.is_none() {
            self.life = Some(Life::start(&mut self.connector, &self.headers).await?);
            self.lives += 1;
        }
        Ok(self.life.as_mut().expect("just started"))
    }

    /// Performs one case alone. A server that went away or fell silent is not used again.
    pub async fn perform(&mut self, case: &Case, patience: &Patience) -> Result<Recording, ConnectError> {
        let mut steps = Vec::new();
        for step in &case.steps {
            if *step == Step::Restart {
                self.rest().await;
                self.life().await?;
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
        while !waiting.is_empty() || !flights.is_empty() {
            while waiting.front().is_some_and(|index| !foreman.wants(*index, &cases[*index])) {
                waiting.pop_front();
            }
            // A script of several steps, or with raw frames, needs the server for itself.
            let alone = waiting.front().is_some_and(|index| cases[*index].single_call().is_none());
            if alone && flights.is_empty() {
                let index = waiting.pop_front().expect("just seen");
                let recording = self.perform(&cases[index], &self.patience.clone()).await?;
                foreman.take(index, &cases[index], recording);
                continue;
            }
            if waiting.is_empty() && flights.is_empty() {
                break;
            }
            self.fill(cases, in_flight, &mut waiting, &mut flights, foreman).await?;
            match self.land(&flights).await? {
                Happening::Answered(answered) => {
                    let Some(flight) = flights.remove(&answered.ticket) else { continue };
                    remember(&mut finished, flight.index);
                    let recording = self.recording(&cases[flight.index], answered);
                    // With company, what came astray may belong to any of them.
                    if !flights.is_empty() && recording.steps.iter().any(|step| !step.strays.is_empty()) {
                        doubtful.insert(flight.index);
                        doubtful.extend(flights.values().map(|flight| flight.index));
                    }
                    foreman.take(flight.index, &cases[flight.index], recording);
                }
                stuck => {
                    let closed = if let Happening::Closed(closed) = stuck { Some(closed) } else { None };
                    self.kill();
                    let suspects: Vec<usize> =
                        std::mem::take(&mut flights).into_values().map(|flight| flight.index).collect();
                    let blamed = self.blame(cases, &suspects, &finished, foreman).await?;
                    if !blamed {
                        let suspects =
                            if suspects.is_empty() { finished.iter().copied().collect() } else { suspects };
                        unexplained.push(Unexplained { suspects, closed });
                    }
                    finished.clear();
                }
            }
        }
        if self.died_late().await && !self.blame(cases, &[], &finished, foreman).await? {
            unexplained.push(Unexplained { suspects: finished.iter().copied().collect(), closed: None });
        }
        for index in doubtful.into_iter().take(MAX_DOUBTFUL) {
            let recording = self.perform(&cases[index], &self.patience.clone()).await?;
            foreman.take(index, &cases[index], recording);
        }
        Ok(unexplained)
    }

    /// Whether the server dies now that all is answered, of something that it was asked.
    async fn died_late(&mut self) -> bool {
        let Some(life) = &mut self.life else { return false };
        let died = life.take(&Step::Pause(LATE_DEATH_MS), &self.patience).await.closed.is_some();
        if died {
            self.kill();
        }
        died
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
        let life = self.life().await?;
        while flights.len() < in_flight.max(1)
            && let Some(index) = waiting.front().copied()
            && let Some((method, params)) = cases[index].single_call()
        {
            waiting.pop_front();
            if !foreman.wants(index, &cases[index]) {
                continue;
            }
            let ticket = life.connection.request(method, Some(params));
            let deadline = Instant::now() + patience.for_request(method, params);
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
        let strays = self.life.as_mut().map(|life| life.connection.take_strays()).unwrap_or_default();
        let method = case.single_call().map(|(method, _)| method.to_owned()).unwrap_or_default();
        let (outcome, took) = (Some(answered.outcome), answered.took);
        let taken = Taken { method, awaited: true, outcome, closed: None, took, strays };
        Recording { steps: vec![taken], stderr: None }
    }

    /// Makes the calls in question again, one by one. True when one of them explains what happened.
    async fn blame(
        &mut self,
        cases: &[Case],
        suspects: &[usize],
        finished: &VecDeque<usize>,
        foreman: &mut dyn Foreman,
    ) -> Result<bool, ConnectError> {
        let mut explained = false;
        let patience = self.patience.clone();
        for index in suspects {
            let recording = self.perform(&cases[*index], &patience).await?;
            explained |= recording.steps.iter().any(explains_silence);
            foreman.take(*index, &cases[*index], recording);
        }
        if explained {
            return Ok(true);
        }
        // A server may answer first and die after. What was answered last is made again, and the server asked whether it is
        // still there.
        for index in finished {
            let mut case = cases[*index].clone();
            case.steps.extend([Step::Pause(LATE_DEATH_MS), Step::Probe]);
            let recording = self.perform(&case, &patience).await?;
            if recording.steps.iter().any(Taken::is_fatal) {
                foreman.take(*index, &case, recording);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Ends a server that is gone or stuck; waiting for it politely would be in vain.
    fn kill(&mut self) {
        self.life = None;
    }
}

/// Alone too it was fatal, or was answered in a way that nobody could match to it among others.
fn explains_silence(taken: &Taken) -> bool {
    taken.is_fatal() || matches!(taken.outcome, Some(Outcome::Broken { .. }))
}

fn remember(finished: &mut VecDeque<usize>, index: usize) {
    if finished.len() == MEMORY {
        finished.pop_front();
    }
    finished.push_back(index);
}
