//! Starts a program inside a [`World`]: with jail, network sink and tracer, as far as each can be had.

use std::io;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use wallfacer_process::jail::Opener;
use wallfacer_process::sink::{self, DATABASE_PORTS, Mode, Sink, Upstream};
use wallfacer_process::trace::{Filter, Gate, Options, Recorder};
use wallfacer_process::{ControlKind, Process, Rung, Spec, StartError, Stdio, Watch, platform};

use super::recipe::{LAST_WITH_WALLS, World};
use super::standing::{Observed, Standing};
use super::vigil::{Vigil, Watching};
use crate::target::Net;

/// Where nobody says beforehand what a server connects to, the sink listens on what most of them do: services on the web.
const COVERED: [u16; 2] = [80, 443];

pub(super) fn start(world: &World, spec: &Spec) -> Result<(Process, Stdio, Vigil), StartError> {
    let wanted = world.has_walls() || world.is_watched();
    if !wanted || platform().kind != ControlKind::WholeTree {
        let (process, stdio) = Process::start(spec)?;
        let mut vigil = Vigil::none(world.remarks.clone());
        vigil.standing.access = world.access(&vigil.standing);
        return Ok((process, stdio, vigil));
    }
    let mut spec = world.dress(spec);
    let Some(jail) = &mut spec.jail else { return start_dressed(world, &spec) };
    jail.worst = LAST_WITH_WALLS.max(jail.best);
    match start_dressed(world, &spec) {
        // What fails for this server, on a machine that has walls, must not set it free.
        Err(StartError::Confine { .. }) if !world.could_have_walls() => {
            spec.jail.iter_mut().for_each(|jail| jail.worst = Rung::Unconfined);
            start_dressed(world, &spec)
        }
        started => started,
    }
}

fn start_dressed(world: &World, spec: &Spec) -> Result<(Process, Stdio, Vigil), StartError> {
    if !world.is_watched() {
        return attempt(world, spec, None, None);
    }
    let options = Options { datagram_writes: !world.has_walls(), lookups: world.lookups };
    let filter = match Filter::new(options) {
        Ok(filter) => filter,
        Err(error) => return attempt(world, spec, None, Some(error.to_string())),
    };
    match attempt(world, spec, Some(filter), None) {
        Err(error @ StartError::Watch { .. }) => attempt(world, spec, None, Some(told(&error))),
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
    let (keep, traced, listeners) = (Arc::clone(&made), filter.is_some(), world.listeners.clone());
    let before = move |opener: Option<&Opener>| match (opener, options) {
        (Some(opener), Some(options)) => {
            let sink = open_sink(opener, options, traced)?;
            for port in listeners {
                sink.plant(port)?;
            }
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
    standing.access = world.access(&standing);
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
        shapes: Arc::clone(&world.shapes),
        fault: world.fault,
    })
}

fn open_sink(opener: &Opener, options: sink::Options, traced: bool) -> io::Result<Arc<Sink>> {
    let mode = options.mode;
    let sink = Arc::new(Sink::start(opener.clone(), options)?);
    if !traced && mode == Mode::Answer {
        for port in COVERED.into_iter().chain(DATABASE_PORTS) {
            sink.cover(port)?;
        }
    }
    Ok(sink)
}

fn told(error: &StartError) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}
