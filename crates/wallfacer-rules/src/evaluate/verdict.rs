//! What an assertion came to.

/// `Unknown` never counts as a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Holds,
    /// One sentence: what was looked at, what was expected, what was found.
    Broken(String),
    /// Why it cannot be said: something was not observed, or the work was cut off.
    Unknown(String),
}

impl Verdict {
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Holds => "pass",
            Verdict::Broken(_) => "fail",
            Verdict::Unknown(_) => "unknown",
        }
    }
}
