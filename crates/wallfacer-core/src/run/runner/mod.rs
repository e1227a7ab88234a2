//! Runs cases on as few server processes as it takes. With several calls in flight a death or a silence is not blamed
//! on anyone: the calls in question are made again, one by one, on a fresh server.

mod blame;
mod parting;
mod sweep;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Semaphore;
use wallfacer_process::{Process, Status, Stderr};

use super::life::Life;
use super::patience::Patience;
use super::recording::{Mark, Recording, Taken};
use crate::catalogue::Catalogue;
use crate::plan::{Case, Intent, Step};
use crate::target::{Reach, Target};
use crate::wire::{ConnectError, Connector, Farewell, HeaderParams};

pub use sweep::{Foreman, Unexplained};

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
    /// How a server ends that was asked nothing; none as long as nobody looked.
    usual_end: Option<Option<Status>>,
    /// How many servers were started so far.
    pub lives: u64,
    /// Cases that the current server has performed alone.
    pub asked: u64,
    /// How many servers may start at the same time, where others start some too.
    starts: Option<Arc<Semaphore>>,
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
            usual_end: None,
            lives: 0,
            asked: 0,
            starts: None,
        }
    }

    /// The same; it starts its servers when one of these permits is free.
    pub fn taking_turns(self, starts: Arc<Semaphore>) -> Runner {
        Runner { starts: Some(starts), ..self }
    }

    /// The same, with a server that is there already.
    pub fn at_work_with(mut self, mut life: Life) -> Runner {
        let _of_the_look = life.connection.take_strays();
        life.connection.set_header_params(self.headers.clone());
        self.mark = Mark::now(&life.connection);
        self.life = Some(life);
        self.lives = 1;
        self
    }

    pub fn patience(&self) -> &Patience {
        &self.patience
    }

    /// Whether a server is there to be spoken to.
    pub fn is_at_work(&self) -> bool {
        self.life.is_some()
    }

    /// What is made again and again ends then.
    pub fn repeat_until(&mut self, until: Option<Instant>) {
        self.patience = self.patience.clone().repeating_until(until);
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
            let _turn = match &self.starts {
                // Nobody closes it.
                Some(starts) => starts.clone().acquire_owned().await.ok(),
                None => None,
            };
            let life = Life::start(&mut self.connector, &self.headers).await?;
            self.mark = Mark::now(&life.connection);
            self.life = Some(life);
            self.lives += 1;
            self.asked = 0;
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
        self.asked += 1;
        for step in &case.steps {
            if *step == Step::Restart {
                self.rest().await;
                // What a server does before it is asked anything is the first thing that it does.
                let life = self.life().await?;
                let (traced, strays) = (life.startup.take(), std::mem::take(&mut life.noise));
                steps.push(Taken { traced, strays, ..Taken::unanswered("start", Duration::ZERO) });
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
        let silent = steps.last_mut().filter(|last| last.is_silent());
        if let (Intent::Frame(_), Some(last), false) = (&case.intent, silent, patience.is_brief()) {
            last.parting = self.life().await?.leave().await;
        }
        let mut recording = self.life().await?.finish(steps);
        if fatal {
            self.kill();
            self.leave_out_usual_parting(&mut recording).await?;
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
