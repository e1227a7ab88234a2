//! Tells how far a server is really confined and watched, beside what was asked for.

use std::fmt;
use std::path::PathBuf;

use wallfacer_process::jail::Gap;
use wallfacer_process::{Confinement, Rung};

use super::access::Access;
use crate::target::Net;

/// How far a server is confined and watched, and why not further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    pub rung: Rung,
    pub net: Net,
    pub observed: Observed,
    /// Where the canaries lie, as the server sees it; none without canaries.
    pub home: Option<PathBuf>,
    /// What this does not keep the server from.
    pub gaps: Vec<Gap>,
    /// What stood in the way of more, and what is not held; empty where everything wished for is there.
    pub remarks: Vec<String>,
    /// What of the user's own it can get at all the same.
    pub access: Access,
}

/// What of a server's doing is seen. What is not seen is not known: it is not clean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Observed {
    /// Every call into the system: files, sockets, programs.
    pub calls: bool,
    /// Which files are other than before.
    pub files: bool,
    /// What was sent out, and to whom.
    pub network: bool,
}

impl Standing {
    /// Of a server that nothing confines and nobody watches.
    pub fn open(remarks: Vec<String>) -> Self {
        Self {
            rung: Rung::Unconfined,
            net: Net::Host,
            observed: Observed::default(),
            home: None,
            gaps: vec![Gap::Everything],
            remarks,
            access: Access::default(),
        }
    }

    pub(super) fn of(confinement: &Confinement, net: &Net, observed: Observed) -> Self {
        let unplanted = confinement
            .unplanted
            .iter()
            .filter(|path| !is_sample(path))
            .map(|path| format!("{} could not be planted", path.display()));
        // Of what nothing confines, the name says it all.
        let gaps = confinement.gaps.iter().filter(|gap| **gap != Gap::Everything);
        let gaps = gaps.map(|gap| format!("not enforced: {gap}"));
        // A fence knows no sink: what it does not allow, it refuses.
        let net = match confinement.rung {
            Rung::Overlay | Rung::ReadOnly => net.clone(),
            Rung::Fence if net.is_closed() => Net::Deny,
            Rung::Fence => Net::Host,
            Rung::OtherHome | Rung::Unconfined => Net::Host,
        };
        Self {
            rung: confinement.rung,
            net,
            observed,
            home: confinement.home.clone(),
            gaps: confinement.gaps.clone(),
            remarks: confinement.why.iter().cloned().chain(unplanted).chain(gaps).collect(),
            access: Access::default(),
        }
    }

    pub fn is_confined(&self) -> bool {
        !self.gaps.iter().any(Gap::is_way_out)
    }

    /// What of the server is watched, in words.
    pub fn watched(&self) -> Vec<&'static str> {
        let Observed { calls, files, network } = self.observed;
        let more = [
            (calls, "files opened, connections and programs"),
            (files, "files changed"),
            (network, "what is sent out"),
        ];
        let always = ["messages", "standard error", "exit status"];
        always.into_iter().chain(more.into_iter().filter(|(seen, _)| *seen).map(|(_, words)| words)).collect()
    }

    /// Whether nothing that the server does can leave its world, so that all of it may be called. Behind a fence what it
    /// was given can still be lost.
    pub fn is_harmless(&self) -> bool {
        matches!(self.rung, Rung::Overlay | Rung::ReadOnly) && self.net.is_closed()
    }
}

impl fmt::Display for Standing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.rung, &self.net) {
            (Rung::Unconfined | Rung::OtherHome, _) | (_, Net::Host) => write!(formatter, "{}", self.rung),
            (rung, net) => write!(formatter, "{rung}; network: {net}"),
        }
    }
}

/// Whether it is one of the files that only make calls more likely to work.
fn is_sample(path: &std::path::Path) -> bool {
    path.components().any(|part| part.as_os_str() == super::workspace::SAMPLES)
}
