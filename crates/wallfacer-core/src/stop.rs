//! Tells a session that it has to end now: somebody interrupts it, or it takes longer than it may.

use std::future::Future;
use std::sync::Arc;

use tokio::sync::watch;

/// Held by a session and by whoever may end it. What has been told once stays so.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    told: Told,
    /// Of what this is a part of, and ends with.
    outer: Option<Told>,
}

type Told = Arc<watch::Sender<Option<Reason>>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// By a signal.
    Interrupted,
    /// The session went on beyond its budget.
    Overdue,
}

/// Work that was broken off because it was told to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the run was told to end before the server could be tested")]
pub struct Stopped;

impl Stop {
    /// For a part of the work: it ends with the whole, and may be told to end while the whole goes on.
    pub fn of_a_part(&self) -> Stop {
        Stop { told: Told::default(), outer: Some(Arc::clone(&self.told)) }
    }

    /// The first reason counts.
    pub fn tell(&self, reason: Reason) {
        self.told.send_if_modified(|told| {
            let first = told.is_none();
            *told = told.or(Some(reason));
            first
        });
    }

    pub fn reason(&self) -> Option<Reason> {
        let outer = self.outer.as_ref().and_then(|outer| *outer.borrow());
        outer.or(*self.told.borrow())
    }

    pub fn is_told(&self) -> bool {
        self.reason().is_some()
    }

    /// Why something was left undone, given that the time was up.
    pub fn why(&self) -> &'static str {
        match self.reason() {
            Some(Reason::Interrupted) => "the run was interrupted",
            Some(Reason::Overdue) | None => "the time limit was reached",
        }
    }

    /// Does some work, unless it is told to end before that is done. What is broken off has no result: a server that
    /// did not answer in time is not to be taken for one that hangs.
    pub async fn unless<W: Future>(&self, work: W) -> Result<W::Output, Stopped> {
        tokio::select! {
            biased;
            () = told(&self.told) => Err(Stopped),
            () = told(self.outer.as_ref().unwrap_or(&self.told)) => Err(Stopped),
            done = work => Ok(done),
        }
    }
}

async fn told(by: &Told) {
    let mut told = by.subscribe();
    // The sender is held here, so that it cannot be gone.
    let _told = told.wait_for(Option::is_some).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_that_would_never_end_is_broken_off() {
        let stop = Stop::default();
        assert_eq!(stop.unless(async { 7 }).await, Ok(7));
        let other = stop.clone();
        let (broken_off, ()) = tokio::join!(stop.unless(std::future::pending::<()>()), async {
            other.tell(Reason::Interrupted);
        });
        assert_eq!(broken_off, Err(Stopped));
        assert_eq!(stop.unless(async { 7 }).await, Err(Stopped), "nothing is begun any more");
    }

    #[tokio::test]
    async fn a_part_ends_with_the_whole_and_not_the_other_way_round() {
        let whole = Stop::default();
        let (one, other) = (whole.of_a_part(), whole.of_a_part());
        one.tell(Reason::Overdue);
        assert_eq!(one.unless(async { 7 }).await, Err(Stopped));
        assert_eq!(other.unless(async { 7 }).await, Ok(7));
        assert!(!whole.is_told());
        whole.tell(Reason::Interrupted);
        assert_eq!(other.unless(std::future::pending::<()>()).await, Err(Stopped));
        assert_eq!(one.reason(), Some(Reason::Interrupted), "what ends the whole is told of its parts");
    }

    #[test]
    fn the_first_reason_counts() {
        let stop = Stop::default();
        stop.tell(Reason::Overdue);
        stop.tell(Reason::Interrupted);
        assert_eq!(stop.reason(), Some(Reason::Overdue));
    }
}
