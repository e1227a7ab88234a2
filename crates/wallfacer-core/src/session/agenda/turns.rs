//! Gives each kind of test its turn: the one that has had the least of the time, beside what it is worth, comes next.

use std::time::Duration;

/// How much time each test has had.
#[derive(Debug, Default)]
pub struct Turns {
    spent: Vec<Duration>,
    worth: Vec<f64>,
}

impl Turns {
    /// One entry for each test: its part of the time, beside those of the others.
    pub fn new(worth: impl IntoIterator<Item = f64>) -> Turns {
        let worth: Vec<f64> = worth.into_iter().collect();
        Turns { spent: vec![Duration::ZERO; worth.len()], worth }
    }

    /// The tests in the order in which they have a turn now. Among those that had none, the one that is worth most begins.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.spent.len()).collect();
        let share = |test: usize| self.spent[test].as_secs_f64() / self.worth[test];
        let worth = |test: usize| self.worth[test];
        order.sort_by(|one, other| {
            share(*one).total_cmp(&share(*other)).then(worth(*other).total_cmp(&worth(*one)))
        });
        order
    }

    pub fn spend(&mut self, test: usize, time: Duration) {
        self.spent[test] += time;
    }

    pub fn spent(&self, test: usize) -> Duration {
        self.spent[test]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_had_least_comes_first_and_who_is_worth_more_may_have_more() {
        let mut turns = Turns::new([1.0, 2.0]);
        assert_eq!(turns.order(), [1, 0]);
        turns.spend(0, Duration::from_secs(1));
        turns.spend(1, Duration::from_secs(1));
        assert_eq!(turns.order(), [1, 0]);
        turns.spend(1, Duration::from_secs(2));
        assert_eq!(turns.order(), [0, 1]);
    }
}
