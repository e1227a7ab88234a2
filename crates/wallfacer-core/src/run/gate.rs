//! Lets a few servers start at the same time, the most urgent first.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Who comes first where several servers are to be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Urgency {
    /// Many calls wait for it, or a proof.
    #[default]
    Soon,
    /// One case waits for it.
    Later,
    /// It can be done without.
    Last,
}

#[derive(Debug)]
pub struct Gate {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
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
        let state = State { free: at_once, asked: 0, waiting: BTreeMap::new() };
        Arc::new(Gate { state: Mutex::new(state) })
    }

    /// A turn, as soon as one is free and nobody more urgent waits.
    pub async fn turn(self: &Arc<Self>, urgency: Urgency) -> Turn {
        let given = {
            let mut state = self.state();
            if state.free > 0 {
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

impl Drop for Turn {
    fn drop(&mut self) {
        let next = {
            let mut state = self.gate.state();
            let next = state.waiting.pop_first();
            state.free += usize::from(next.is_none());
            next
        };
        if let Some((_, give)) = next {
            // Who does not wait any more drops it, and so it goes on.
            let _or_to_the_next = give.send(Turn { gate: self.gate.clone() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
