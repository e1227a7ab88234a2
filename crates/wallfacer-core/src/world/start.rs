//! A [`World`] and a program in, the program started in it out, and whoever watches it.

use tokio::io::AsyncReadExt;
use wallfacer_process::jail::offers;
use wallfacer_process::{Process, Spec, StartError, Stdio};

use super::recipe::World;
use super::standing::is_confining;
use super::vigil::Vigil;
use super::way::Way;
use crate::target::Confine;

/// How long a launcher may take to download what it needs.
const FETCH_PATIENCE: std::time::Duration = std::time::Duration::from_secs(180);

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
        if required.observe && !self.watch {
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
        if let super::launcher::Launcher::Other(name) = &self.launcher {
            let name = name.clone();
            self.remarks.push(format!(
                "`{name}` downloads and runs in one go, so nothing was fetched for it beforehand"
            ));
        }
        let Some(args) = self.launcher.fetching() else { return };
        let mut spec = Spec { args, ..spec.clone() };
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
        linux::start(self, spec)
    }

    /// Starts a program; there is no world but this one.
    #[cfg(not(target_os = "linux"))]
    pub fn start(&self, spec: &Spec) -> Result<(Process, Stdio, Vigil), StartError> {
        let (process, stdio) = Process::start(spec)?;
        let mut remarks = self.remarks.clone();
        if self.has_walls() || self.watch {
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
        Ok(ending) if ending.status == wallfacer_process::Status::Exited(0) => Ok(()),
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

/// What of a launcher's own words goes into a remark.
const MAX_WORDS: usize = 160;

#[cfg(target_os = "linux")]
mod linux {
    use std::io;
    use std::sync::atomic::AtomicU64;
    use std::sync::{Arc, Mutex, PoisonError};

    use wallfacer_process::jail::Opener;
    use wallfacer_process::sink::{self, Mode, Sink, Upstream};
    use wallfacer_process::trace::{Filter, Gate, Options, Recorder};
    use wallfacer_process::{Kind, Process, Rung, Spec, StartError, Stdio, Watch, platform};

    use crate::target::Net;
    use crate::world::recipe::World;
    use crate::world::standing::{Observed, Standing};
    use crate::world::vigil::{Vigil, Watching};

    /// Where nobody says beforehand what a server connects to, the sink listens on what most of them do.
    const COVERED: [u16; 2] = [80, 443];

    pub(super) fn start(world: &World, spec: &Spec) -> Result<(Process, Stdio, Vigil), StartError> {
        let wanted = world.has_walls() || world.watch;
        if !wanted || platform().kind != Kind::WholeTree {
            let (process, stdio) = Process::start(spec)?;
            return Ok((process, stdio, Vigil::none(world.remarks.clone())));
        }
        let spec = world.dress(spec);
        if !world.watch {
            return attempt(world, &spec, None, None);
        }
        let filter = match Filter::new(Options { datagram_writes: !world.has_walls() }) {
            Ok(filter) => filter,
            Err(error) => return attempt(world, &spec, None, Some(error.to_string())),
        };
        match attempt(world, &spec, Some(filter), None) {
            Err(error @ StartError::Watch { .. }) => attempt(world, &spec, None, Some(told(&error))),
            started => started,
        }
    }

    fn attempt(
        world: &World,
        spec: &Spec,
        filter: Option<Filter>,
        unwatched: Option<String>,
    ) -> Result<(Process, Stdio, Vigil), StartError> {
        let in_flight = Arc::new(AtomicU64::new(0));
        let recorder = Arc::new(Recorder::new(Arc::clone(&in_flight)));
        let made = Arc::new(Mutex::new(None));
        let options = sink_options(world, &in_flight);
        let (keep, traced) = (Arc::clone(&made), filter.is_some());
        let before = move |opener: Option<&Opener>| match (opener, options) {
            (Some(opener), Some(options)) => {
                let sink = open_sink(opener, options, traced)?;
                *keep.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&sink));
                Ok(Some(sink as Arc<dyn Gate>))
            }
            _ => Ok(None),
        };
        let watch = Watch { filter, recorder: Arc::clone(&recorder), before: Box::new(before) };
        let (process, stdio) = Process::start_watched(spec, watch)?;
        let sink = made.lock().unwrap_or_else(PoisonError::into_inner).take();
        let confinement = process.confinement();
        let observed = Observed {
            calls: process.is_watched(),
            files: confinement.rung == Rung::Overlay,
            network: sink.is_some(),
        };
        let mut standing = Standing::of(&confinement, &world.sandbox.net, observed);
        standing.remarks.splice(0..0, world.remarks.iter().cloned().chain(unwatched));
        let recorder = process.is_watched().then_some(recorder);
        let vigil = Vigil::new(standing, Watching { in_flight, recorder, sink });
        Ok((process, stdio, vigil))
    }

    fn sink_options(world: &World, in_flight: &Arc<AtomicU64>) -> Option<sink::Options> {
        let allow = match &world.sandbox.net {
            Net::Allow(list) => list.clone(),
            _ => Vec::new(),
        };
        Some(sink::Options {
            mode: world.network,
            allow: allow.into_iter().map(|to| Upstream { host: to.host, port: to.port }).collect(),
            names: Vec::new(),
            seed: world.seed,
            call: Arc::clone(in_flight),
            authority: world.authority().filter(|_| world.has_walls() && world.has_sink())?,
        })
    }

    fn open_sink(opener: &Opener, options: sink::Options, traced: bool) -> io::Result<Arc<Sink>> {
        let mode = options.mode;
        let sink = Arc::new(Sink::start(opener.clone(), options)?);
        if !traced && mode == Mode::Answer {
            for port in COVERED {
                sink.cover(port)?;
            }
        }
        Ok(sink)
    }

    fn told(error: &StartError) -> String {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
        format!("{error}{}", cause.unwrap_or_default())
    }
}
