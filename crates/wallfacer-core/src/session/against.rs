//! Two servers in, where they disagree on the same calls out. Each round is made twice on fresh servers: what one server
//! answers now so and now so is no disagreement.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use wallfacer_schema::{Class, Schema, Shrinker};

use super::campaign::Campaign;
use super::confirm::Confirmed;
use super::examine::tell_connected;
use super::fuzz::{FuzzError, FuzzOptions};
use super::pair::{Both, Pair};
use super::shard::teach;
use super::suspicion::Suspicion;
use crate::event::{Event, Listener};
use crate::findings::{Cause, Reproduced};
use crate::judge::{Charge, Context, Reply, disagreements};
use crate::place::Pattern;
use crate::plan::{Case, Planner, Step, with_arguments};
use crate::stop::Stopped;
use crate::summary::Fuzzed;
use crate::target::Destructive;
use crate::wire::{ConnectError, Connector, shortened};

/// Tries of one disagreement on fresh servers.
const TRIES: u32 = 2;
/// Proposals and time to make one case smaller.
const MAX_PROPOSALS: usize = 60;
const MINIMISING: Duration = Duration::from_secs(8);
/// Disagreements of one tool that are looked into; further ones are mostly the same thing seen from elsewhere.
const MAX_OF_TOOL: usize = 5;
/// Steps before a case that are tried again with it, where it agrees alone.
const MAX_BEFORE: usize = 200;
/// Silences of one tool after which it is left alone, for each costs a whole time limit.
const MAX_SILENCES: usize = 2;
/// Letters of a name that are told.
const SHOWN: usize = 80;

/// Holds one server against another, but for the places that are to be ignored.
pub fn against(
    here: Connector,
    there: Connector,
    options: &FuzzOptions,
    ignore: &[Pattern],
    listener: &mut dyn Listener,
) -> Result<Fuzzed, FuzzError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = Instant::now();
    let target = here.target().shown();
    listener.hear(&Event::Connecting { target: &target });
    let mut pair = runtime.block_on(options.stop.unless(Pair::open(here, there, options.seed)))??;
    let (server, catalogue) = (pair.here.server.clone(), pair.here.catalogue.clone());
    let mut campaign = Campaign::new(options, &catalogue, &server, started);
    tell_other(&mut campaign, &pair);
    let context = Context::new(&catalogue, server.protocol);
    leave_out(&mut campaign, &pair, &context, &options.destructive);
    let mut planner = campaign.planner();
    let mut comparison = Comparison {
        options,
        typed: ignore,
        volatile: BTreeMap::new(),
        known: BTreeMap::new(),
        silences: BTreeMap::new(),
    };
    tell_connected(&server, listener);
    let listings = comparison.listings(&mut pair, &mut campaign, listener);
    runtime.block_on(options.stop.unless(listings)).unwrap_or_else(|Stopped| Ok(()))?;
    while !campaign.is_over()
        && let Some(round) = planner.next_round()
    {
        let phase = format!("{:?}", round.phase).to_lowercase();
        listener.hear(&Event::RoundBegun { phase: &phase, cases: round.cases.len() });
        let made = comparison.round(&round.cases, &mut pair, &mut campaign, &mut planner, listener);
        runtime.block_on(options.stop.unless(made)).unwrap_or_else(|Stopped| Ok(()))?;
        listener.hear(&Event::RoundDone {
            phase: &phase,
            calls: campaign.calls(),
            suspicions: 0,
            suspected: &[],
        });
    }
    comparison.tell_volatile(&mut campaign);
    campaign.add_lives(pair.lives());
    Ok(campaign.finish(target, server))
}

fn tell_other(campaign: &mut Campaign<'_>, pair: &Pair) {
    let there = &pair.there.server;
    let name = there.name.as_deref().unwrap_or("a server without a name");
    let version = there.version.as_deref().map(|version| format!(" {version}")).unwrap_or_default();
    let name = shortened(&format!("{name}{version}"), SHOWN);
    campaign.note(None, format!("it was held against {name}, which speaks {}", there.protocol));
    if !pair.with_structured {
        let why = "one of the two speaks a version that has none";
        campaign.leave_out("structured content and output schemas", why);
    }
}

/// Tools that cannot be compared, or must not be called on the other server.
fn leave_out(campaign: &mut Campaign<'_>, pair: &Pair, context: &Context, destructive: &Destructive) {
    for tool in campaign.chosen_names() {
        let why = if context.shows_environment(&tool) {
            "it shows its environment, which is not the same for two servers".to_owned()
        } else if pair.there.tool(&tool).is_none() {
            "the other server does not have it".to_owned()
        } else if let Some(held) = pair.held_back(&tool, destructive) {
            format!(
                "{held}, and its effects on the other server would be real; [allow_destructive] tools lifts this"
            )
        } else {
            continue;
        };
        campaign.do_without(&tool, &why);
    }
}

/// What is known of the two so far.
struct Comparison<'a> {
    options: &'a FuzzOptions,
    typed: &'a [Pattern],
    /// Places that differ from call to call on one server, by tool.
    volatile: BTreeMap<String, BTreeSet<Pattern>>,
    /// Disagreements that were looked into, by tool.
    known: BTreeMap<String, BTreeSet<Cause>>,
    silences: BTreeMap<String, usize>,
}

/// A case of a round, as both answered it.
struct Asked<'a> {
    case: &'a Case,
    /// The place of the first case that the same servers had.
    first: usize,
    replies: Option<(Reply, Reply)>,
}

impl Comparison<'_> {
    /// Holds what the two list against each other.
    async fn listings(
        &mut self,
        pair: &mut Pair,
        campaign: &mut Campaign<'_>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let sides = [&pair.here, &pair.there];
        let names =
            sides.iter().flat_map(|side| side.catalogue.tools.entries.iter().map(|tool| tool.name.clone()));
        for tool in names.collect::<BTreeSet<String>>() {
            if !self.options.wants(&tool) {
                continue;
            }
            for charge in pair.listed(&tool) {
                let case = Case::listing(&tool, pair.measure(&[]), self.options.seed);
                let (reproduced, _) = self.prove(&case, &charge, pair).await?;
                keep(campaign, case, charge, reproduced, listener);
            }
            campaign.count_declaration();
        }
        Ok(())
    }

    /// Makes all calls of a round on both servers, twice, and looks into where they disagree.
    async fn round(
        &mut self,
        cases: &[Case],
        pair: &mut Pair,
        campaign: &mut Campaign<'_>,
        planner: &mut Planner,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let first = self.pass(cases, pair, campaign, Some(planner)).await?;
        let second = self.pass(cases, pair, campaign, None).await?;
        for (one, two) in first.iter().zip(&second) {
            let (Some(before), Some(after)) = (&one.replies, &two.replies) else { continue };
            let differs = before.0.differs(&after.0).into_iter().chain(before.1.differs(&after.1));
            let places: Vec<Pattern> = differs.map(|each| each.place.pattern()).collect();
            self.volatile.entry(tool(one.case).to_owned()).or_default().extend(places);
        }
        for (index, (one, two)) in first.iter().zip(&second).enumerate() {
            let (Some(before), Some(after)) = (&one.replies, &two.replies) else { continue };
            let ignored = self.ignored(tool(one.case));
            let again = disagreements(tool(two.case), &after.0, &after.1, &ignored);
            for charge in disagreements(tool(one.case), &before.0, &before.1, &ignored) {
                let lasting = again.iter().any(|other| other.cause == charge.cause);
                if lasting && self.is_news(tool(one.case), &charge) {
                    let history = cases[one.first..index].iter().flat_map(|case| case.steps.clone());
                    let history: Vec<Step> = history.collect();
                    self.look_into(one.case, charge, &history, pair, campaign, listener).await?;
                }
            }
        }
        Ok(())
    }

    /// All calls once, on servers that are fresh at the beginning.
    async fn pass<'c>(
        &mut self,
        cases: &'c [Case],
        pair: &mut Pair,
        campaign: &mut Campaign<'_>,
        mut planner: Option<&mut Planner>,
    ) -> Result<Vec<Asked<'c>>, ConnectError> {
        pair.rest().await;
        let mut asked = Vec::new();
        let mut first = 0;
        for (index, case) in cases.iter().enumerate() {
            let silences = self.silences.get(tool(case)).copied().unwrap_or_default();
            if campaign.is_over() || silences >= MAX_SILENCES {
                asked.push(Asked { case, first, replies: None });
                continue;
            }
            let Both { here, there, answer, recording } = pair.ask(case).await?;
            campaign.count(case, &answer);
            if let Some(planner) = planner.as_deref_mut() {
                teach(planner, case, &answer, &recording);
            }
            let fatal = [&here, &there].iter().any(|reply| matches!(reply, Reply::Silent | Reply::Gone));
            asked.push(Asked { case, first, replies: Some((here, there)) });
            if fatal {
                first = index + 1;
                *self.silences.entry(tool(case).to_owned()).or_default() += 1;
            }
        }
        Ok(asked)
    }

    fn is_news(&mut self, tool: &str, charge: &Charge) -> bool {
        let known = self.known.entry(tool.to_owned()).or_default();
        known.len() < MAX_OF_TOOL && known.insert(charge.cause.clone())
    }

    async fn look_into(
        &mut self,
        case: &Case,
        charge: Charge,
        history: &[Step],
        pair: &mut Pair,
        campaign: &mut Campaign<'_>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let (mut reproduced, mut proven) = self.prove(case, &charge, pair).await?;
        let mut case = case.clone();
        if reproduced.k == 0 && !history.is_empty() && history.len() <= MAX_BEFORE {
            let steps = history.iter().chain(&case.steps).cloned().collect();
            let script = Case { steps, ..case.clone() };
            (reproduced, proven) = self.prove(&script, &charge, pair).await?;
            if reproduced.always() {
                case = self.shorten(script, &charge, pair).await?;
            }
        } else if reproduced.always() {
            let schema = campaign.schemas().get(tool(&case));
            case = self.minimise(&case, &charge, schema, pair).await?;
        }
        let Some(mut charge) = proven else {
            let text = format!("seen in a row with other calls, and not by itself: {}", charge.message);
            campaign.note(Some(tool(&case)), text);
            return Ok(());
        };
        if case.steps.len() > 1 {
            charge.message = format!("{}, after {} other calls", charge.message, case.steps.len() - 1);
        }
        keep(campaign, case, charge, reproduced, listener);
        Ok(())
    }

    /// How often the two disagree in the same way on fresh servers.
    async fn prove(
        &self,
        case: &Case,
        charge: &Charge,
        pair: &mut Pair,
    ) -> Result<(Reproduced, Option<Charge>), ConnectError> {
        let (mut k, mut proven) = (0, None);
        for _ in 0..TRIES {
            if let Some(again) = self.try_fresh(case, charge, pair).await? {
                k += 1;
                proven = Some(again);
            }
        }
        Ok((Reproduced { k, n: TRIES }, proven))
    }

    async fn try_fresh(
        &self,
        case: &Case,
        charge: &Charge,
        pair: &mut Pair,
    ) -> Result<Option<Charge>, ConnectError> {
        let ignored = case.tool_name().map(|tool| self.ignored(tool)).unwrap_or_default();
        let charges = pair.charges(case, &ignored).await?;
        Ok(charges.into_iter().find(|again| again.cause == charge.cause))
    }

    /// Leaves out steps, many at a time and then fewer, as long as the two disagree.
    async fn shorten(&self, script: Case, charge: &Charge, pair: &mut Pair) -> Result<Case, ConnectError> {
        let until = Instant::now() + MINIMISING;
        let mut script = script;
        let mut size = script.steps.len() / 2;
        while size > 0 {
            let mut start = 0;
            // The last step is the one that is judged.
            while start + 1 < script.steps.len() && Instant::now() < until {
                let mut shorter = script.clone();
                shorter.steps.drain(start..(start + size).min(script.steps.len() - 1));
                match self.try_fresh(&shorter, charge, pair).await? {
                    Some(_) => script = shorter,
                    None => start += size,
                }
            }
            size /= 2;
        }
        Ok(script)
    }

    /// The smallest valid arguments that are found on which the two still disagree.
    async fn minimise(
        &self,
        case: &Case,
        charge: &Charge,
        schema: Option<&Schema>,
        pair: &mut Pair,
    ) -> Result<Case, ConnectError> {
        let (Some(schema), Some(arguments)) = (schema, case.arguments()) else { return Ok(case.clone()) };
        let until = Instant::now() + MINIMISING;
        let mut shrinker = Shrinker::new(schema, arguments.clone(), Class::Valid);
        let mut smallest = case.clone();
        for _ in 0..MAX_PROPOSALS {
            let Some(proposal) = shrinker.next().filter(|_| Instant::now() < until) else { break };
            let smaller = with_arguments(case, &proposal);
            let Both { here, there, .. } = pair.ask(&smaller).await?;
            let told = disagreements(tool(case), &here, &there, &self.ignored(tool(case)));
            let fails = told.iter().any(|other| other.cause == charge.cause);
            shrinker.keep(fails);
            if fails {
                smallest = smaller;
            }
        }
        let holds = self.try_fresh(&smallest, charge, pair).await?.is_some();
        Ok(if holds { smallest } else { case.clone() })
    }

    fn ignored(&self, tool: &str) -> Vec<Pattern> {
        self.typed.iter().chain(self.volatile.get(tool).into_iter().flatten()).cloned().collect()
    }

    fn tell_volatile(&self, campaign: &mut Campaign<'_>) {
        for (tool, places) in self.volatile.iter().filter(|(_, places)| !places.is_empty()) {
            let places: Vec<String> = places.iter().map(|place| format!("`{place}`")).collect();
            let text = format!("not compared, for it differs from call to call: {}", places.join(", "));
            campaign.note(Some(tool), text);
        }
    }
}

fn keep(
    campaign: &mut Campaign<'_>,
    case: Case,
    charge: Charge,
    reproduced: Reproduced,
    listener: &mut dyn Listener,
) {
    if reproduced.k == 0 {
        campaign.note(case.subject.tool(), format!("seen once, never again: {}", charge.message));
        return;
    }
    let suspicion = Suspicion { case: case.clone(), charge: charge.clone(), before: Vec::new() };
    let confirmed = Confirmed::Finding { charge: Box::new(charge), case, reproduced };
    campaign.take_confirmed(confirmed, suspicion, listener);
}

fn tool(case: &Case) -> &str {
    case.subject.tool().unwrap_or_default()
}
