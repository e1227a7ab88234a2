//! Rules in, what a running server makes of them out. What a server says of its tools is judged without a call, fixed
//! arguments are sent once, and sequences are played.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use wallfacer_rules::{Rule, Rules, Sequence, ToolShape};

use super::campaign::{Campaign, Field};
use super::entrust::entrust;
use super::equipment::{Needs, equip, planted, watch};
use super::examine::tell_connected;
use super::fuzz::{FuzzError, FuzzOptions, look};
use crate::catalogue::Catalogue;
use crate::event::{Event, Listener};
use crate::judge::Context;
use crate::plan::{Case, RulePlan, held_back, rule_cases, sequence_case, static_case};
use crate::run::{Patience, Runner};
use crate::summary::Fuzzed;
use crate::wire::Connector;

/// How often a server is asked again for its tools where what it says of them breaks a rule.
const ASKED_AGAIN: usize = 2;

/// A tool that the user does not want to hear of; one that is held back may still be judged by what is said of it.
const LEFT_OUT: &str = "is left out";

/// How to try rules.
#[derive(Debug, Clone)]
pub struct PropertyOptions {
    /// Which tools, with which seed, and for how long.
    pub effort: FuzzOptions,
    /// Inputs of a rule that names no number.
    pub cases: u32,
    /// Whether crashes, hangs and broken answers are looked into here, and not left to another step.
    pub looks_further: bool,
    /// Further lines of noise, for rules that judge by effect.
    pub noise: Vec<String>,
    /// Whether calls are given up early, because the server is known to leave some unanswered.
    pub glances: bool,
}

/// Rules that belong together, by the name of their file or pack.
#[derive(Debug, Clone)]
pub struct RuleSet {
    pub name: String,
    pub rules: Rules,
}

/// Which rules are tried on a server with these tools.
pub type Choose<'a> = &'a dyn Fn(&[ToolShape]) -> Vec<RuleSet>;

/// Tries rules on one target.
pub fn property(
    mut connector: Connector,
    choose: Choose<'_>,
    options: &PropertyOptions,
    listener: &mut dyn Listener,
) -> Result<Fuzzed, FuzzError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = Instant::now();
    let effort = &options.effort;
    let target = connector.target().shown();
    let secrets = entrust(&mut connector, effort.seed);
    listener.hear(&Event::Connecting { target: &target });
    let stop = &effort.stop;
    let (mut server, mut catalogue) = runtime.block_on(stop.unless(look(&mut connector)))??;
    tell_connected(&server, listener);
    let sets = choose(&Context::new(&catalogue, server.protocol).shapes());
    let needs = needs(&sets, &Context::new(&catalogue, server.protocol).shapes());
    if needs.any() {
        equip(&mut connector, needs, effort.seed);
        (server, catalogue) = runtime.block_on(stop.unless(look(&mut connector)))??;
    }
    let context =
        |catalogue: &Catalogue| Context::new(catalogue, server.protocol).with_marker(marker(effort.seed));
    let patience = Patience::new(connector.target().timeouts.clone());
    let patience = if options.glances { patience.at_first_sight() } else { patience };
    let runner = || Runner::new(connector.clone(), &catalogue, patience.clone());
    let first =
        context(&catalogue).with_secrets(secrets).with_canary(planted(&connector, &server, effort.seed));
    let first = runtime.block_on(stop.unless(async {
        let mut runner = runner();
        let watched = watch(first, &connector, &server, &options.noise, &mut runner, effort.seed).await;
        runner.rest().await;
        watched
    }))??;
    let field = Field { runner: &runner, context: &first, runtime: &runtime };
    let mut campaign = Campaign::new(effort, &catalogue, &server, started);
    let _fuzzing_plan = campaign.planner();
    campaign.only_rules = !options.looks_further;
    let docket = Docket::new(sets, &first, &catalogue, options, &mut campaign);
    if !docket.listing.is_empty() {
        let mut contexts = vec![context(&catalogue)];
        for _ in 0..ASKED_AGAIN {
            let (_, again) = runtime.block_on(stop.unless(look(&mut connector.clone())))??;
            contexts.push(context(&again));
        }
        campaign.judge_listing(&docket.listing, &contexts, listener);
    }
    // Sequences are few, and each has a server of its own.
    campaign.play_sequences(&docket.sequences, &field, listener)?;
    campaign.play(&docket.calls, "rules", &field, None, listener)?;
    campaign.confirm_the_rest(&field, listener)?;
    Ok(campaign.finish(target, server))
}

/// What these rules need, on a server with these tools.
fn needs(sets: &[RuleSet], tools: &[ToolShape]) -> Needs {
    let of_set = |RuleSet { rules, .. }: &RuleSet| {
        let expanded = rules.expand(tools).rules;
        let of_rules = rules.rules.iter().chain(&expanded).map(Needs::of_rule);
        of_rules.chain(rules.sequences.iter().map(Needs::of_sequence)).fold(Needs::default(), Needs::and)
    };
    sets.iter().map(of_set).fold(Needs::default(), Needs::and)
}

/// A text that stands in no other, and is the same for the same seed.
pub(super) fn marker(seed: u64) -> String {
    let hash = blake3::hash(format!("wallfacer marker {seed}").as_bytes());
    format!("wfm{}", &hash.to_hex()[..13])
}

/// What is to be tried.
#[derive(Debug, Default)]
struct Docket {
    /// Judged by what the server says of its tools.
    listing: Vec<Case>,
    calls: Vec<Case>,
    sequences: Vec<Case>,
}

impl Docket {
    /// Sorts rules by what they need; what cannot be tried is told to the campaign.
    fn new(
        sets: Vec<RuleSet>,
        context: &Context,
        catalogue: &Catalogue,
        options: &PropertyOptions,
        campaign: &mut Campaign<'_>,
    ) -> Docket {
        let mut docket = Docket::default();
        let shapes = context.shapes();
        let mut seen = BTreeSet::new();
        let seed = options.effort.seed;
        for RuleSet { rules, .. } in sets {
            let expansion = rules.expand(&shapes);
            for skipped in expansion.skipped {
                campaign.leave_rule(&format!("{} for `{}`", skipped.rule, skipped.tool), skipped.why);
            }
            for rule in rules.rules.into_iter().chain(expansion.rules) {
                // A pack that extends another brings the same rules once more.
                if !seen.insert((rule.name.clone(), rule.written.clone())) {
                    continue;
                }
                if let Some(why) = obstacle(&rule, catalogue, campaign, options) {
                    campaign.leave_rule(&rule.name, why);
                    continue;
                }
                let rule = Arc::new(rule);
                if rule.is_static() {
                    docket.listing.push(static_case(&rule, seed));
                    continue;
                }
                let plan = RulePlan {
                    schemas: campaign.schemas(),
                    known: context.known(&Value::Null),
                    seed,
                    cases: options.cases,
                };
                match rule_cases(&rule, &plan) {
                    Ok(cases) => docket.calls.extend(cases),
                    Err(why) => campaign.leave_rule(&rule.name, why.to_string()),
                }
            }
            for sequence in rules.sequences {
                if !seen.insert((sequence.name.clone(), sequence.written.clone())) {
                    continue;
                }
                match sequence_obstacle(&sequence, catalogue, campaign, options) {
                    Some(why) => campaign.leave_rule(&sequence.name, why),
                    None => docket.sequences.push(sequence_case(&Arc::new(sequence), seed)),
                }
            }
        }
        docket
    }
}

/// Why a rule cannot be tried.
fn obstacle(
    rule: &Rule,
    catalogue: &Catalogue,
    campaign: &Campaign<'_>,
    options: &PropertyOptions,
) -> Option<String> {
    let is_listed = catalogue.tools.entries.iter().any(|tool| tool.name == rule.tool);
    match (rule.unlisted, is_listed) {
        (true, true) => {
            Some(format!("the server has a tool `{}`, which the rule says it has not", rule.tool))
        }
        (true, false) if campaign.may_call_none() => Some("no tool is to be called".to_owned()),
        (true, false) => None,
        (false, false) => {
            Some(format!("the server has no tool `{}`; set the parameters of the rules", rule.tool))
        }
        (false, true) => uncallable(&rule.tool, catalogue, campaign, options)
            .filter(|why| !rule.is_static() || why.ends_with(LEFT_OUT)),
    }
}

/// A sequence runs as a whole or not at all.
fn sequence_obstacle(
    sequence: &Sequence,
    catalogue: &Catalogue,
    campaign: &Campaign<'_>,
    options: &PropertyOptions,
) -> Option<String> {
    let tools = sequence.tools();
    let is_listed = |name: &str| catalogue.tools.entries.iter().any(|tool| tool.name == name);
    let missing: Vec<String> =
        tools.iter().filter(|name| !is_listed(name)).map(|name| format!("`{name}`")).collect();
    if !missing.is_empty() {
        return Some(format!("the server has no {}; set the parameters of the rules", missing.join(", ")));
    }
    tools.iter().find_map(|name| uncallable(name, catalogue, campaign, options))
}

fn uncallable(
    name: &str,
    catalogue: &Catalogue,
    campaign: &Campaign<'_>,
    options: &PropertyOptions,
) -> Option<String> {
    if campaign.may_call(name) {
        return None;
    }
    let tool = catalogue.tools.entries.iter().find(|tool| tool.name == name)?;
    Some(match held_back(tool, &options.effort.destructive) {
        Some(why) => format!("`{name}` is not called: {why}"),
        None => format!("`{name}` {LEFT_OUT}"),
    })
}
