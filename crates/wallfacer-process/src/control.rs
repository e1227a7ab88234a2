//! Signals and ends a running tree, whether a keeper or a process group holds it.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use crate::attendant::Gone;
use crate::group::Group;
#[cfg(target_os = "linux")]
use crate::keeper::Keeper;
use crate::platform::ControlKind;
use crate::tree::{Descendant, Sample};
#[cfg(target_os = "linux")]
use crate::weight::Scales;

#[derive(Debug)]
pub(crate) enum Control {
    #[cfg(target_os = "linux")]
    Keeper(Keeper),
    Group(Group),
}

impl Control {
    pub(crate) fn kind(&self) -> ControlKind {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(_) => ControlKind::WholeTree,
            Self::Group(_) => ControlKind::ProcessGroup,
        }
    }

    /// Sends a signal to the main process, if it still runs.
    pub(crate) fn signal(&self, number: i32) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(keeper) => keeper.signal(number),
            Self::Group(group) => group.signal(number),
        }
    }

    /// Has the tree killed, without waiting for it.
    pub(crate) fn kill(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(keeper) => keeper.kill(),
            Self::Group(group) => group.kill(),
        }
    }

    /// Has the tree killed once more, when it did not end soon after [`Control::kill`].
    pub(crate) fn press(&self) {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(keeper) => keeper.press(),
            Self::Group(group) => group.kill(),
        }
    }

    /// Clears up after the last report. `lost` says that the end of the main process was not among the reports.
    pub(crate) fn settle(&self, lost: bool) -> Gone {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(keeper) => keeper.settle(lost),
            // Whoever left the group was never seen.
            Self::Group(_) => Gone::OutOfSight,
        }
    }

    /// The main process and all beneath it.
    pub(crate) fn descendants(&self) -> Option<Vec<Descendant>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(keeper) => keeper.descendants(),
            Self::Group(_) => None,
        }
    }

    pub(crate) fn sample(&self) -> Option<Sample> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(keeper) => keeper.sample(),
            Self::Group(_) => None,
        }
    }

    /// Whether the tree holds more memory than it may.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_too_large(&self, scales: &Scales) -> bool {
        match self {
            Self::Keeper(keeper) => keeper.is_too_large(scales),
            Self::Group(_) => false,
        }
    }

    pub(crate) fn queued(&self) -> Option<BTreeMap<u32, Duration>> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Keeper(keeper) => keeper.queued(),
            Self::Group(_) => None,
        }
    }
}
