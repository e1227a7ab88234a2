//! Runs many cases with as many calls in flight as is wanted, and gives the recording of each.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use tokio::time::Instant;

use super::Runner;
use super::blame::{explains_silence, is_death};
use crate::plan::Case;
use crate::run::held_up::HeldUp;
use crate::run::patience::Patience;
use crate::run::recording::{Mark, Recording, Taken};
use crate::wire::{Answered, Closed, ConnectError, Happening, Outcome, Ticket};

/// Finished calls that are suspected too when a server dies and no call in flight explains it.
const MEMORY: usize = 128;
/// More cases than this are not waited behind: what kills late comes up among the others too.
const MANY_CASES: usize = 200;
/// Cases that are performed again, alone, because something came astray while they had company.
const MAX_DOUBTFUL: usize = 256;

/// Says which cases are still wanted, and takes what came of them.
pub trait Foreman {
    fn wants(&mut self, index: usize, case: &Case) -> bool;

    /// Whether every call has all of its time, because its silence is nobody's suspicion.
    fn is_patient(&self) -> bool;

    /// Whether there is no time for anything more.
    fn is_over(&self) -> bool;

    /// A call was given up because of that.
    fn cut_short(&mut self);

    /// How long a call is waited for before it is set aside.
    fn patience(&self, whole: &Patience) -> Patience;

    /// The others go on without this call, which was not answered so far; `company` are the calls that were in flight beside
    /// it.
    fn set_aside(&mut self, index: usize, company: Vec<usize>);

    /// A call that worked, and is to be made again alone because the server may be spoiled. `last` where all is answered.
    fn doubt(&mut self, _last: bool) -> Option<Case> {
        None
    }

    /// What came of that call. Gives the cases that are to be performed again where the server is spoiled.
    fn settle(&mut self, _looks: &[Recording]) -> Option<Vec<usize>> {
        None
    }

    /// All is answered, and it is only waited whether the server outlives that.
    fn lingers(&mut self) {}

    /// Whether what came in company may belong to another call than the one it came with.
    fn doubts(&self, recording: &Recording) -> bool;

    /// Whether it must be known what the call asked the network for, which is seen only of a call that is made alone.
    fn wants_alone(&self, case: &Case, recording: &Recording) -> bool;

    /// The case is the one of that place, or, where a server died behind its answer, the same with a probe added.
    fn take(&mut self, index: usize, case: &Case, recording: Recording);
}

/// A server that went away, though none of the calls that it had makes it do so alone.
#[derive(Debug)]
pub struct Unexplained {
    /// The cases in flight or just finished, by their place in the list.
    pub suspects: Vec<usize>,
    /// How it ended, as a call sees it that waits in vain.
    pub death: Recording,
    /// Whether all was answered before.
    pub late: bool,
}

/// A call in flight.
#[derive(Debug)]
struct Flight {
    index: usize,
    sent: Instant,
    /// When it is looked at again.
    due: Instant,
}

/// How often a call that worked is made again to see whether the server is spoiled.
const CHECK_UPS: usize = 2;

/// Looks at a call that is not answered before it is set aside, each after the brief time: a busy machine is no silence.
const MOST_LOOKS: u32 = 6;

impl Runner {
    /// Performs many cases, each at most once, handing over each recording under its case's place in the list.
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
        let mut last_answer = Instant::now();
        let mut held: Option<HeldUp> = None;
        let mut looks = 0;
        let watched = self.connector.world().is_watched();
        loop {
            let all_answered = waiting.is_empty() && flights.is_empty();
            if flights.is_empty()
                && let Some(call) = foreman.doubt(all_answered)
            {
                if let Some(again) = self.check_up(&call, foreman).await? {
                    again.iter().rev().for_each(|index| waiting.push_front(*index));
                    finished.clear();
                    in_flight = 1;
                }
                continue;
            }
            if all_answered {
                break;
            }
            while waiting.front().is_some_and(|index| !foreman.wants(*index, &cases[*index])) {
                waiting.pop_front();
            }
            // A script of several steps, or with raw frames, needs the server for itself; and so does every call where what
            // it does is watched, or where one silence must not be taken for another.
            let lone = watched || in_flight == 1 && foreman.is_patient();
            let alone = waiting.front().is_some_and(|index| lone || cases[*index].single_call().is_none());
            if alone && flights.is_empty() {
                let index = waiting.pop_front().expect("just seen");
                self.perform_again(cases, index, &mut finished, foreman).await?;
                continue;
            }
            if foreman.doubt(false).is_none() {
                self.fill(cases, in_flight, &mut waiting, &mut flights, foreman).await?;
            }
            if flights.is_empty() {
                continue;
            }
            match self.land(&flights).await? {
                Happening::Answered(answered) => {
                    last_answer = Instant::now();
                    (held, looks) = (None, 0);
                    let Some(flight) = flights.remove(&answered.ticket) else { continue };
                    self.ledger.add_calls(1);
                    remember(&mut finished, flight.index);
                    let recording = self.recording(&cases[flight.index], answered);
                    // With company, what came astray may belong to any of them.
                    if !flights.is_empty() && foreman.doubts(&recording) {
                        doubtful.insert(flight.index);
                        doubtful.extend(flights.values().map(|flight| flight.index));
                    }
                    if self.has_sink() && foreman.wants_alone(&cases[flight.index], &recording) {
                        doubtful.insert(flight.index);
                    }
                    foreman.take(flight.index, &cases[flight.index], recording);
                }
                Happening::Deadline if foreman.is_patient() => {
                    self.let_go(cases, last_answer, &mut flights, foreman);
                }
                Happening::Deadline => {
                    let process = self.life.as_ref().and_then(|life| life.connection.process());
                    let kept_waiting = held.get_or_insert_with(|| HeldUp::since_now(process));
                    kept_waiting.look(process);
                    let look = foreman.patience(&self.patience).plain() / 2;
                    looks += 1;
                    // Twice at least; more often where the machine kept the server from working meanwhile.
                    if looks < 2 || looks < MOST_LOOKS && kept_waiting.time() * 2 > look * (looks - 1) {
                        let now = Instant::now();
                        let late = flights.values_mut().filter(|flight| flight.due <= now);
                        late.for_each(|flight| flight.due = now + look);
                        continue;
                    }
                    (held, looks) = (None, 0);
                    let stuck = self.set_aside(last_answer, &mut flights, &mut waiting, foreman);
                    if stuck {
                        finished.clear();
                        // What only company does would come again and again.
                        in_flight = 1;
                        last_answer = Instant::now();
                    }
                }
                Happening::Closed(closed) => {
                    let death = self.death(closed.clone());
                    self.kill();
                    let suspects: Vec<usize> =
                        std::mem::take(&mut flights).into_values().map(|flight| flight.index).collect();
                    let earlier = std::mem::take(&mut finished);
                    let blamed = self.blame(cases, &suspects, &earlier, &mut finished, foreman).await?;
                    if !blamed && let Some(death) = death {
                        let late = suspects.is_empty();
                        let suspects = if late { earlier.into() } else { suspects };
                        unexplained.push(Unexplained { suspects, death, late });
                        in_flight = 1;
                    }
                }
            }
        }
        if cases.len() <= MANY_CASES {
            foreman.lingers();
        }
        if cases.len() <= MANY_CASES
            && let Some(death) = self.died_late().await
            && !self.blame_late(cases, &finished, foreman).await?
        {
            let suspects = finished.iter().copied().collect();
            unexplained.push(Unexplained { suspects, death, late: true });
        }
        finished.clear();
        for index in doubtful.into_iter().take(MAX_DOUBTFUL) {
            self.perform_again(cases, index, &mut finished, foreman).await?;
        }
        Ok(unexplained)
    }

    /// The others go on without calls that are not answered. Where nothing at all was answered since the oldest of them was
    /// sent, the server is stuck: that one is set aside, and the others are sent again, to a fresh server. True where it
    /// was so.
    fn set_aside(
        &mut self,
        last_answer: Instant,
        flights: &mut BTreeMap<Ticket, Flight>,
        waiting: &mut VecDeque<usize>,
        foreman: &mut dyn Foreman,
    ) -> bool {
        let now = Instant::now();
        let overdue = flights.iter().filter(|(_, flight)| flight.due <= now);
        let overdue: Vec<(Ticket, usize)> = overdue.map(|(ticket, flight)| (*ticket, flight.index)).collect();
        let Some(oldest) = flights.values().min_by_key(|flight| (flight.sent, flight.index)) else {
            return false;
        };
        if last_answer > oldest.sent {
            let all: Vec<usize> = flights.values().map(|flight| flight.index).collect();
            for (ticket, index) in overdue {
                flights.remove(&ticket);
                if let Some(life) = &mut self.life {
                    life.connection.cancel(ticket);
                }
                foreman.set_aside(index, all.iter().copied().filter(|other| *other != index).collect());
            }
            return false;
        }
        let oldest = oldest.index;
        let mut others: Vec<usize> =
            std::mem::take(flights).into_values().map(|flight| flight.index).collect();
        others.retain(|index| *index != oldest);
        others.sort_unstable();
        others.iter().rev().for_each(|index| waiting.push_front(*index));
        foreman.set_aside(oldest, others);
        self.kill();
        true
    }

    /// Makes a call that worked again, alone. Gives the cases that are to be performed again where it does not work any more;
    /// the server is not used again then.
    async fn check_up(
        &mut self,
        call: &Case,
        foreman: &mut dyn Foreman,
    ) -> Result<Option<Vec<usize>>, ConnectError> {
        let patience = self.patience.brief();
        let mut looks = Vec::new();
        for _ in 0..CHECK_UPS {
            looks.push(self.perform(call, &patience).await?);
        }
        let again = foreman.settle(&looks);
        if again.is_some() {
            self.kill();
        }
        Ok(again)
    }

    fn has_sink(&self) -> bool {
        self.life.as_ref().is_some_and(|life| life.connection.standing().observed.network)
    }

    /// The end of the current server, as a call sees it that waits in vain.
    pub(super) fn death(&self, closed: Closed) -> Option<Recording> {
        let gone = Taken::awaited("tools/call", Happening::Closed(closed), Duration::ZERO);
        self.life.as_ref().map(|life| life.finish(vec![gone]))
    }

    /// Performs a case alone, behind others that the same server was asked. A server that ends meanwhile may do so because
    /// of one of those, so a fresh one is asked too. True when something was seen to end or silence the server.
    pub(super) async fn perform_again(
        &mut self,
        cases: &[Case],
        index: usize,
        before: &mut VecDeque<usize>,
        foreman: &mut dyn Foreman,
    ) -> Result<bool, ConnectError> {
        let case = &cases[index];
        let patience = foreman.patience(&self.patience);
        let mut recording = self.perform(case, &patience).await?;
        if patience.is_brief() && recording.steps.iter().any(Taken::is_silent) {
            before.clear();
            foreman.set_aside(index, Vec::new());
            return Ok(false);
        }
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

    /// Gives up the calls that have waited too long, as was to be expected of them. A server that does one after another
    /// comes to the last of them late: as long as answers keep coming, each may take its time from the last one on. Where
    /// there is no time for that, nothing is known of it.
    fn let_go(
        &mut self,
        cases: &[Case],
        last_answer: Instant,
        flights: &mut BTreeMap<Ticket, Flight>,
        foreman: &mut dyn Foreman,
    ) {
        let now = Instant::now();
        let mut overdue = Vec::new();
        for (ticket, flight) in flights.iter_mut().filter(|(_, flight)| flight.due <= now) {
            let (method, params) =
                cases[flight.index].single_call().expect("only single calls are in flight");
            let time = self.patience.for_request(method, params);
            let due = flight.sent.max(last_answer) + time;
            match now < due && !foreman.is_over() {
                true => flight.due = due,
                false => overdue.push((*ticket, flight.index, method, time, now >= due)),
            }
        }
        for (ticket, index, method, took, silent) in overdue {
            flights.remove(&ticket);
            if let Some(life) = &mut self.life {
                life.connection.cancel(ticket);
            }
            if !silent {
                foreman.cut_short();
                continue;
            }
            let silent = Taken { awaited: true, ..Taken::unanswered(method, took) };
            foreman.take(index, &cases[index], Recording { steps: vec![silent], stderr: None });
        }
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
            let filled = life.filled(params);
            let ticket = life.connection.request(method, Some(&filled));
            let sent = Instant::now();
            let time = match foreman.is_patient() {
                true => patience.for_request(method, params),
                false => foreman.patience(&patience).for_request(method, params) / 2,
            };
            flights.insert(ticket, Flight { index, sent, due: sent + time });
        }
        Ok(())
    }

    /// Waits until a call is answered, the server is gone, or a call has waited too long.
    async fn land(&mut self, flights: &BTreeMap<Ticket, Flight>) -> Result<Happening, ConnectError> {
        let Some(deadline) = flights.values().map(|flight| flight.due).min() else {
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
}

fn remember(finished: &mut VecDeque<usize>, index: usize) {
    if finished.len() == MEMORY {
        finished.pop_front();
    }
    finished.push_back(index);
}
