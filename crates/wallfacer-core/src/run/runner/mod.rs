//! Runs cases on as few server processes as it takes. With several calls in flight a death or a silence is not blamed
//! on anyone: the calls in question are made again, one by one, on a fresh server.

mod blame;
mod disturb;
mod elsewhere;
mod parting;
mod reuse;
mod rounds;
mod sweep;

use std::sync::Arc;
use std::time::{Duration, Instant};

use http::header::HeaderValue;
use wallfacer_process::{Process, Status, Stderr};

use super::gate::{Gate, Turn, Urgency};
use super::ledger::{Ledger, Start};
use super::life::Life;
use super::patience::Patience;
use super::recording::{Mark, Recording, Taken};
use super::reserve::Reserve;
use crate::catalogue::Catalogue;
use crate::plan::{Case, Intent, Step};
use crate::wire::{ConnectError, Connector, Farewell, HeaderParams};
use crate::world::Carried;

pub use blame::LATE_DEATH_MS;
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
    /// Further clients beside it.
    others: Vec<Life>,
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
    /// Where it waits for its turn to start a server, where others start some too.
    gate: Option<Arc<Gate>>,
    urgency: Urgency,
    /// The turn that it has already.
    turn: Option<Turn>,
    /// Servers that are started ahead.
    reserve: Option<Arc<Reserve>>,
    /// Whether it will need a fresh server after this one.
    needs_more: bool,
    /// Servers that have been told to leave while the next one starts, where they cannot meet.
    leaving: Vec<Life>,
    apart: bool,
    /// What is counted together with what others do.
    ledger: Arc<Ledger>,
    /// What its servers are started for, in words.
    purpose: String,
    /// What the server at hand found on its disk, where it was started again with it.
    carried: Carried,
    /// Whether the disk of its servers is to be filled.
    small_disk: bool,
    /// Whether a second process of its servers may be had beside them, with the same files.
    second: bool,
    /// The session of the server before that one.
    former_session: Option<HeaderValue>,
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
            others: Vec::new(),
            mark: Mark::default(),
            vain_hunts: 0,
            usual_end: None,
            lives: 0,
            asked: 0,
            gate: None,
            urgency: Urgency::default(),
            turn: None,
            reserve: None,
            needs_more: false,
            leaving: Vec::new(),
            apart: false,
            ledger: Arc::default(),
            purpose: String::new(),
            carried: Carried::default(),
            small_disk: false,
            second: false,
            former_session: None,
        }
    }

    /// The same; it starts its servers when it is its turn.
    pub fn taking_turns(self, gate: Arc<Gate>) -> Runner {
        Runner { gate: Some(gate), ..self }
    }

    /// The same; it has its first turn already.
    pub fn with_turn(self, turn: Option<Turn>) -> Runner {
        Runner { turn, ..self }
    }

    /// The same; it takes servers from there where some are ready.
    pub fn supplied_by(self, reserve: Arc<Reserve>) -> Runner {
        Runner { reserve: Some(reserve), ..self }
    }

    /// The same; each of its servers will be followed by another, which may be started ahead.
    pub fn needing_more(self) -> Runner {
        Runner { needs_more: true, ..self }
    }

    /// What must stand in the headers of its calls.
    pub fn headers(&self) -> &HeaderParams {
        &self.headers
    }

    /// The same; its servers never meet, so that one may leave while the next one starts.
    pub fn in_worlds_apart(self) -> Runner {
        Runner { apart: true, ..self }
    }

    /// The same; what it does is counted there.
    pub fn counting(self, ledger: Arc<Ledger>) -> Runner {
        Runner { ledger, ..self }
    }

    /// Says what servers are started for from now on.
    pub fn start_for(&mut self, purpose: String, urgency: Urgency) {
        (self.purpose, self.urgency) = (purpose, urgency);
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
        let lives: Vec<Life> = self.others.drain(..).chain(self.life.take()).collect();
        if self.apart {
            self.leaving.extend(lives);
            return;
        }
        for life in lives {
            self.connector.dismiss(life.connection, GRACE).await;
        }
    }

    /// Ends all servers, and waits until they are gone.
    pub async fn leave(&mut self) {
        self.rest().await;
        let leaving = std::mem::take(&mut self.leaving);
        farewell(&self.connector, leaving).await;
    }

    /// Starts a server, while earlier ones leave; one that takes longer than the start is made to.
    async fn start(&mut self) -> Result<Life, ConnectError> {
        let leaving = std::mem::take(&mut self.leaving);
        let connector = self.connector.clone();
        // Boxed, for every call that may have to start a server would be as large as these.
        let mut leaving = Box::pin(farewell(&connector, leaving));
        let mut starting = Box::pin(Life::start(&mut self.connector, &self.headers));
        tokio::select! {
            started = &mut starting => started,
            () = &mut leaving => starting.await,
        }
    }

    /// A fresh server: one that was started ahead, or else its own when it is its turn.
    async fn fresh(&mut self) -> Result<Life, ConnectError> {
        let begun = Instant::now();
        let held = self.turn.take();
        let ahead = async {
            match &self.reserve {
                Some(reserve) => reserve.arrival().await,
                None => std::future::pending().await,
            }
        };
        let turn = async {
            if held.is_some() {
                return held;
            }
            if let Some(reserve) = &self.reserve {
                reserve.while_one_comes().await;
            }
            match &self.gate {
                Some(gate) => Some(gate.turn(self.urgency).await),
                None => None,
            }
        };
        let _turn = tokio::select! {
            biased;
            mut life = ahead => {
                if life.connection.attach().is_ok() {
                    // There is no start during which they could take their time.
                    self.leaving.clear();
                    self.start_next();
                    return Ok(life);
                }
                None
            }
            turn = turn => turn,
        };
        let waited = begun.elapsed();
        self.start_next();
        let life = self.start().await?;
        let (purpose, took) = (self.purpose.clone(), begun.elapsed() - waited);
        self.ledger.add_start(Start { purpose, waited, took });
        Ok(life)
    }

    fn start_next(&self) {
        if let Some(reserve) = self.reserve.as_ref().filter(|_| self.needs_more) {
            reserve.start_ahead();
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
        if self.others.is_empty() {
            let other = self.open_other().await?;
            self.others.push(other);
        }
        Ok(&mut self.others[0])
    }

    /// The end of what the servers at hand wrote to stderr, where they are ours.
    pub fn last_words(&self) -> Option<Stderr> {
        let lives = self.others.iter().chain(&self.life);
        let said = lives.filter_map(|life| life.connection.process().map(Process::stderr));
        said.max_by_key(|said| said.tail.len())
    }

    /// The current life, started where there is none.
    pub async fn life(&mut self) -> Result<&mut Life, ConnectError> {
        if self.life.is_none() {
            let life = self.fresh().await?;
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
        let with_grace = case.has_silent_service().then(|| patience.with_grace());
        let patience = with_grace.as_ref().unwrap_or(patience);
        // Who begins with a fresh server gets one at once, not a second one after the first.
        let begins_anew = case.prelude.is_empty() && case.steps.first() == Some(&Step::Restart);
        let spoils = case.steps.iter().any(Step::spoils);
        self.small_disk = case.fills_disk();
        self.second = case.takes_processes() && self.connector.target().reach.endpoint().is_none();
        let of_its_own = self.small_disk || self.second && self.others.is_empty();
        if begins_anew || spoils || of_its_own {
            self.rest().await;
            self.carried = Carried::default();
            self.former_session = None;
        }
        if of_its_own {
            self.start_for_case().await?;
        }
        if !self.prepare(case).await? {
            return Ok(Recording { steps, stderr: None });
        }
        self.life().await?.forget_what_is_undone_by(case);
        self.asked += 1;
        for row in case.rows() {
            if *row == [Step::Restart] {
                if !(begins_anew && steps.is_empty()) {
                    self.rest().await;
                }
                // What a server does before it is asked anything is the first thing that it does.
                let life = self.life().await?;
                let (traced, strays) = (life.startup.take(), std::mem::take(&mut life.noise));
                steps.push(Taken { traced, strays, ..Taken::unanswered("start", Duration::ZERO) });
                continue;
            }
            let taken = match row {
                [Step::Rounds(schedule)] => vec![self.act(schedule, patience).await?],
                [Step::Disturb(disturbance)] => vec![self.disturb(disturbance, patience).await?],
                row => self.life().await?.take_row(row, patience).await,
            };
            let fatal = taken.iter().any(|taken| taken.is_fatal() || taken.is_the_end());
            self.ledger.add_calls(taken.len() as u64);
            steps.extend(taken);
            if fatal {
                break;
            }
        }
        if case.is_disturbed() && self.life.is_none() {
            // It could not be started again.
            return Ok(Recording { steps, stderr: None });
        }
        if case.is_disturbed() && !spoils {
            self.life().await?.calm();
        }
        let fatal = steps.iter().any(Taken::is_fatal);
        let silent = steps.last_mut().filter(|last| last.is_silent());
        if let (Intent::Frame(_), Some(last), false) = (&case.intent, silent, patience.is_brief()) {
            last.parting = self.life().await?.leave().await;
        }
        let mut recording = self.life().await?.finish(steps);
        if spoils && !fatal {
            self.rest().await;
        }
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
            let filled = life.filled(params);
            life.connection.request(method, Some(&filled));
        }
        let wedged = life.take(&Step::Probe, &patience).await.is_fatal();
        self.kill();
        Ok(wedged)
    }

    /// Ends a server that is gone or stuck; waiting for it politely would be in vain.
    fn kill(&mut self) {
        self.life = None;
        self.others.clear();
    }
}

/// Says goodbye to servers, one after another.
async fn farewell(connector: &Connector, leaving: Vec<Life>) {
    for life in leaving {
        connector.dismiss(life.connection, GRACE).await;
    }
}
