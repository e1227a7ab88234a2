//! The part of a plan that one of several machines does. Which part a piece of work belongs to depends on nothing but its name,
//! so that all machines agree without talking to each other.

use serde::{Deserialize, Serialize};

/// Part `index` of `count`, counted from one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Shard {
    pub index: u32,
    pub count: u32,
}

impl Default for Shard {
    fn default() -> Shard {
        Shard::WHOLE
    }
}

impl Shard {
    /// All of the plan.
    pub const WHOLE: Shard = Shard { index: 1, count: 1 };

    pub fn is_whole(self) -> bool {
        self.count == 1
    }

    /// Whether this piece of the work of a probe is done here.
    pub fn takes(self, probe: &str, name: &str) -> bool {
        if self.is_whole() {
            return true;
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(probe.as_bytes()).update(&[0]).update(name.as_bytes());
        let hash = u64::from_le_bytes(hasher.finalize().as_bytes()[..8].try_into().expect("eight bytes"));
        hash % u64::from(self.count) == u64::from(self.index) - 1
    }

    /// Those of a probe's cases that are done here, by their place in the plan.
    pub fn share<T>(self, probe: &str, cases: Vec<T>) -> Vec<T> {
        let numbered = cases.into_iter().enumerate();
        numbered.filter(|(number, _)| self.takes(probe, &number.to_string())).map(|(_, case)| case).collect()
    }
}

impl std::fmt::Display for Shard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_piece_belongs_to_one_part_whatever_their_number() {
        for count in 1..=8 {
            for piece in 0..200 {
                let name = format!("tool_{piece}");
                let takers = (1..=count).filter(|index| Shard { index: *index, count }.takes("fuzz", &name));
                assert_eq!(takers.count(), 1, "{name} of {count}");
            }
        }
    }

    #[test]
    fn no_part_is_much_larger_than_another() {
        for index in 1..=4 {
            let mine = Shard { index, count: 4 }.share("frames", (0..400).collect::<Vec<_>>());
            assert!((60..=140).contains(&mine.len()), "{}", mine.len());
        }
    }
}
