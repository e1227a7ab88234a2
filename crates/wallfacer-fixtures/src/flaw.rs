//! The words in which the second table says what a run of fuzzing must find.

/// One small server with a flaw, or with something that looks like one. Its correct twin, which `--fixed` plays,
/// has the same names and schemas, and gives no finding.
#[derive(Debug, Clone, Copy)]
pub struct Flaw {
    pub name: &'static str,
    pub about: &'static str,
    /// Exactly these findings, and no others. Empty where what it does is no fault.
    pub expected: &'static [Expect],
    /// Whether it shows over HTTP too; frames that HTTP itself refuses never reach the server.
    pub http: bool,
    /// Whether it shows only where several calls are in flight.
    pub together: bool,
}

/// One finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expect {
    pub kind: &'static str,
    /// The name of the tool or prompt that is to blame, as it is without `--rename`. None: the server as a whole,
    /// as when one cause shows in many tools or belongs to none.
    pub tool: Option<&'static str>,
    pub severity: &'static str,
}

impl Flaw {
    /// The arguments with which [`server`](crate::server) plays it; `--fixed`, `--rename SEED` and a transport may
    /// follow.
    pub fn arguments(&self) -> [&'static str; 2] {
        ["flaw", self.name]
    }
}
