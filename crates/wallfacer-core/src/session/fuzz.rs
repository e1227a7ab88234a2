//! Exercise everything that a server offers, decide what is a bug, and keep each bug once, small, and proven.

use std::sync::Arc;
use std::time::{Duration, Instant};

use globset::GlobSet;

use super::campaign::{Campaign, Field};
use super::differential::hold_declarations;
use super::entrust::entrust;
use super::examine::tell_connected;
use super::foothold::footholds;
use crate::catalogue::{Catalogue, discover};
use crate::event::{Event, Listener};
use crate::judge::Context;
use crate::learn::Learned;
use crate::plan::{Case, Input, Mode, Planner, offer_cases, protocol_cases};
use crate::run::{Patience, Runner};
use crate::stop::{Stop, Stopped};
use crate::summary::{Fuzzed, Summary};
use crate::target::Destructive;
use crate::wire::{ConnectError, Connector, Server};

const GRACE: Duration = Duration::from_secs(2);
/// The variable that holds a secret of ours, so that a server which shows its environment is seen to do so.
pub(super) const CANARY: &str = "WALLFACER_CANARY_TOKEN";

const OF_ANOTHER: &str =
    "the answers that were learned are those of a server with another name, and were left out";

/// How to fuzz.
#[derive(Debug, Clone)]
pub struct FuzzOptions {
    pub seed: u64,
    pub mode: Mode,
    pub iterations: usize,
    pub max_bytes: usize,
    pub include: Option<GlobSet>,
    pub exclude: Option<GlobSet>,
    pub max_tools: Option<usize>,
    pub in_flight: usize,
    pub workers: usize,
    pub budget: Option<Duration>,
    /// How much longer than the budget it may take to see again what is suspected.
    pub overtime: Duration,
    pub protocol_frames: bool,
    pub destructive: Destructive,
    /// Failures of earlier runs, which are tried before all else.
    pub stored: Vec<Case>,
    /// What was learned of the server's answers, and written down.
    pub learned: Option<Arc<Learned>>,
    /// Whether what brings news is tried again with changes.
    pub feedback: Option<Feedback>,
    /// Tells the session to end.
    pub stop: Stop,
}

impl FuzzOptions {
    /// Whether a tool is among those that somebody wants to hear of.
    pub fn wants(&self, tool: &str) -> bool {
        let included = self.include.as_ref().is_none_or(|include| include.is_match(tool));
        included && !self.exclude.as_ref().is_some_and(|exclude| exclude.is_match(tool))
    }
}

/// How news steer the random cases.
#[derive(Debug, Clone)]
pub struct Feedback {
    /// How many of the random cases are made of inputs that brought news, from none to all.
    pub ratio: f64,
    /// Inputs that brought news in earlier runs.
    pub known: Vec<Input>,
}

impl Default for FuzzOptions {
    fn default() -> FuzzOptions {
        FuzzOptions {
            seed: 0,
            mode: Mode::Mixed,
            iterations: 200,
            max_bytes: 1 << 20,
            include: None,
            exclude: None,
            max_tools: None,
            in_flight: 16,
            workers: 1,
            budget: None,
            overtime: Duration::ZERO,
            protocol_frames: false,
            destructive: Destructive::default(),
            stored: Vec::new(),
            learned: None,
            feedback: None,
            stop: Stop::default(),
        }
    }
}

/// Why nothing could be fuzzed.
#[derive(Debug, thiserror::Error)]
pub enum FuzzError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("cannot set up what wallfacer waits with: {0}")]
    Runtime(#[from] std::io::Error),
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Fuzzes one target.
pub fn fuzz(
    connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Fuzzed, FuzzError> {
    fuzz_around(connector, options, listener, &mut |_, _| Ok(None))
}

/// What is done between the two halves, given the first half's summary; how much time there is for the second.
pub(super) type Interval<'a> =
    dyn FnMut(&Summary, &mut dyn Listener) -> Result<Option<Duration>, FuzzError> + 'a;

/// The same in two halves: once the budget is used up, something else has its turn, and what there was no time for is
/// done in the time that this leaves.
pub(super) fn fuzz_around(
    mut connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
    interval: &mut Interval<'_>,
) -> Result<Fuzzed, FuzzError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = Instant::now();
    let target = connector.target().shown();
    let secrets = entrust(&mut connector, options.seed);
    listener.hear(&Event::Connecting { target: &target });
    let (server, catalogue) = runtime.block_on(options.stop.unless(look(&mut connector)))??;
    tell_connected(&server, listener);
    let context = Context::new(&catalogue, server.protocol).with_secrets(secrets);
    let known = options.learned.as_deref().filter(|learned| learned.server == server.name);
    let context = known.into_iter().fold(context, Context::with_learned);
    let patience = Patience::new(connector.target().timeouts.clone()).at_first_sight();
    let runner = || Runner::new(connector.clone(), &catalogue, patience.clone());
    let field = Field { runner: &runner, context: &context, runtime: &runtime };
    let mut campaign = Campaign::new(options, &catalogue, &server, started);
    match (known, &options.learned) {
        (Some(known), _) => {
            hold_declarations(&mut campaign, &context, known, &connector, options, listener)?;
        }
        (None, Some(_)) => campaign.note(None, OF_ANOTHER.to_owned()),
        (None, None) => {}
    }
    let mut planner = campaign.planner();
    // Calls about files that are there reach further, and do no harm where nothing is written through.
    if server.standing.is_confined() {
        planner.know(footholds(&catalogue.tools.entries, connector.world().scopes()));
    }
    let stored = campaign.stored(&catalogue);
    campaign.play(&stored, "stored", &field, None, listener)?;
    if options.protocol_frames {
        let frames = protocol_cases(server.protocol, options.max_bytes, options.seed);
        campaign.play(&frames, "protocol frames", &field, None, listener)?;
    }
    let offers = offer_cases(&catalogue, server.claims("completions"), options.max_bytes, options.seed);
    campaign.play(&offers, "offers", &field, None, listener)?;
    let complete = explore(&mut campaign, &mut planner, &field, listener)?;
    campaign.pause(complete);
    if let Some(time) = interval(campaign.summary(), listener)?
        && campaign.has_more()
    {
        let undone = campaign.go_on(time);
        campaign.play(&undone, "what was left", &field, Some(&mut planner), listener)?;
        let complete = match complete {
            true => campaign.confirm_the_rest(&field, listener).map(|()| true)?,
            false => explore(&mut campaign, &mut planner, &field, listener)?,
        };
        campaign.pause(complete);
    }
    Ok(Fuzzed { news: planner.news(), ..campaign.finish(target, server) })
}

/// Round upon round, then whether anything grows, and proof of what is suspected; whether all was begun in time.
fn explore(
    campaign: &mut Campaign<'_>,
    planner: &mut Planner,
    field: &Field<'_>,
    listener: &mut dyn Listener,
) -> Result<bool, FuzzError> {
    while !campaign.is_over()
        && let Some(round) = planner.next_round()
    {
        let phase = format!("{:?}", round.phase).to_lowercase();
        campaign.play(&round.cases, &phase, field, Some(planner), listener)?;
    }
    let complete = !campaign.is_over();
    if complete {
        campaign.play(&campaign.growth_cases(), "growth", field, None, listener)?;
    }
    campaign.confirm_the_rest(field, listener)?;
    Ok(complete)
}

pub(super) async fn look(connector: &mut Connector) -> Result<(Server, Catalogue), ConnectError> {
    let (mut connection, server) = connector.open().await?;
    let timeouts = connector.target().timeouts.clone();
    let catalogue = discover(&mut connection, &server, &timeouts).await;
    connector.dismiss(connection, GRACE).await;
    Ok((server, catalogue))
}

/// A value that stands in no other text, and is the same for the same seed.
pub(super) fn canary(seed: u64) -> String {
    let hash = blake3::hash(format!("wallfacer canary {seed}").as_bytes());
    format!("wallfacer-{}", &hash.to_hex()[..32])
}
