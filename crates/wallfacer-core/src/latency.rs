//! How long answers took, counted in a few steps, so that a million calls take no more room than one.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The steps, in milliseconds: an answer counts for the first that it is below; the last one takes the rest.
pub const STEPS_MS: [u64; 8] = [1, 3, 10, 30, 100, 300, 1_000, 3_000];

/// Answers by how long they took.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct Latency {
    /// Below 1 ms, 3 ms, 10 ms, 30 ms, 100 ms, 300 ms, 1 s and 3 s, and longer.
    counts: [u64; STEPS_MS.len() + 1],
}

impl Latency {
    pub fn add(&mut self, took: Duration) {
        let step = STEPS_MS.iter().position(|step| took < Duration::from_millis(*step));
        self.counts[step.unwrap_or(STEPS_MS.len())] += 1;
    }

    pub fn join(&mut self, other: &Latency) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_count_for_the_first_step_that_they_are_below() {
        let mut latency = Latency::default();
        for ms in [0, 1, 2, 99, 100, 5_000] {
            latency.add(Duration::from_millis(ms));
        }
        assert_eq!(latency.counts, [1, 2, 0, 0, 1, 1, 0, 0, 1]);
        latency.join(&latency.clone());
        assert_eq!(latency.counts, [2, 4, 0, 0, 2, 2, 0, 0, 2]);
    }
}
