//! What this machine offers for watching over a process tree.

use std::fmt;

/// How much of what a server starts can be ended with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ControlKind {
    /// Every descendant, also those that left the process group or the session, even if we are killed.
    WholeTree,
    /// The members of the server's process group; one that left it is neither seen nor ended, and nothing is ended
    /// when we are killed.
    ProcessGroup,
}

impl ControlKind {
    pub(crate) fn sees_tree(self) -> bool {
        self == Self::WholeTree
    }
}

impl fmt::Display for ControlKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::WholeTree => "whole tree",
            Self::ProcessGroup => "process group",
        })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform {
    /// The best control there is here; [`Process::start`](crate::Process::start) uses it.
    pub kind: ControlKind,
}

/// Asks the system; cheap enough to ask each time.
pub fn platform() -> Platform {
    // A keeper finds its children through this file, which a kernel can be built without.
    let lists_children =
        cfg!(target_os = "linux") && std::fs::File::open("/proc/thread-self/children").is_ok();
    Platform { kind: if lists_children { ControlKind::WholeTree } else { ControlKind::ProcessGroup } }
}
