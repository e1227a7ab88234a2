//! How long each request may take.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::target::Timeouts;

/// The time limits of a run; a doubtful case is tried again with all of them stretched.
#[derive(Debug, Clone)]
pub struct Patience {
    timeouts: Timeouts,
    stretch: u32,
}

impl Patience {
    pub fn new(timeouts: Timeouts) -> Patience {
        Patience { timeouts, stretch: 1 }
    }

    /// The same, so many times longer.
    pub fn stretched(&self, factor: u32) -> Patience {
        Patience { timeouts: self.timeouts.clone(), stretch: self.stretch.saturating_mul(factor) }
    }

    /// This much for every request, where it is all that a rule allows.
    pub fn at_most(&self, time: Duration) -> Patience {
        let timeouts = Timeouts { call: time, per_tool: Default::default(), ..self.timeouts.clone() };
        Patience { timeouts, stretch: 1 }
    }

    pub fn for_request(&self, method: &str, params: &Map<String, Value>) -> Duration {
        let tool = params.get("name").and_then(Value::as_str).filter(|_| method == "tools/call");
        tool.map_or(self.timeouts.call, |tool| self.timeouts.for_tool(tool)) * self.stretch
    }

    /// For a request that names no tool.
    pub fn plain(&self) -> Duration {
        self.timeouts.call * self.stretch
    }
}
