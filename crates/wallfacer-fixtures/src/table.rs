//! The one table of modes. A mode that is not here cannot be started.

use crate::expected::{Answer, Catalogue, Ending, Era, Expected, Mode, Start};

/// How many tools the correct server has, over both pages.
const TOOLS: usize = 12;

const MODERN: Start = Start::Connects { era: Era::Modern };
const LEGACY: Start = Start::Connects { era: Era::Legacy };

/// What a client sees of a server without flaw.
const FINE: Expected = Expected {
    start: MODERN,
    answer: Some(Answer::Completed),
    faults: &[],
    ending: Ending::StillRunning,
    left_behind: false,
    catalogue: Catalogue { tools: TOOLS, broken: 0, repeated_cursor: false },
};

/// A mode without flaw over every transport; the rows below say where they differ.
const PLAIN: Mode = Mode { name: "", about: "", stdio: true, http: true, legacy_sse: true, expected: FINE };

pub fn modes() -> &'static [Mode] {
    MODES
}

static MODES: &[Mode] = &[
    Mode { name: "correct", about: "Speaks both eras and does everything right.", ..PLAIN },
    Mode {
        name: "modern-only",
        about: "Speaks 2026-07-28 only, and refuses `initialize`.",
        legacy_sse: false,
        ..PLAIN
    },
    Mode {
        name: "legacy-only",
        about: "Knows nothing of 2026-07-28.",
        expected: Expected { start: LEGACY, ..FINE },
        ..PLAIN
    },
];
