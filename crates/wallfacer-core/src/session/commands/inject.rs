//! Tries injections on a server, and nothing else.

use crate::event::Listener;
use crate::judge::Context;
use crate::session::agenda::{Selection, Wishes};
use crate::session::lab::World;
use crate::session::look::Known;
use crate::session::options::{FuzzError, FuzzOptions};
use crate::session::probes::inject::{Inject, with_worlds};
use crate::session::run::{Limits, Session};
use crate::summary::Injected;
use crate::wire::Connector;

/// Tries injections on one target.
pub fn inject(
    mut connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Injected, FuzzError> {
    connector.world_mut().watch = true;
    if !connector.world().has_walls() {
        return Ok(Injected::not_tested("the server ran without a sandbox"));
    }
    let mut session = Session::open(connector, &Limits::from(options), listener)?;
    let lab = with_worlds(session.lab(World::Plain), &session.known.catalogue, options.seed);
    let Known { server, catalogue, .. } = &session.known;
    let selection = Selection::new(catalogue, server, Wishes::from(options));
    let context = Context::new(catalogue, server.protocol);
    let mut inject =
        Inject::new(&lab, &session.known, &selection, context, options.seed, session.budget.end());
    let mut notebook = session.notebook();
    session.run(&lab, &mut [&mut inject], &mut notebook, listener)?;
    let calls = inject.calls;
    let fuzzed = session.fuzzed(&lab, notebook);
    Ok(Injected {
        calls,
        lives: fuzzed.lives,
        findings: fuzzed.findings,
        flaky: fuzzed.flaky,
        notes: fuzzed.notes,
        not_tested: fuzzed.not_tested,
        out_of_time: fuzzed.out_of_time,
    })
}
