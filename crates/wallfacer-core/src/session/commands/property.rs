//! `property`: tries rules on a server.

use crate::event::Listener;
use crate::judge::{Context, Secrets};
use crate::session::agenda::{Selection, Wishes};
use crate::session::entrust::{entrust, marker};
use crate::session::lab::{Lab, World, equip, planted};
use crate::session::look::Known;
use crate::session::options::FuzzError;
use crate::session::probes::Notebook;
use crate::session::probes::rules::{Choose, PropertyOptions, RulesProbe, needs};
use crate::session::run::{Limits, Session};
use crate::summary::Fuzzed;
use crate::wire::Connector;

/// Tools for each of which rules are made; a server that lists thousands would take all memory.
const MAX_TOOLS: usize = 200;

/// Tries rules on one target.
pub fn property(
    mut connector: Connector,
    choose: Choose<'_>,
    options: &PropertyOptions,
    listener: &mut dyn Listener,
) -> Result<Fuzzed, FuzzError> {
    let secrets = entrust(&mut connector, options.effort.seed);
    let mut session = Session::open(connector, &Limits::from(&options.effort), listener)?;
    let lab = session.lab(World::Plain);
    let mut notebook = session.notebook();
    let (mut rules, lab) = probe(&session, choose, options, secrets, lab, &mut notebook);
    session.run(&lab, &mut [&mut rules], &mut notebook, listener)?;
    let news = rules.news();
    Ok(Fuzzed { news, ..session.fuzzed(&lab, notebook) })
}

/// The probe that tries rules, and the laboratory with the world that they need.
pub(super) fn probe(
    session: &Session,
    choose: Choose<'_>,
    options: &PropertyOptions,
    secrets: Secrets,
    lab: Lab,
    notebook: &mut Notebook,
) -> (RulesProbe, Lab) {
    let Known { server, catalogue, .. } = &session.known;
    let seed = options.effort.seed;
    let selection = Selection::new(catalogue, server, Wishes::from(&options.effort));
    notebook.not_tested.extend(selection.left_out.clone());
    let context = Context::new(catalogue, server.protocol).with_secrets(secrets).with_marker(marker(seed));
    let mut shapes = context.shapes();
    if shapes.len() > MAX_TOOLS {
        let why = format!("they are tried on the first {MAX_TOOLS} of {} tools", shapes.len());
        notebook.leave_out("some rules that hold for every tool", &why);
        shapes.truncate(MAX_TOOLS);
    }
    let sets = choose(&shapes);
    let mut connector = session.connector.clone();
    let needs = needs(&sets, &shapes);
    // Where a start is dear, rules that need no world of their own share their servers with others.
    let world = if needs.any() || !lab.starts_are_dear() { World::Equipped } else { World::Plain };
    if needs.any() {
        equip(&mut connector, needs, seed);
    }
    let context = context.with_canary(planted(&connector, server, seed));
    let rules =
        RulesProbe::new((sets, &shapes), context, (world, &connector), &session.known, &selection, options);
    (rules, lab.with(world, connector))
}
