//! A budget in, when to stop exploring and when to stop proving out.

use std::time::{Duration, Instant};

use super::curfew::Curfew;

/// Part of the budget that is kept for confirming, once something is suspected.
const KEPT_FOR_CONFIRMING: f64 = 0.35;
/// The same while nothing is: what comes up last needs some time too.
const KEPT_FOR_SURPRISES: f64 = 0.1;
/// Part of the budget that is spent on rounds, however much there is to be confirmed.
const LEAST_EXPLORING: f64 = 0.3;
/// Part of the budget for all cases that are known to be slow, or suspected of hanging.
const SLOW_SHARE: f64 = 0.1;

/// The time in which a campaign works.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    begun: Instant,
    budget: Option<Duration>,
    /// How much longer than the budget it may take to see again what is suspected.
    overtime: Duration,
    /// What slow cases have taken of it.
    slow: Duration,
}

impl Window {
    pub fn new(begun: Instant, budget: Option<Duration>, overtime: Duration) -> Window {
        Window { begun, budget, overtime, slow: Duration::ZERO }
    }

    /// When a round that begins now has to end, where so much is kept for hangs.
    pub fn curfew(&self, for_hangs: Duration, suspected: bool) -> Option<Curfew> {
        let budget = self.budget?;
        let (start, end) = (self.begun, self.begun + budget);
        let late = end - budget.mul_f64(KEPT_FOR_SURPRISES);
        let kept = budget.mul_f64(KEPT_FOR_CONFIRMING).max(for_hangs.saturating_sub(self.overtime));
        let early = (end - kept.min(budget)).max(start + budget.mul_f64(LEAST_EXPLORING));
        Some(Curfew::new(late, early.min(late), suspected))
    }

    /// When slow cases that begin now have to end: at once, where the share does not hold one of them.
    pub fn slow_until(&self, call: Duration) -> Option<Instant> {
        let left = self.budget?.mul_f64(SLOW_SHARE).saturating_sub(self.slow);
        Some(Instant::now() + if left < call { Duration::ZERO } else { left })
    }

    pub fn spend_on_slow(&mut self, time: Duration) {
        self.slow += time;
    }

    /// When nothing is proven any more.
    pub fn end(&self) -> Option<Instant> {
        Some(self.begun + self.budget? + self.overtime)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_cases_have_one_share_for_all_rounds() {
        let mut window = Window::new(Instant::now(), Some(Duration::from_secs(60)), Duration::ZERO);
        let call = Duration::from_secs(5);
        assert!(window.slow_until(call).unwrap() > Instant::now() + call);
        window.spend_on_slow(Duration::from_secs(2));
        assert!(window.slow_until(call).unwrap() <= Instant::now());
    }

    #[test]
    fn without_a_budget_nothing_ends() {
        let window = Window::new(Instant::now(), None, Duration::ZERO);
        assert!(window.end().is_none() && window.slow_until(Duration::ZERO).is_none());
        assert!(window.curfew(Duration::ZERO, true).is_none());
    }
}
