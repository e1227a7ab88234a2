//! Lets a few servers start at the same time, the most urgent first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Who comes first where several servers are to be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Urgency {
    /// A whole test waits for it.
    First,
    /// Many calls wait for it, or the proof of something severe.
    #[default]
    Soon,
    /// One case waits for it, or another proof.
    Later,
    /// It can be done without: only while no other server starts.
    Last,
}

#[derive(Debug)]
pub struct Gate {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    at_once: usize,
    free: usize,
    asked: u64,
    waiting: BTreeMap<(Urgency, u64), oneshot::Sender<Turn>>,
}

/// The right to start one server. It goes to the next when it is dropped.
#[derive(Debug)]
pub struct Turn {
    gate: Arc<Gate>,
}

impl Gate {
    pub fn new(at_once: usize) -> Arc<Gate> {
        let state = State { at_once, free: at_once, asked: 0, waiting: BTreeMap::new() };
        Arc::new(Gate { state: Mutex::new(state) })
    }

    /// A turn, as soon as one is free and nobody more urgent waits.
    pub async fn turn(self: &Arc<Self>, urgency: Urgency) -> Turn {
        let given = {
            let mut state = self.state();
            if state.may_start(urgency) {
                state.free -= 1;
                return Turn { gate: self.clone() };
            }
            let (give, given) = oneshot::channel();
            state.asked += 1;
            let place = (urgency, state.asked);
            state.waiting.insert(place, give);
            given
        };
        given.await.expect("the gate is there as long as anybody waits at it")
    }

    /// A turn, where one is free now.
    pub fn try_turn(self: &Arc<Self>) -> Option<Turn> {
        let mut state = self.state();
        state.free = state.free.checked_sub(1)?;
        Some(Turn { gate: self.clone() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A worker that panicked ends the run anyway.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn may_start(&self, urgency: Urgency) -> bool {
        match urgency {
            Urgency::Last => self.free == self.at_once,
            _ => self.free > 0,
        }
    }

    /// The next who may start, whose turn is taken.
    fn next(&mut self) -> Option<oneshot::Sender<Turn>> {
        let (urgency, _) = *self.waiting.first_key_value()?.0;
        if !self.may_start(urgency) {
            return None;
        }
        self.free -= 1;
        self.waiting.pop_first().map(|(_, give)| give)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = {
            let mut state = self.gate.state();
            state.free += 1;
            state.next()
        };
        if let Some(give) = next {
            // Who does not wait any more drops it, and so it goes on.
            let _or_to_the_next = give.send(Turn { gate: self.gate.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_can_be_done_without_starts_only_while_no_other_does() {
        let gate = Gate::new(2);
        let first = gate.turn(Urgency::First).await;
        let last = gate.turn(Urgency::Last);
        tokio::pin!(last);
        tokio::select! {
            biased;
            _ = &mut last => panic!("another server starts"),
            () = std::future::ready(()) => {}
        }
        let second = gate.turn(Urgency::Soon).await;
        drop(first);
        tokio::select! {
            biased;
            _ = &mut last => panic!("another server starts"),
            () = std::future::ready(()) => {}
        }
        drop(second);
        let last = last.await;
        let beside = gate.turn(Urgency::Later).await;
        drop((last, beside));
        assert!(gate.try_turn().is_some());
    }

    #[tokio::test]
    async fn the_most_urgent_comes_first_and_who_went_away_is_passed_over() {
        let gate = Gate::new(1);
        let held = gate.turn(Urgency::Last).await;
        assert!(gate.try_turn().is_none());
        let (last, soon) = (gate.turn(Urgency::Last), gate.turn(Urgency::Soon));
        let gone = Box::pin(gate.turn(Urgency::Soon));
        tokio::pin!(last, soon);
        let mut gone = Some(gone);
        // Each asks before the turn is given back.
        tokio::select! {
            biased;
            _ = gone.as_mut().expect("there") => panic!("the turn is held"),
            _ = &mut last => panic!("the turn is held"),
            _ = &mut soon => panic!("the turn is held"),
            () = std::future::ready(()) => {}
        }
        gone = None;
        assert!(gone.is_none());
        drop(held);
        let turn = soon.await;
        drop(turn);
        last.await;
        assert!(gate.try_turn().is_some());
    }
}
