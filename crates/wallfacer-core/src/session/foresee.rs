//! A target in, what a run of fuzzing would call out. The server is asked for its lists, and nothing is called.

use std::time::Instant;

use serde::Serialize;

use super::campaign::Campaign;
use super::fuzz::{FuzzError, FuzzOptions, look};
use crate::event::{Event, Listener};
use crate::plan::{offer_cases, protocol_cases};
use crate::summary::NotTested;
use crate::wire::Connector;

/// What would be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Foreseen {
    /// The tools that would be called.
    pub tools: Vec<String>,
    /// Cases of each tool, at most.
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
    mut connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Foreseen, FuzzError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    listener.hear(&Event::Connecting { target: &connector.target().shown() });
    let (server, catalogue) = runtime.block_on(options.stop.unless(look(&mut connector)))??;
    let mut campaign = Campaign::new(options, &catalogue, &server, Instant::now());
    let planner = campaign.planner();
    let stored = campaign.stored(&catalogue).len();
    let offers = offer_cases(&catalogue, server.claims("completions"), options.max_bytes, options.seed);
    let frames = protocol_cases(server.protocol, options.max_bytes, options.seed);
    Ok(Foreseen {
        tools: planner.tools().map(str::to_owned).collect(),
        cases_per_tool: options.iterations,
        offers: offers.len(),
        frames: if options.protocol_frames { frames.len() } else { 0 },
        stored,
        not_tested: campaign.not_tested().cloned().collect(),
    })
}
