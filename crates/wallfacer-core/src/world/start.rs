//! Starts a program in a [`World`], and gives the process and whoever watches it.

use wallfacer_process::jail::{Offer, rungs_from, watching};
use wallfacer_process::{Process, Rung, Spec, StartError, Stdio};

use super::recipe::World;
use super::vigil::Vigil;
use super::way::Way;
use crate::target::Confine;

impl World {
    /// What stands in the way of what must be had; to be asked before anything is started.
    pub fn obstacle(&self) -> Option<String> {
        let required = self.sandbox.required;
        let confine = required.confine || self.sandbox.confine == Confine::Require;
        if !confine && !required.observe {
            return None;
        }
        let known = self.remarks.first().cloned();
        if confine && (self.sandbox.confine == Confine::Off || !self.has_walls()) {
            let off = || "--sandbox off leaves it everything".to_owned();
            return Some(known.unwrap_or_else(off));
        }
        if required.observe && !self.is_watched() {
            return Some(known.unwrap_or_else(|| "nobody watches it".to_owned()));
        }
        let mut refused = None;
        let is_granted = |offer: &Offer<Rung>| {
            refused = refused.take().or_else(|| offer.refused.clone());
            offer.refused.is_none()
        };
        if confine && !rungs_from(self.best).find(is_granted).is_some_and(|offer| offer.holds) {
            return Some(refused.unwrap_or_else(|| "no confinement was to be tried".to_owned()));
        }
        if required.observe { watching().refused } else { None }
    }

    /// Starts a program in a fresh world.
    #[cfg(target_os = "linux")]
    pub fn start(&self, spec: &Spec) -> Result<(Process, Stdio, Vigil), StartError> {
        super::inside::start(self, spec)
    }

    /// Starts a program; there is no world but this one.
    #[cfg(not(target_os = "linux"))]
    pub fn start(&self, spec: &Spec) -> Result<(Process, Stdio, Vigil), StartError> {
        let (process, stdio) = Process::start(spec)?;
        let mut remarks = self.remarks.clone();
        if self.has_walls() || self.is_watched() {
            remarks.push("only on Linux can a server be confined and watched".to_owned());
        }
        Ok((process, stdio, Vigil::none(remarks)))
    }
}

/// The way to a server that listens.
pub fn way_to(process: &Process) -> Way {
    #[cfg(target_os = "linux")]
    let way = Way::into(process.opener());
    #[cfg(not(target_os = "linux"))]
    let way = {
        let _nowhere_else = process;
        Way::default()
    };
    way
}
