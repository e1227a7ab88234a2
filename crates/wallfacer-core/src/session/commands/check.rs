//! `check`: every kind of test at the same time, within one budget.

use std::collections::{BTreeMap, BTreeSet};

use wallfacer_rules::{Shelf, ToolShape, suggest};

use super::{behave, fuzz, property, torture};
use crate::event::Listener;
use crate::judge::Context;
use crate::lock::Lock;
use crate::observe::Behaviour;
use crate::session::agenda::{Selection, Wishes};
use crate::session::entrust::entrust;
use crate::session::lab::{Lab, World};
use crate::session::look::Known;
use crate::session::options::{FuzzError, FuzzOptions};
use crate::session::probes::Probe;
use crate::session::probes::behave::{Behave, BehaveOptions};
use crate::session::probes::inject::{Inject, with_worlds};
use crate::session::probes::rules::{PropertyOptions, RuleSet};
use crate::session::probes::torture::{Load, TortureMode};
use crate::session::run::{Limits, Session};
use crate::summary::{NotTested, Note, Run, StepDone};
use crate::wire::Connector;
use crate::world::Standing;

/// Calls of each tool that are watched.
const WATCHED_CALLS: usize = 4;
/// The pack that says what the checks of a watched server say.
const EFFECTS: &str = "effects";
/// Inputs of a rule that names no number.
const RULE_CASES: u32 = 3;

/// Calls in flight together, and the clients that make them: a short share of what `torture` does.
const CALLS_AT_ONCE: usize = 8;
const CLIENTS_AT_ONCE: usize = 2;

/// How to check.
#[derive(Debug, Clone)]
pub struct CheckOptions {
    pub command: &'static str,
    /// When the run begins: RFC 3339, in UTC.
    pub started: String,
    /// Its budget is that of the whole run.
    pub fuzz: FuzzOptions,
    /// Further lines of noise.
    pub noise: Vec<String>,
    /// The packs among which those that fit are tried.
    pub shelf: Shelf,
    /// Parameters of packs, by pack.
    pub parameters: BTreeMap<String, BTreeMap<String, String>>,
    /// Whether all sessions share what is stored, where somebody says so.
    pub shared: Option<bool>,
    /// Rules that are tried whatever the server.
    pub rules: Vec<RuleSet>,
}

/// Checks one target.
pub fn check(
    mut connector: Connector,
    options: &CheckOptions,
    listener: &mut dyn Listener,
) -> Result<Run, FuzzError> {
    let effort = &options.fuzz;
    let secrets = entrust(&mut connector, effort.seed);
    let mut session = Session::open(connector, &Limits::from(effort), listener)?;
    let harmless = session.known.server.standing.is_harmless();
    let mut lab = match harmless {
        true => {
            let catalogue = session.known.catalogue.clone();
            let worlds = |lab: Lab| with_worlds(lab, &catalogue, effort.seed);
            // Whole tests wait for a server of these.
            session.rehearse(
                Wishes::from(effort),
                effort.budget,
                &worlds,
                &[World::Planted, World::Watched],
            )?
        }
        false => session.lab(World::Plain),
    };
    let mut run = begun(&session, options);
    let looked = session.known.begun.elapsed();
    let mut notebook = session.notebook();
    let (mut fuzz, mut listing) = fuzz::probes(&session, effort, secrets.clone(), &mut notebook);
    let rules = PropertyOptions {
        effort: FuzzOptions { in_flight: 1, ..effort.clone() },
        cases: RULE_CASES,
        looks_further: false,
        noise: options.noise.clone(),
    };
    let choose = |tools: &[ToolShape]| chosen_rules(options, tools, harmless);
    let (mut rules, with_rules) =
        property::probe(&session, &choose, &rules, secrets.clone(), lab, &mut notebook);
    lab = with_rules;
    let Known { server, catalogue, .. } = &session.known;
    let mut keep = |_: &str, _: &_| {};
    let mut watching: Option<Behave<'_>> = None;
    // What every tool does together says what each does alone, so watching is not divided.
    let watches_here = effort.shard.takes("behave", "");
    if harmless && watches_here {
        let options = behave_options(options);
        match behave::probe(&session, &options, secrets.clone(), &mut notebook, &mut keep) {
            Ok(probe) => watching = Some(probe),
            Err(error) => {
                notebook.leave_out("effects on files, network and other programs", &error.to_string());
            }
        }
    }
    let mut injecting: Option<Inject> = None;
    if harmless {
        let selection = Selection::new(catalogue, server, Wishes::from(effort));
        let context = Context::new(catalogue, server.protocol);
        let end = session.budget.end();
        injecting = Some(Inject::new(&lab, &session.known, &selection, context, effort.seed, end));
    }
    let load = Load {
        // What rules of the user's own say of sessions is not told twice.
        mode: if options.rules.is_empty() { TortureMode::All } else { TortureMode::Parallel },
        concurrency: CALLS_AT_ONCE,
        clients: CLIENTS_AT_ONCE,
        thorough: false,
        shared: options.shared,
    };
    let tortures_here = harmless && effort.shard.takes("torture", "");
    let mut torturing =
        tortures_here.then(|| torture::probes(&session, effort, secrets, load, &mut notebook));
    let mut probes: Vec<&mut dyn Probe> = vec![&mut fuzz, &mut listing, &mut rules];
    probes.extend(watching.as_mut().map(|probe| probe as &mut dyn Probe));
    probes.extend(injecting.as_mut().map(|probe| probe as &mut dyn Probe));
    if let Some((at_once, lifecycle)) = &mut torturing {
        probes.extend([at_once as &mut dyn Probe, lifecycle]);
    }
    let names: Vec<&'static str> = probes.iter().map(|probe| probe.name()).collect();
    let spent = session.run(&lab, &mut probes, &mut notebook, listener)?;
    drop(probes);
    run.steps.push(StepDone { name: "look", took: looked });
    let steps = names.into_iter().zip(spent).filter(|(name, _)| *name != "declarations");
    run.steps.extend(steps.map(|(name, took)| StepDone { name, took }));
    let has_tools = !session.known.catalogue.tools.entries.is_empty();
    let mut observed = false;
    if let Some(watching) = watching {
        observed |= watching.unseen.is_none();
        run.server.standing = watching.server().standing.clone();
        run.locked = locked(&session, &watching.behaviour);
    }
    observed |= injecting.is_some_and(|inject| inject.calls > 0);
    let fuzzed = session.fuzzed(&lab, notebook);
    (run.took, run.lives) = (fuzzed.took, 0);
    run.add_fuzzing(fuzzed);
    // Nobody knows what a tool does that was never called as it is meant.
    if run.in_vain.is_none() && has_tools && run.tools.values().all(|tool| tool.valid_calls == 0) {
        run.in_vain = Some("no tool had a call with valid arguments");
    }
    if !observed && watches_here {
        run.not_tested.extend(unobserved(&run.server.standing));
    }
    let mut told = BTreeSet::new();
    run.not_tested.retain(|not_tested| told.insert(not_tested.clone()));
    let mut noted = BTreeSet::new();
    run.notes.retain(|note| noted.insert(note.clone()));
    Ok(run)
}

fn locked(session: &Session, behaviour: &Behaviour) -> Option<Lock> {
    Some(Lock::new(&session.known.server, &session.known.catalogue, Some(behaviour)))
}

/// A run that has only looked at the server so far.
fn begun(session: &Session, options: &CheckOptions) -> Run {
    let Known { target, server, catalogue, remarks: seen, .. } = &session.known;
    let mut run = Run::empty(options.command, options.started.clone(), target.clone(), server.clone());
    run.seed = options.fuzz.seed;
    run.budget = options.fuzz.budget;
    run.locked = Some(Lock::new(server, catalogue, None));
    run.notes.extend(seen.iter().map(|text| Note { tool: None, text: text.clone() }));
    run
}

fn behave_options(options: &CheckOptions) -> BehaveOptions {
    let FuzzOptions { seed, include, exclude, destructive, budget, stop, .. } = options.fuzz.clone();
    BehaveOptions {
        command: options.command,
        started: String::new(),
        seed,
        calls: WATCHED_CALLS,
        include,
        exclude,
        destructive,
        budget,
        noise: options.noise.clone(),
        stop,
    }
}

/// The rules that are given, and those of the packs that fit. Where the server is watched, checks say all that the pack
/// about effects says.
fn chosen_rules(options: &CheckOptions, tools: &[ToolShape], watches: bool) -> Vec<RuleSet> {
    let CheckOptions { shelf, parameters, rules, .. } = options;
    let fitting = suggest(tools).into_iter().filter(|suggestion| !(watches && suggestion.pack == EFFECTS));
    let fitting = fitting.filter_map(|suggestion| {
        let set = parameters.get(&suggestion.pack);
        let known = shelf.parameters(&suggestion.pack);
        let mut typed = suggestion.parameters;
        typed.retain(|name, _| {
            let is_set = set.is_some_and(|set| set.contains_key(name));
            !is_set && known.iter().any(|parameter| parameter.name == *name)
        });
        let given = shelf.given(&suggestion.pack, parameters, &typed);
        // A pack that cannot be read is told by the commands that are about packs.
        let rules = shelf.rules(&suggestion.pack, &given)?.ok()?;
        Some(RuleSet { name: suggestion.pack, rules, own: false })
    });
    rules.iter().cloned().chain(fitting).collect()
}

/// What nobody saw is not known to be clean.
fn unobserved(standing: &Standing) -> Option<NotTested> {
    let what = "effects on files, network and other programs".to_owned();
    let where_to = if standing.is_confined() { "in a sandbox" } else { "without a sandbox" };
    let because = standing.remarks.first().map(|remark| format!(" ({remark})")).unwrap_or_default();
    let why = format!("the server ran {where_to}, and nothing of that was observed{because}");
    (!standing.observed.calls).then_some(NotTested { what, why })
}
