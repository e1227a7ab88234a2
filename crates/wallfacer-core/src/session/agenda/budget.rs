//! Says when nothing new is tried any more, and when nothing is proven any more.

use std::time::{Duration, Instant};

/// Part of the budget in which nothing new is tried, so that what comes up last can still be proven.
const KEPT_FOR_PROOF: f64 = 0.1;
/// The same while proofs are open.
const KEPT_FOR_OPEN_PROOFS: f64 = 0.2;
/// How much longer what is being done when the time is up may take. Whoever watches over the session waits longer, so that
/// it still tells what it has seen.
const OVERTIME: Duration = Duration::from_secs(4);

/// The time that a run may take. It is a limit, never a target.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    begun: Instant,
    limit: Option<Duration>,
}

impl Budget {
    pub fn new(begun: Instant, limit: Option<Duration>) -> Budget {
        Budget { begun, limit }
    }

    /// When nothing is proven any more.
    pub fn end(&self) -> Option<Instant> {
        Some(self.begun + self.limit?)
    }

    /// When nothing new is tried any more, where so much is suspected.
    pub fn exploring_until(&self, suspected: bool) -> Option<Instant> {
        let limit = self.limit?;
        let kept = if suspected { KEPT_FOR_OPEN_PROOFS } else { KEPT_FOR_PROOF };
        Some(self.begun + limit.mul_f64(1.0 - kept))
    }

    pub fn is_exploring_over(&self, suspected: bool) -> bool {
        self.exploring_until(suspected).is_some_and(|until| Instant::now() >= until)
    }

    pub fn is_over(&self) -> bool {
        self.end().is_some_and(|end| Instant::now() >= end)
    }

    /// Whether even what was being done when the time was up has had its time.
    pub fn is_overdue(&self) -> bool {
        self.end().is_some_and(|end| Instant::now() >= end + OVERTIME)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_limit_nothing_ends() {
        let budget = Budget::new(Instant::now(), None);
        assert!(!budget.is_over() && !budget.is_exploring_over(true));
    }

    #[test]
    fn what_is_suspected_has_its_time() {
        let budget = Budget::new(Instant::now(), Some(Duration::from_secs(60)));
        let (open, clean) = (budget.exploring_until(true).unwrap(), budget.exploring_until(false).unwrap());
        assert!(open < clean && clean < budget.end().unwrap());
    }
}
