//! How long each request may take.

use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use crate::target::Timeouts;

/// Most servers answer in milliseconds, so that others do not wait longer than this for one that does not. Nothing is
/// held against it: it is asked again, alone, with all of its time.
const BRIEF: Duration = Duration::from_secs(1);
/// The same with a server that does everything slowly.
const MOST_BRIEF: Duration = Duration::from_secs(3);
/// What smaller cases of a hang are given: the smallest is given all of its time.
const GLIMPSE: Duration = Duration::from_millis(400);
/// Whose own limit is as long as ours has this much to say so.
const GRACE: Duration = Duration::from_secs(2);
/// What is enough to see that a smaller call is quicker.
const GLANCE: Duration = Duration::from_secs(2);

/// The time limits of a run; a doubtful case is tried again with all of them stretched.
#[derive(Debug, Clone)]
pub struct Patience {
    timeouts: Timeouts,
    stretch: u32,
    /// What is added to each limit.
    grace: Duration,
    /// Less time than the limits allow.
    hurry: Option<Duration>,
    /// What nobody else waits longer than.
    brief: Duration,
    /// When nothing is made again and again any more.
    until: Option<Instant>,
}

impl Patience {
    pub fn new(timeouts: Timeouts) -> Patience {
        Patience { timeouts, stretch: 1, grace: Duration::ZERO, hurry: None, brief: BRIEF, until: None }
    }

    /// With a server that takes this long to start: one that does everything slowly is not silent sooner than it starts.
    pub fn with_start_of(self, startup: Duration) -> Patience {
        Patience { brief: (startup / 2).clamp(BRIEF, MOST_BRIEF), ..self }
    }

    /// So little that nobody else waits long; what is not answered by then is asked again, alone.
    pub fn brief(&self) -> Patience {
        Patience { hurry: Some(self.brief.min(self.timeouts.call)), ..self.clone() }
    }

    /// Just enough to tell a call that is answered at once from one that was proven to hang.
    pub fn glimpse(&self) -> Patience {
        Patience { hurry: Some(GLIMPSE.min(self.timeouts.call)), ..self.clone() }
    }

    /// Whether less time is given than the limits allow.
    pub fn is_brief(&self) -> bool {
        self.hurry.is_some()
    }

    /// The whole time, so many times over.
    pub fn stretched(&self, factor: u32) -> Patience {
        let stretch = self.stretch.saturating_mul(factor);
        Patience { stretch, hurry: None, ..self.clone() }
    }

    /// The whole time, and some more to tell that something else has not come within it.
    pub fn with_grace(&self) -> Patience {
        Patience { grace: GRACE, hurry: None, ..self.clone() }
    }

    /// What tells whether a smaller call is quicker: a glance, or more than a short limit leaves, for that may be just what
    /// the smallest call takes.
    pub fn for_smaller(&self) -> Patience {
        match self.timeouts.call > GLANCE {
            true => Patience { hurry: Some(GLANCE), stretch: 1, ..self.clone() },
            false => self.stretched(2),
        }
    }

    /// This much for every request, where it is all that a rule allows.
    pub fn at_most(&self, time: Duration) -> Patience {
        let timeouts = Timeouts { call: time, per_tool: Default::default(), ..self.timeouts.clone() };
        Patience { timeouts, stretch: 1, hurry: None, ..self.clone() }
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
            Some(own) => self.hurry.unwrap_or(*own).min(*own) * self.stretch + self.grace,
            None => self.plain(),
        }
    }

    /// For a request that names no tool.
    pub fn plain(&self) -> Duration {
        self.hurry.unwrap_or(self.timeouts.call) * self.stretch + self.grace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_look_has_the_whole_time_once_it_is_in_doubt() {
        let brief = Patience::new(Timeouts::default()).brief();
        assert_eq!(brief.plain(), BRIEF);
        assert_eq!(brief.stretched(2).plain(), Timeouts::default().call * 2);
    }

    #[test]
    fn a_smaller_call_has_more_time_than_a_short_limit_leaves() {
        let call = Duration::from_secs(1);
        let short = Patience::new(Timeouts { call, ..Timeouts::default() });
        assert_eq!(short.for_smaller().plain(), call * 2);
        assert_eq!(Patience::new(Timeouts::default()).for_smaller().plain(), GLANCE);
    }

    #[test]
    fn nothing_is_made_again_and_again_beyond_the_end_of_a_run() {
        let (patience, most) = (Patience::new(Timeouts::default()), Duration::from_secs(60));
        assert_eq!(patience.for_repeating(most), most);
        let over = patience.repeating_until(Some(Instant::now()));
        assert_eq!(over.stretched(2).for_repeating(most), Duration::ZERO);
    }
}
