//! How long we wait for a server, and how much of it we keep. Every server is taken for a hostile one.

use std::collections::BTreeMap;
use std::time::Duration;

/// A cold `npx -y` downloads its packages before it answers the first request.
const STARTUP: Duration = Duration::from_secs(30);
/// The specification's advice for the era probe: long enough for an interpreter to start.
const PROBE: Duration = Duration::from_secs(5);
const CALL: Duration = Duration::from_secs(5);

/// Wide enough for a reply that carries a large file in base64.
const LINE_BYTES: usize = 64 << 20;
/// What `serde_json` reads without a stack of its own; no honest message comes near it.
const NESTING: usize = 128;
/// With `FRAME_BYTES_KEPT`, one connection keeps at most 64 MiB of record.
const FRAMES_KEPT: usize = 4_096;
const FRAME_BYTES_KEPT: usize = 16 << 10;

/// One time limit per kind of waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of the process to the answer that opens the session.
    pub startup: Duration,
    /// For the question that tells the two eras apart.
    pub probe: Duration,
    /// For one request, unless its tool has a time of its own.
    pub call: Duration,
    pub per_tool: BTreeMap<String, Duration>,
}

impl Timeouts {
    pub fn for_tool(&self, tool: &str) -> Duration {
        self.per_tool.get(tool).copied().unwrap_or(self.call)
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { startup: STARTUP, probe: PROBE, call: CALL, per_tool: BTreeMap::new() }
    }
}

/// How much of what a server sends is taken in and kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// The longest line or body that is read; a longer one is cut and recorded as too long.
    pub line_bytes: usize,
    /// The deepest JSON that is parsed.
    pub nesting: usize,
    /// How many frames of a connection are kept.
    pub frames_kept: usize,
    /// How many bytes of each kept frame; length and hash are always those of the whole.
    pub frame_bytes_kept: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            line_bytes: LINE_BYTES,
            nesting: NESTING,
            frames_kept: FRAMES_KEPT,
            frame_bytes_kept: FRAME_BYTES_KEPT,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_with_a_time_of_its_own_does_not_use_the_common_one() {
        let slow = Duration::from_secs(60);
        let timeouts = Timeouts { per_tool: BTreeMap::from([("slow".into(), slow)]), ..Timeouts::default() };
        assert_eq!(timeouts.for_tool("slow"), slow);
        assert_eq!(timeouts.for_tool("quick"), CALL);
    }
}
