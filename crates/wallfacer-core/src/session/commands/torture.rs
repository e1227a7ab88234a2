//! `torture`: calls at the same time, sessions beside each other, and how a server begins and ends.

use std::sync::Arc;

use crate::event::Listener;
use crate::judge::{Context, Secrets};
use crate::session::agenda::{Selection, Wishes};
use crate::session::entrust::entrust;
use crate::session::lab::{World, said};
use crate::session::look::Known;
use crate::session::options::{FuzzError, FuzzOptions};
use crate::session::probes::torture::{Lifecycle, Load, Torture, TortureMode};
use crate::session::probes::{Notebook, Probe};
use crate::session::run::{Limits, Session};
use crate::summary::Fuzzed;
use crate::wire::Connector;

/// Tortures one target.
pub fn torture(
    mut connector: Connector,
    options: &FuzzOptions,
    load: Load,
    listener: &mut dyn Listener,
) -> Result<Fuzzed, FuzzError> {
    let secrets = entrust(&mut connector, options.seed);
    let mut session = Session::open(connector, &Limits::from(options), listener)?;
    let lab = session.lab(World::Plain);
    let mut notebook = session.notebook();
    let (mut at_once, mut lifecycle) = probes(&session, options, secrets, load, &mut notebook);
    let mut probes: Vec<&mut dyn Probe> = vec![&mut at_once];
    if matches!(load.mode, TortureMode::All | TortureMode::Lifecycle) {
        probes.push(&mut lifecycle);
    }
    session.run(&lab, &mut probes, &mut notebook, listener)?;
    Ok(session.fuzzed(&lab, notebook))
}

/// The probe that makes calls at once, and the one that sees how a server begins and ends.
pub(super) fn probes(
    session: &Session,
    options: &FuzzOptions,
    secrets: Secrets,
    load: Load,
    notebook: &mut Notebook,
) -> (Torture, Lifecycle) {
    let Known { server, catalogue, .. } = &session.known;
    let selection = Selection::new(catalogue, server, Wishes::from(options));
    notebook.not_tested.extend(selection.left_out.clone());
    let mut context = Context::new(catalogue, server.protocol).with_secrets(secrets);
    context.server_said = said(server);
    let context = Arc::new(context);
    let (known, connector) = (&session.known, &session.connector);
    let lifecycle = Lifecycle::new(known, connector, context.clone(), load.thorough, options.seed);
    (Torture::new(known, connector, context, &selection, load, options.seed, notebook), lifecycle)
}
