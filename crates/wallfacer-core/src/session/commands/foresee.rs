//! Tells what fuzzing would call. The server is asked for its lists, and nothing is called.

use serde::Serialize;

use crate::event::Listener;
use crate::plan::{offer_cases, protocol_cases};
use crate::session::agenda::{Selection, Wishes};
use crate::session::lab::World;
use crate::session::look::Known;
use crate::session::options::{FuzzError, FuzzOptions};
use crate::session::probes::fuzz::{plan, stored};
use crate::session::run::{Limits, Session};
use crate::summary::NotTested;
use crate::wire::Connector;

/// What would be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Foreseen {
    /// The tools that would be called.
    pub tools: Vec<String>,
    /// Cases of each of them, at most.
    pub cases_per_tool: usize,
    /// Requests for resources, prompts and completion.
    pub offers: usize,
    /// Malformed frames.
    pub frames: usize,
    /// Failures of earlier runs that would be tried again.
    pub stored: usize,
    pub not_tested: Vec<NotTested>,
}

/// Tells what [`fuzz`](super::fuzz) would do with the same options.
pub fn foresee(
    connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Foreseen, FuzzError> {
    let mut session = Session::open(connector, &Limits::from(options), listener)?;
    session.lab(World::Plain).rest();
    let mut notebook = session.notebook();
    let Known { server, catalogue, .. } = &session.known;
    let selection = Selection::new(catalogue, server, Wishes::from(options));
    notebook.not_tested.extend(selection.left_out.clone());
    let planner = plan(options, &selection, &mut notebook);
    let stored = stored(options, catalogue, &selection, &mut notebook).len();
    let offers = offer_cases(catalogue, server.claims("completions"), options.max_bytes, options.seed);
    let frames = protocol_cases(server.protocol, options.max_bytes, options.seed);
    Ok(Foreseen {
        tools: planner.tools().map(str::to_owned).collect(),
        cases_per_tool: options.iterations,
        offers: offers.len(),
        frames: if options.protocol_frames { frames.len() } else { 0 },
        stored,
        not_tested: notebook.not_tested.into_iter().collect(),
    })
}
