//! `differential`: learns what the answers of a server have in common; and later holds it against what was learned.

use std::sync::Arc;

use crate::event::Listener;
use crate::judge::Context;
use crate::learn::Learned;
use crate::session::agenda::{Selection, Wishes};
use crate::session::entrust::entrust;
use crate::session::lab::World;
use crate::session::look::Known;
use crate::session::options::{FuzzError, FuzzOptions};
use crate::session::probes::differential::{Listing, declaration_cases, tell_news, tell_unheld};
use crate::session::probes::fuzz::{Fuzz, plan};
use crate::session::prove::Interest;
use crate::session::run::{Limits, Session};
use crate::summary::Fuzzed;
use crate::wire::Connector;

/// What came of learning.
#[derive(Debug)]
pub struct Taught {
    pub learned: Learned,
    /// What was called for it.
    pub run: Fuzzed,
}

/// Calls the tools as they are meant to be called, and learns what they declare and answer. Nothing is held against them.
pub fn learn(
    connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Taught, FuzzError> {
    let (run, learned) = exercise(connector, options, true, listener)?;
    Ok(Taught { learned, run })
}

/// Calls the tools as they are meant to be called, and holds what they declare and answer against what was learned.
pub fn differential(
    connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Fuzzed, FuzzError> {
    exercise(connector, options, false, listener).map(|(run, _)| run)
}

fn exercise(
    mut connector: Connector,
    options: &FuzzOptions,
    learns: bool,
    listener: &mut dyn Listener,
) -> Result<(Fuzzed, Learned), FuzzError> {
    let secrets = entrust(&mut connector, options.seed);
    let mut session = Session::open(connector, &Limits::from(options), listener)?;
    let lab = session.lab(World::Plain);
    let mut notebook = session.notebook();
    let Known { server, catalogue, .. } = &session.known;
    let selection = Selection::new(catalogue, server, Wishes::from(options));
    notebook.not_tested.extend(selection.left_out.clone());
    let known = options.learned.as_deref().filter(|_| !learns);
    let context = Context::new(catalogue, server.protocol).with_secrets(secrets);
    let context = Arc::new(known.into_iter().fold(context, Context::with_learned));
    let declarations = known.map(|known| declaration_cases(known, &selection, options.seed));
    let declarations = declarations.unwrap_or_default();
    notebook.judged += declarations.len() as u64;
    let mut listing = Listing::new(declarations, &context, server.protocol, Interest::ANSWERS);
    if let Some(known) = known {
        tell_news(&selection, &context, known, server.name.as_deref(), &mut notebook);
    }
    if !learns {
        tell_unheld(&selection, &context, &mut notebook);
    }
    let planner = plan(options, &selection, &mut notebook);
    let fuzz = Fuzz::new(options, context, selection);
    let fuzz = fuzz.with_plan(planner, Vec::new(), Vec::new(), Vec::new()).without_growth();
    let mut fuzz = match learns {
        // Who learns does not judge.
        true => fuzz.learning().seeing(World::Plain, Interest::RULES),
        false => fuzz,
    };
    session.run(&lab, &mut [&mut fuzz, &mut listing], &mut notebook, listener)?;
    let server = session.known.server.name.clone();
    let tools = &session.known.catalogue.tools.entries;
    let learned = Learned::new(server.as_deref(), tools, &fuzz.take_answers());
    Ok((session.fuzzed(&lab, notebook), learned))
}
