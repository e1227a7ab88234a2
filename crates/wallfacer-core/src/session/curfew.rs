//! A budget in, when a round has to end out: earlier once something is suspected, for that has to be seen again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// The end of a round, which all of its workers look at.
#[derive(Debug)]
pub struct Curfew {
    /// While nothing is suspected.
    late: Instant,
    early: Instant,
    suspected: AtomicBool,
}

impl Curfew {
    pub fn new(late: Instant, early: Instant, suspected: bool) -> Curfew {
        Curfew { late, early, suspected: AtomicBool::new(suspected) }
    }

    /// The same, but no later than this.
    pub fn at_latest(self, instant: Instant) -> Curfew {
        Curfew { late: self.late.min(instant), early: self.early.min(instant), ..self }
    }

    /// When it ends at the latest.
    pub fn latest(&self) -> Instant {
        self.late
    }

    pub fn suspect(&self) {
        self.suspected.store(true, Ordering::Relaxed);
    }

    pub fn is_over(&self) -> bool {
        let end = if self.suspected.load(Ordering::Relaxed) { self.early } else { self.late };
        Instant::now() >= end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_suspected_ends_a_round_early() {
        let now = Instant::now();
        let curfew = Curfew::new(now + Duration::from_secs(600), now, false);
        assert!(!curfew.is_over());
        curfew.suspect();
        assert!(curfew.is_over());
    }

    #[test]
    fn a_round_ends_no_later_than_it_may() {
        let now = Instant::now();
        let later = now + Duration::from_secs(600);
        assert!(Curfew::new(later, later, false).at_latest(now).is_over());
    }
}
