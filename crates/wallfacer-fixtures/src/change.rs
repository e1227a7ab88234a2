//! The one table of changes: two versions of a small server, and what a comparison of them must say. `--fixed` plays the
//! version from before.

use crate::flaw::Expect;

/// What became of a server.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    pub name: &'static str,
    pub about: &'static str,
    /// Exactly these findings where the answers of the first version were learned.
    pub learned: &'static [Expect],
    /// Exactly these findings where the two versions stand side by side.
    pub against: &'static [Expect],
}

impl Change {
    /// The arguments with which [`server`](crate::server) plays the later version.
    pub fn arguments(&self) -> [&'static str; 2] {
        ["change", self.name]
    }
}

pub fn changes() -> &'static [Change] {
    CHANGES
}

const LOW: &str = "low";
const MEDIUM: &str = "medium";

static CHANGES: &[Change] = &[
    change(
        "another-type",
        "Declares no output schema; a number has become a text.",
        &[violation("water_level", LOW)],
        &[drift("water_level")],
    ),
    change(
        "lost-key",
        "Answers JSON in a text; a key that was always there is gone.",
        &[violation("water_level", LOW)],
        &[drift("water_level")],
    ),
    change(
        "lost-structured-content",
        "Declares no output schema; the structured content is gone, the text is the same.",
        &[violation("water_level", LOW)],
        &[drift("water_level")],
    ),
    change(
        "broken-promise",
        "Declares an output schema, and gives no structured content any more.",
        &[violation("water_level", MEDIUM)],
        &[drift("water_level")],
    ),
    change(
        "another-declaration",
        "Its output schema is another, and its answers keep to it.",
        &[drift("water_level")],
        &[drift("water_level"), drift("water_level")],
    ),
    change(
        "lost-declaration",
        "Its output schema is gone, its answers are the same.",
        &[drift("water_level")],
        &[drift("water_level")],
    ),
    change("another-value", "One number is higher by one than it was.", &[], &[drift("water_level")]),
    change("refuses-more", "A value that was answered is refused.", &[], &[drift("water_level")]),
    change(
        "another-wording",
        "Titles, descriptions and the order of keys in its output schema are others.",
        &[],
        &[],
    ),
    change(
        "another-key",
        "Declares no output schema; a key that nobody could rely on is new.",
        &[],
        &[drift("water_level")],
    ),
    change("clock", "The time and a random number stand in each answer, in both versions.", &[], &[]),
    change("counter", "Counts its calls, in both versions.", &[], &[]),
];

const fn violation(tool: &'static str, severity: &'static str) -> Expect {
    Expect { kind: "schema_violation", tool: Some(tool), severity }
}

const fn drift(tool: &'static str) -> Expect {
    Expect { kind: "drift", tool: Some(tool), severity: MEDIUM }
}

const fn change(
    name: &'static str,
    about: &'static str,
    learned: &'static [Expect],
    against: &'static [Expect],
) -> Change {
    Change { name, about, learned, against }
}

#[cfg(test)]
mod tests {
    use super::changes;
    use std::collections::BTreeSet;

    #[test]
    fn every_change_has_a_name_of_its_own() {
        let names: BTreeSet<&str> = changes().iter().map(|change| change.name).collect();
        assert_eq!(names.len(), changes().len());
    }
}
