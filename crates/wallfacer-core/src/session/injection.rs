//! Put payloads into every string that a server takes, one call at a time in worlds where every effect is seen, and keep
//! what is proven by its effect.

mod lane;
mod learning;

use std::collections::BTreeMap;
use std::time::Instant;

use tokio::runtime::Runtime;
use wallfacer_process::sink::Mode as Net;

use self::lane::{Deadlines, Lane, Tried, side_by_side};
use self::learning::learn;
use super::fuzz::{FuzzError, FuzzOptions, look};
use super::proving::Proving;
use crate::catalogue::{Catalogue, Tool};
use crate::event::{Event, Listener};
use crate::findings::Cause;
use crate::judge::{Charge, Context};
use crate::plan::{Case, Ground, Known, Ranked, injection_cases};
use crate::run::{Patience, Runner};
use crate::summary::{Injected, NotTested};
use crate::wire::{ConnectError, Connector};

/// The part of the time for learning what leads into each tool.
const LEARNING_SHARE: f64 = 0.25;
/// The part of the time that is kept for making small what is suspected, once no more is tried.
const KEPT_FOR_REDUCING: f64 = 0.1;
/// The part of the time that is kept for seeing suspicions again.
const KEPT_FOR_CONFIRMING: f64 = 0.3;
/// Servers that are asked at once, each in a world of its own. The number is part of the plan: which tool is tried on which
/// server must not depend on the machine.
const LANES: usize = 2;
/// Cases between two looks at what is suspected, so that what is found early is proven while there is time.
const BAND: usize = 400;

/// What this is called while it goes on.
const PHASE: &str = "injection";

/// Tries injections on one target.
pub fn inject(
    mut connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Injected, FuzzError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = Instant::now();
    connector.world_mut().watch = true;
    if !connector.world().has_walls() {
        return Ok(Injected::not_tested("the server ran without a sandbox"));
    }
    let (server, catalogue) = runtime.block_on(options.stop.unless(look(&mut connector)))??;
    if let Some(why) = unseen(&connector) {
        return Ok(Injected::not_tested(&why));
    }
    let ground = prepare(&mut connector, &catalogue, options.seed, false);
    let patience = Patience::new(connector.target().timeouts.clone()).at_first_sight();
    let mut offline = connector.clone();
    offline.world_mut().network = Net::Refuse;
    offline.world_mut().listeners.clear();
    let context = Context::new(&catalogue, server.protocol);
    let pair =
        || [&connector, &offline].map(|world| Runner::new(world.clone(), &catalogue, patience.clone()));
    let lanes = (0..LANES).map(|_| Lane::new(pair(), &context, &options.stop)).collect::<Result<_, _>>()?;
    let until = options.budget.map(|budget| started + budget);
    let tools = wanted(&catalogue, options);
    let mut attempt = Attempt {
        options,
        ground: &ground,
        context: &context,
        // What is suspected was made small before, in the time for trying.
        proving: Proving::new(&server, BTreeMap::new(), options.seed, until, &options.stop),
        tools,
        lanes,
        provers: pair(),
        started,
        until,
        out_of_time: false,
    };
    attempt.perform(&runtime, listener)?;
    Ok(attempt.finish(&runtime))
}

/// Why the effects of a call on this target are not seen; none where they are.
pub(super) fn unseen(connector: &Connector) -> Option<String> {
    let standing = connector.standing()?;
    if standing.is_harmless() && standing.observed.calls {
        return None;
    }
    let why = standing.remarks.first().cloned();
    Some(why.unwrap_or_else(|| "what the server does could not be observed".to_owned()))
}

/// Plants what injections are after into the world of all lives to come.
pub(super) fn prepare(connector: &mut Connector, catalogue: &Catalogue, seed: u64, offline: bool) -> Ground {
    let world = connector.world_mut();
    let ground = Ground::new(world.scopes(), catalogue, seed);
    world.watch = true;
    world.network = if offline { Net::Refuse } else { Net::Answer };
    world.listeners = if offline { Vec::new() } else { vec![ground.port] };
    world.plants = ground.plants.clone();
    ground
}

fn wanted<'a>(catalogue: &'a Catalogue, options: &FuzzOptions) -> Vec<&'a Tool> {
    let wanted = |tool: &&Tool| {
        let included = options.include.as_ref().is_none_or(|include| include.is_match(&tool.name));
        included && !options.exclude.as_ref().is_some_and(|exclude| exclude.is_match(&tool.name))
    };
    catalogue.tools.entries.iter().filter(wanted).collect()
}

struct Attempt<'a> {
    options: &'a FuzzOptions,
    ground: &'a Ground,
    context: &'a Context,
    tools: Vec<&'a Tool>,
    lanes: Vec<Lane<'a>>,
    proving: Proving<'a>,
    /// Fresh servers to see it again on: with a network, and without.
    provers: [Runner; 2],
    started: Instant,
    until: Option<Instant>,
    out_of_time: bool,
}

impl Attempt<'_> {
    fn perform(&mut self, runtime: &Runtime, listener: &mut dyn Listener) -> Result<(), ConnectError> {
        listener.hear(&Event::RoundBegun { phase: "learning what leads in", cases: self.tools.len() });
        let learning_until = self.part(LEARNING_SHARE);
        let known = learn(&self.tools, self.ground, self.options.seed, learning_until, &mut self.lanes)?;
        let cases = self.cases(&known);
        let deadlines = Deadlines {
            trying: self.part(1.0 - KEPT_FOR_CONFIRMING - KEPT_FOR_REDUCING),
            reducing: self.part(1.0 - KEPT_FOR_CONFIRMING),
        };
        if !cases.is_empty() {
            listener.hear(&Event::RoundBegun { phase: PHASE, cases: cases.len() });
        }
        for band in cases.chunks(BAND) {
            let tools = &self.tools;
            let tried = side_by_side(&mut self.lanes, |lane, index| {
                lane.attack(band.iter().filter(|case| lane_of(tools, case) == index), deadlines)
            })?;
            self.confirm(tried, runtime, listener)?;
            if self.out_of_time {
                break;
            }
        }
        let calls = self.lanes.iter().map(|lane| lane.calls).sum();
        let (suspicions, suspected) = (self.proving.len(), &self.proving.in_words());
        listener.hear(&Event::RoundDone { phase: PHASE, calls, suspicions, suspected });
        Ok(())
    }

    /// The likeliest first, whichever tool they belong to.
    fn cases(&self, known: &BTreeMap<String, Known>) -> Vec<Case> {
        let nothing = Known::default();
        let of_tool = |tool: &&Tool| {
            let known = known.get(&tool.name).unwrap_or(&nothing);
            injection_cases(tool, known, self.ground, self.options.seed)
        };
        let mut cases: Vec<Ranked> = self.tools.iter().flat_map(of_tool).collect();
        cases.sort_by_key(|ranked| ranked.rank);
        cases.into_iter().map(|ranked| ranked.case).collect()
    }

    /// Looks into what is suspected, each in the world where it was seen.
    fn confirm(
        &mut self,
        tried: Vec<Tried>,
        runtime: &Runtime,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        self.out_of_time |= tried.iter().any(|tried| tried.out_of_time);
        let (suspected, notes): (Vec<_>, Vec<_>) =
            tried.into_iter().map(|tried| (tried.suspected, tried.notes)).unzip();
        self.proving.notes.extend(notes.into_iter().flatten());
        let suspected = in_turn(suspected.into_iter().flatten());
        for (prover, offline) in self.provers.iter_mut().zip([false, true]) {
            let is_offline = |case: &Case| case.intent.injection().is_some_and(|injection| injection.offline);
            for (case, charge) in suspected.iter().filter(|(case, _)| is_offline(case) == offline) {
                self.proving.suspect(case, charge.clone(), &[]);
            }
            if self.proving.len() > 0 {
                runtime.block_on(self.proving.confirm_together(prover, self.context, listener))?;
            }
        }
        Ok(())
    }

    fn finish(mut self, runtime: &Runtime) -> Injected {
        let mut not_tested = Vec::new();
        let out_of_time = self.out_of_time || self.proving.out_of_time;
        if out_of_time {
            let why = self.options.stop.why().to_owned();
            not_tested.push(NotTested { what: "the rest of the injections".to_owned(), why });
        }
        for tool in self.lanes.iter().flat_map(Lane::given_up) {
            let why = "it kept ending or silencing the server".to_owned();
            not_tested.push(NotTested { what: format!("some injections into {tool}"), why });
        }
        let notes = std::mem::take(&mut self.proving.notes).into_iter().collect();
        let (findings, flaky) = self.proving.finish();
        let mut lives: u64 = self.lanes.iter_mut().map(Lane::close).sum();
        for prover in &mut self.provers {
            let _or_its_keeper = runtime.block_on(self.options.stop.unless(prover.rest()));
            lives += prover.lives;
        }
        let calls = self.lanes.iter().map(|lane| lane.calls).sum();
        Injected { calls, lives, findings, flaky, notes, not_tested, out_of_time }
    }

    /// When this part of the time has passed.
    fn part(&self, share: f64) -> Option<Instant> {
        Some(self.started + self.until?.saturating_duration_since(self.started).mul_f64(share))
    }
}

/// The first of each cause, then the second of each: where time is short, it is not spent on seeing one in many tools.
fn in_turn(suspected: impl Iterator<Item = (Case, Charge)>) -> Vec<(Case, Charge)> {
    let mut counts: BTreeMap<Cause, usize> = BTreeMap::new();
    let mut counted: Vec<(usize, (Case, Charge))> = Vec::new();
    for (case, charge) in suspected {
        let count = counts.entry(charge.cause.clone()).or_default();
        *count += 1;
        counted.push((*count, (case, charge)));
    }
    counted.sort_by_key(|(count, _)| *count);
    counted.into_iter().map(|(_, suspected)| suspected).collect()
}

/// The lane that a case is tried in: all of one tool in the same, for what is known of it is known there.
fn lane_of(tools: &[&Tool], case: &Case) -> usize {
    let index = tools.iter().position(|tool| Some(tool.name.as_str()) == case.subject.tool());
    index.unwrap_or_default() % LANES
}
