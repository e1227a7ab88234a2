//! A [`World`] and a program in, the program started in it out, and whoever watches it.

use std::time::Duration;

use tokio::io::AsyncReadExt;
use wallfacer_process::jail::offers;
use wallfacer_process::{Process, Spec, StartError, Status, Stdio};

use super::launcher::Launcher;
use super::recipe::World;
use super::standing::is_confining;
use super::vigil::Vigil;
use super::way::Way;
use crate::target::Confine;

/// How long a launcher may take to download what it needs.
const FETCH_PATIENCE: Duration = Duration::from_secs(180);

/// What of a launcher's own words goes into a remark.
const MAX_WORDS: usize = 160;

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
        let offers = offers();
        let walls = offers.confinement.iter().filter(|offer| offer.what >= self.best);
        let best = walls.clone().find(|offer| offer.refused.is_none());
        if confine && best.is_none_or(|offer| !is_confining(offer.what)) {
            let refused = walls.filter_map(|offer| offer.refused.clone()).next();
            return Some(refused.unwrap_or_else(|| "no confinement was to be tried".to_owned()));
        }
        if required.observe { offers.observation.refused } else { None }
    }

    /// Fetches what the launcher would download, once, outside. What went wrong is told, and is no error: it may be
    /// there already.
    pub async fn fetch(&mut self, spec: &Spec) {
        if !self.has_walls() || !self.sandbox.net.is_closed() {
            return;
        }
        if let Launcher::Other(name) = &self.launcher {
            let name = name.clone();
            self.remarks.push(format!(
                "`{name}` downloads and runs in one go, so nothing was fetched for it beforehand"
            ));
        }
        let Some(args) = self.launcher.fetching() else { return };
        let mut spec = Spec { args, ..spec.clone() };
        let variables = self.launcher.fetching_variables().iter();
        spec.env.extend(variables.map(|(name, value)| (name.into(), value.into())));
        if let Some(program) = self.launcher.fetcher() {
            spec.program = program.into();
        }
        if let Err(why) = run(&spec).await {
            self.remarks.push(format!("what the launcher needs could not be fetched beforehand: {why}"));
        }
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

/// Runs a program to its end.
async fn run(spec: &Spec) -> Result<(), String> {
    let (process, mut stdio) = Process::start(spec).map_err(|error| error.to_string())?;
    drop(stdio.stdin);
    let drained = async {
        let mut buffer = [0; 4096];
        while matches!(stdio.stdout.read(&mut buffer).await, Ok(count) if count > 0) {}
        process.exited().await
    };
    match tokio::time::timeout(FETCH_PATIENCE, drained).await {
        Ok(ending) if ending.status == Status::Exited(0) => Ok(()),
        Ok(_) => {
            let stderr = process.stderr().tail;
            let said = String::from_utf8_lossy(&stderr);
            let last =
                said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it failed silently");
            Err(last.chars().take(MAX_WORDS).collect())
        }
        Err(_) => Err(format!("it took longer than {}s", FETCH_PATIENCE.as_secs())),
    }
}
