//! Several requests in flight together: sent one behind another without waiting, then all their answers are awaited.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::time::Instant;

use super::aftermath::Aftermath;
use super::call::{Call, LOOK_EVERY, MOST_TIMES};
use super::held_up::HeldUp;
use super::recording::{Mark, Taken};
use crate::wire::{Connection, Happening, Ticket};

/// A stored case cannot have more requests in flight than this: the others are sent when these are answered.
const MOST_IN_FLIGHT: usize = 256;

/// Makes the calls on a connection that has no other in flight; what became of each, in their order.
pub async fn execute_together(connection: &mut Connection, calls: &[Call]) -> Vec<Taken> {
    let mut taken: Vec<Taken> = Vec::new();
    for row in calls.chunks(MOST_IN_FLIGHT) {
        let row = execute_row(connection, row, Duration::ZERO).await;
        let over = row.iter().any(Taken::is_fatal);
        taken.extend(row);
        if over {
            break;
        }
    }
    taken
}

/// Makes the calls and reads nothing for a while, then all answers; how many never came.
pub async fn execute_unread(connection: &mut Connection, calls: &[Call], pause: Duration) -> Taken {
    let started = Instant::now();
    let mut taken = execute_row(connection, calls, pause).await;
    let unanswered = taken.iter().filter(|each| each.is_silent()).count();
    let kept_waiting = taken.iter().map(|each| each.kept_waiting).max().unwrap_or_default();
    let closed = taken.iter_mut().find_map(|each| each.closed.take());
    let strays = taken.pop().map(|last| last.strays).unwrap_or_default();
    let aftermath = Some(Box::new(Aftermath { unanswered, ..Aftermath::default() }));
    let plain = Taken::unanswered("calls that nobody reads", started.elapsed());
    Taken { closed, strays, kept_waiting, aftermath, ..plain }
}

/// A server that works through the calls one by one is slow, not silent: it is given up once nothing at all has come for as
/// long as one call may take.
async fn execute_row(connection: &mut Connection, calls: &[Call], pause: Duration) -> Vec<Taken> {
    let _earlier = connection.take_strays();
    let mark = Mark::now(connection);
    let started = Instant::now();
    let send = |(place, call): (usize, &Call)| (connection.request(&call.method, Some(&call.params)), place);
    let mut open: BTreeMap<Ticket, usize> = calls.iter().enumerate().map(send).collect();
    let limit = calls.iter().map(|call| call.timeout).max().unwrap_or_default();
    let mut taken: Vec<Option<Taken>> = calls.iter().map(|_| None).collect();
    if !pause.is_zero() {
        connection.write_only(started + pause).await;
    }
    let mut last_answer = Instant::now();
    let mut held = HeldUp::since_now(connection.process());
    let mut kept_waiting = Duration::ZERO;
    while !open.is_empty() {
        let now = Instant::now();
        let due = last_answer + (limit + held.time()).min(limit * MOST_TIMES);
        if now >= due {
            kept_waiting = held.time();
            break;
        }
        match connection.next(due.min(now + LOOK_EVERY)).await {
            Happening::Answered(answered) => {
                let Some(place) = open.remove(&answered.ticket) else { continue };
                last_answer = Instant::now();
                held = HeldUp::since_now(connection.process());
                let (method, took) = (&calls[place].method, started.elapsed());
                taken[place] = Some(Taken::awaited(method, Happening::Answered(answered), took));
            }
            Happening::Closed(closed) => {
                for place in std::mem::take(&mut open).into_values() {
                    let (method, took) = (&calls[place].method, started.elapsed());
                    taken[place] = Some(Taken::awaited(method, Happening::Closed(closed.clone()), took));
                }
            }
            Happening::Deadline => held.look(connection.process()),
        }
    }
    for (ticket, place) in open {
        connection.cancel(ticket);
        let silent = Taken::awaited(&calls[place].method, Happening::Deadline, last_answer.elapsed());
        taken[place] = Some(Taken { kept_waiting, ..silent });
    }
    let mut taken: Vec<Taken> = taken.into_iter().flatten().collect();
    // Whose it is what came besides, nobody can tell.
    if let Some(last) = taken.pop() {
        taken.push(last.with_company(connection, mark));
    }
    taken
}
