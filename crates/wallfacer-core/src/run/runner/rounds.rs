//! Acts as several clients at once: the calls of one round are all sent before any answer is waited for.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::Runner;
use crate::plan::{Ask, Schedule};
use crate::run::held_up::HeldUp;
use crate::run::history::{Asked, History, Refused};
use crate::run::life::Life;
use crate::run::patience::Patience;
use crate::run::recording::{Mark, Taken};
use crate::wire::{Closed, ConnectError, Connection, Happening, Ticket};

/// A stored schedule cannot ask for more clients than this, nor for more calls.
const MAX_CLIENTS: usize = 64;
const MAX_CALLS: usize = 20_000;
/// How often it is looked whether the server may work at all.
const LOOK_EVERY: Duration = Duration::from_millis(400);
/// The time that the machine took from a server is given back to it up to so many times its limit.
const MOST_TIMES: u32 = 4;
/// No answer of a round is waited for longer than this after the one before.
const MOST_FOR_ONE: Duration = Duration::from_secs(120);
/// Who answers several calls after each other may take this much longer for all of them than for one.
const MOST_FOR_ALL: u32 = 12;

impl Runner {
    /// Performs a schedule on the server at hand, with further clients beside it.
    pub(super) async fn act(
        &mut self,
        schedule: &Schedule,
        patience: &Patience,
    ) -> Result<Taken, ConnectError> {
        let started = Instant::now();
        let mut history = History::default();
        let clients = schedule.clients().clamp(1, MAX_CLIENTS);
        self.life().await?;
        while history.refused.is_none() && self.others.len() + 1 < clients {
            let client = self.others.len() + 1;
            match self.open_other().await {
                Ok(life) => self.others.push(life),
                // A server that starts alone and not beside another turns the second away.
                Err(error) => {
                    let (status, why) = (error.status(), error.to_string());
                    history.refused = Some(Refused { client, status, why });
                }
            }
        }
        let mut lives: Vec<&mut Life> = self.life.iter_mut().chain(&mut self.others).collect();
        let mark = lives.first().map(|life| Mark::now(&life.connection)).unwrap_or_default();
        for life in &mut lives {
            let _earlier = life.connection.take_strays();
        }
        let mut left = MAX_CALLS;
        let rounds = if history.refused.is_none() { &schedule.rounds[..] } else { &[] };
        for (round, asks) in rounds.iter().enumerate() {
            let asks = &asks[..asks.len().min(left)];
            left -= asks.len();
            let over = perform(&mut lives, round, asks, patience, started, &mut history).await;
            if over {
                break;
            }
        }
        let silent = history.asked.iter().any(Asked::is_silent);
        let closed = history.asked.iter().find_map(|asked| asked.closed.clone());
        if silent && closed.is_none() {
            let probe = lives[0].probe(patience);
            let answered = crate::run::execute(&mut lives[0].connection, &probe).await;
            history.still_answers = Some(!answered.is_fatal());
        }
        let mut taken = Taken { closed, ..Taken::unanswered("rounds", started.elapsed()) };
        for (index, life) in lives.into_iter().enumerate() {
            taken.strays.add_all(life.connection.take_strays());
            if index == 0 {
                taken.notices = mark.notices(&life.connection);
            }
        }
        taken.history = Some(Box::new(history));
        Ok(taken)
    }

    /// A further client: a session of its own with a server that listens, another process of one that does not.
    pub(super) async fn open_other(&mut self) -> Result<Life, ConnectError> {
        let first = self.life.as_ref().map(|life| &life.connection);
        Life::start_beside(&mut self.connector, &self.headers, first).await
    }
}

impl Asked {
    /// No answer came, and the server was there.
    pub fn is_silent(&self) -> bool {
        self.outcome.is_none() && self.closed.is_none()
    }
}

/// Performs one round; whether nothing can follow.
async fn perform(
    lives: &mut [&mut Life],
    round: usize,
    asks: &[Ask],
    patience: &Patience,
    started: Instant,
    history: &mut History,
) -> bool {
    let next = lives.iter().map(|life| life.connection.next_id()).max().unwrap_or_default();
    lives.iter_mut().for_each(|life| life.connection.count_from(next));
    let mut sent: Vec<Vec<Sent>> = lives.iter().map(|_| Vec::new()).collect();
    let mut limit = Duration::ZERO;
    // Where calls are dealt with all at the same time, the first may be answered as late as the last.
    let took = history.asked.iter().filter_map(|asked| Some(asked.answered?.saturating_sub(asked.asked)));
    let for_all = took.max().unwrap_or_default() * 2 * u32::try_from(asks.len()).unwrap_or(u32::MAX);
    let mut places: Vec<(usize, &Ask)> = asks.iter().enumerate().collect();
    // The first of each client, then the second of each: clients that count their requests alike use the same ids at the
    // same time.
    places.sort_by_key(|(place, ask)| {
        (asks[..*place].iter().filter(|before| before.client == ask.client).count(), *place)
    });
    for (place, ask) in places {
        let client = ask.client.min(lives.len() - 1);
        limit = limit.max(patience.for_request(&ask.method, &ask.params));
        let ticket = lives[client].connection.request(&ask.method, Some(&ask.params));
        sent[client].push(Sent { place, ticket, asked: started.elapsed() });
    }
    limit = limit.saturating_add(for_all).min(MOST_FOR_ONE);
    let waiting = lives
        .iter_mut()
        .zip(sent)
        .filter(|(_, sent)| !sent.is_empty())
        .map(|(life, sent)| wait(&mut life.connection, sent, round, limit, started));
    let mut done = Vec::new();
    for waited in join_all(waiting).await {
        history.kept_waiting = history.kept_waiting.max(waited.kept_waiting);
        history.waited = history.waited.max(waited.in_vain);
        history.cut_short |= waited.cut_short;
        done.extend(waited.asked);
    }
    done.sort_by_key(|asked: &Asked| asked.place);
    let over = done.iter().any(|asked| asked.outcome.is_none());
    history.asked.extend(done);
    over
}

/// What came of waiting for the answers of one client.
struct Waited {
    asked: Vec<Asked>,
    kept_waiting: Duration,
    in_vain: Duration,
    cut_short: bool,
}

struct Sent {
    place: usize,
    ticket: Ticket,
    asked: Duration,
}

/// Waits for all answers of one client: as long as they keep coming, each may take its time.
async fn wait(
    connection: &mut Connection,
    mut sent: Vec<Sent>,
    round: usize,
    limit: Duration,
    started: Instant,
) -> Waited {
    let begun = Instant::now();
    let most = begun + limit * MOST_FOR_ALL;
    let mut last = begun;
    let mut held = HeldUp::since_now(connection.process());
    let mut done = Vec::new();
    let mut closed: Option<Closed> = None;
    while !sent.is_empty() {
        let now = Instant::now();
        let due = last + (limit + held.time()).min(limit * MOST_TIMES);
        if now >= due || now >= most {
            break;
        }
        match connection.next(due.min(now + LOOK_EVERY)).await {
            Happening::Answered(answered) => {
                last = Instant::now();
                let Some(index) = sent.iter().position(|sent| sent.ticket == answered.ticket) else {
                    continue;
                };
                let Sent { place, asked, .. } = sent.remove(index);
                let outcome = Some(answered.outcome);
                let answered = Some(started.elapsed());
                done.push(Asked { round, place, asked, answered, outcome, closed: None });
            }
            Happening::Closed(gone) => {
                closed = Some(gone);
                break;
            }
            Happening::Deadline => held.look(connection.process()),
        }
    }
    let (kept_waiting, in_vain) = (held.time(), last.elapsed());
    let cut_short = !sent.is_empty() && closed.is_none() && in_vain < limit;
    for Sent { place, ticket, asked } in sent {
        if closed.is_none() {
            connection.cancel(ticket);
        }
        done.push(Asked { round, place, asked, answered: None, outcome: None, closed: closed.clone() });
    }
    Waited { asked: done, kept_waiting, in_vain, cut_short }
}
