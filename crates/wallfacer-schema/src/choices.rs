//! The one source of chance. Every draw is written down, so that a value can be made again from its
//! draws alone, on any platform; smaller draws mean simpler values, which is what shrinking works on.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng, SeedableRng},
};

/// Draws that are recorded; a value that takes more is beyond all limits anyway.
const MAX_DRAWS: usize = 4_000_000;

#[derive(Clone, Debug)]
pub struct Choices {
    source: Source,
    recorded: Vec<u64>,
}

#[derive(Clone, Debug)]
enum Source {
    Chance(Box<ChaCha8Rng>),
    Replay { draws: Vec<u64>, next: usize },
}

impl Choices {
    /// New draws from a seed.
    pub fn seeded(seed: u64) -> Choices {
        Choices { source: Source::Chance(Box::new(ChaCha8Rng::seed_from_u64(seed))), recorded: Vec::new() }
    }

    /// New draws from a seed and the number of a case: each case has a stream of its own.
    pub fn for_case(seed: u64, case: u64) -> Choices {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(case);
        Choices { source: Source::Chance(Box::new(random)), recorded: Vec::new() }
    }

    /// The given draws again; after the last one every draw is zero.
    pub fn replay(draws: &[u64]) -> Choices {
        Choices { source: Source::Replay { draws: draws.to_vec(), next: 0 }, recorded: Vec::new() }
    }

    /// Always the simplest choice.
    pub fn simplest() -> Choices {
        Choices::replay(&[])
    }

    /// What was drawn so far, as [`Choices::replay`] takes it.
    pub fn recorded(&self) -> &[u64] {
        &self.recorded
    }

    /// Begins a new recording and hands out the old one; the source goes on.
    pub fn take_recorded(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.recorded)
    }

    /// Whether only simplest choices are left, so that trying again changes nothing.
    pub(crate) fn is_spent(&self) -> bool {
        matches!(&self.source, Source::Replay { draws, next } if *next >= draws.len())
    }

    /// A number below `bound`; zero when the bound is zero.
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        if bound <= 1 {
            return 0;
        }
        let draw = match &mut self.source {
            // The bias of a 64-bit product is far below what any test could see.
            Source::Chance(random) => ((u128::from(random.next_u64()) * u128::from(bound)) >> 64) as u64,
            Source::Replay { draws, next } => {
                let draw = draws.get(*next).copied().unwrap_or(0);
                *next += 1;
                draw.min(bound - 1)
            }
        };
        if self.recorded.len() < MAX_DRAWS {
            self.recorded.push(draw);
        }
        draw
    }

    pub(crate) fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// True once in `count`; false is the simpler answer.
    pub(crate) fn one_in(&mut self, count: u64) -> bool {
        self.below(count) == count - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same_on_every_platform() {
        let mut choices = Choices::seeded(42);
        let drawn: Vec<u64> = (0..6).map(|_| choices.below(1000)).collect();
        assert_eq!(drawn, DRAWN_FROM_42);
        assert_eq!(choices.recorded(), drawn);
    }

    const DRAWN_FROM_42: [u64; 6] = [681, 950, 427, 627, 288, 149];

    #[test]
    fn a_replay_gives_the_same_draws_and_then_the_simplest() {
        let mut choices = Choices::replay(&[3, 900]);
        assert_eq!([choices.below(10), choices.below(10), choices.below(10)], [3, 9, 0]);
    }

    #[test]
    fn cases_of_one_seed_differ() {
        let [mut first, mut second] = [0, 1].map(|case| Choices::for_case(1, case));
        assert_ne!(first.below(u64::MAX), second.below(u64::MAX));
    }
}
