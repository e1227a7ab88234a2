//! How long each request may take.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::target::Timeouts;

/// Most servers answer in milliseconds, so that at first sight this much is enough; whoever stays silent is given the
/// whole time before anything is held against it.
const FIRST_SIGHT: Duration = Duration::from_secs(2);

/// The time limits of a run; a doubtful case is tried again with all of them stretched.
#[derive(Debug, Clone)]
pub struct Patience {
    timeouts: Timeouts,
    stretch: u32,
    /// Less time than the limits allow.
    hurry: Option<Duration>,
    /// When nothing is made again and again any more.
    until: Option<Instant>,
}

impl Patience {
    pub fn new(timeouts: Timeouts) -> Patience {
        Patience { timeouts, stretch: 1, hurry: None, until: None }
    }

    /// The same for looking through many calls; where somebody chose the limit, it stays as it is.
    pub fn at_first_sight(self) -> Patience {
        let chosen = self.timeouts.call != Timeouts::default().call;
        Patience { hurry: (!chosen).then_some(FIRST_SIGHT), ..self }
    }

    /// The whole time, so many times over.
    pub fn stretched(&self, factor: u32) -> Patience {
        let stretch = self.stretch.saturating_mul(factor);
        Patience { timeouts: self.timeouts.clone(), stretch, hurry: None, until: self.until }
    }

    /// What tells whether a smaller call is quicker: a hurried look, or more than the time that somebody chose, for what
    /// was chosen may be just what the smallest call takes.
    pub fn for_smaller(&self) -> Patience {
        if self.hurry.is_some() { self.clone() } else { self.stretched(2) }
    }

    /// This much for every request, where it is all that a rule allows.
    pub fn at_most(&self, time: Duration) -> Patience {
        let timeouts = Timeouts { call: time, per_tool: Default::default(), ..self.timeouts.clone() };
        Patience { timeouts, stretch: 1, hurry: None, until: self.until }
    }

    /// The same; what is made again and again ends then.
    pub fn repeating_until(self, until: Option<Instant>) -> Patience {
        Patience { until, ..self }
    }

    /// How long the same request may be made again and again, where this is the most.
    pub fn for_repeating(&self, most: Duration) -> Duration {
        self.until.map_or(most, |until| until.saturating_duration_since(Instant::now()).min(most))
    }

    pub fn for_request(&self, method: &str, params: &Map<String, Value>) -> Duration {
        let tool = params.get("name").and_then(Value::as_str).filter(|_| method == "tools/call");
        match tool.and_then(|tool| self.timeouts.per_tool.get(tool)) {
            Some(own) => *own * self.stretch,
            None => self.plain(),
        }
    }

    /// For a request that names no tool.
    pub fn plain(&self) -> Duration {
        self.hurry.unwrap_or(self.timeouts.call) * self.stretch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hurried_look_has_the_whole_time_once_it_is_in_doubt() {
        let patience = Patience::new(Timeouts::default()).at_first_sight();
        assert_eq!(patience.plain(), FIRST_SIGHT);
        assert_eq!(patience.stretched(2).plain(), Timeouts::default().call * 2);
    }

    #[test]
    fn a_smaller_call_has_more_time_than_a_short_limit_leaves() {
        let call = Duration::from_secs(1);
        let short = Patience::new(Timeouts { call, ..Timeouts::default() }).at_first_sight();
        assert_eq!(short.for_smaller().plain(), call * 2);
        assert_eq!(Patience::new(Timeouts::default()).at_first_sight().for_smaller().plain(), FIRST_SIGHT);
    }

    #[test]
    fn nothing_is_made_again_and_again_beyond_the_end_of_a_run() {
        let (patience, most) = (Patience::new(Timeouts::default()), Duration::from_secs(60));
        assert_eq!(patience.for_repeating(most), most);
        let over = patience.repeating_until(Some(Instant::now()));
        assert_eq!(over.stretched(2).for_repeating(most), Duration::ZERO);
    }

    #[test]
    fn a_limit_that_somebody_chose_is_not_shortened() {
        let chosen = Timeouts { call: Duration::from_secs(60), ..Timeouts::default() };
        assert_eq!(Patience::new(chosen.clone()).at_first_sight().plain(), chosen.call);
    }
}
