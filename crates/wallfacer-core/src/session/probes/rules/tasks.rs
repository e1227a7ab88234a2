//! Makes cases of rules: those that are judged by what the server lists, calls, and sequences.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value};
use wallfacer_rules::{Rule, Sequence, ToolShape};
use wallfacer_schema::Schema;

use super::{PropertyOptions, RuleSet};
use crate::catalogue::Catalogue;
use crate::judge::Context;
use crate::plan::{Case, Input, RulePlan, held_back, rule_cases, sequence_case, static_case};
use crate::session::agenda::Selection;
use crate::session::lab::Needs;
use crate::session::options::FuzzOptions;

/// A tool that the user does not want to hear of; one that is held back may still be judged by what is said of it.
const LEFT_OUT: &str = "is left out";

/// What this is called where work is divided.
const RULES: &str = "rules";

/// What these rules need, on a server with these tools.
pub fn needs(sets: &[RuleSet], tools: &[ToolShape]) -> Needs {
    let of_set = |RuleSet { rules, .. }: &RuleSet| {
        let expanded = rules.expand(tools).rules;
        let of_rules = rules.rules.iter().chain(&expanded).map(Needs::of_rule);
        of_rules.chain(rules.sequences.iter().map(Needs::of_sequence)).fold(Needs::default(), Needs::and)
    };
    sets.iter().map(of_set).fold(Needs::default(), Needs::and)
}

/// What is to be tried.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    /// Judged by what the server says of its tools.
    pub listing: Vec<Case>,
    pub calls: Vec<Case>,
    pub sequences: Vec<Case>,
    /// Rules that cannot be tried at all, and why.
    pub left_out: Vec<(String, String)>,
    /// Rules of packs that are about a tool which the server does not have.
    pub fit_no_tool: u64,
}

impl Tasks {
    /// Sorts rules by what they need.
    pub fn new(
        (sets, shapes): (Vec<RuleSet>, &[ToolShape]),
        context: &Context,
        catalogue: &Catalogue,
        schemas: &BTreeMap<String, Schema>,
        options: &PropertyOptions,
        selection: &Selection,
    ) -> Tasks {
        let mut tasks = Tasks::default();
        let mut seen = BTreeSet::new();
        let FuzzOptions { seed, shard, .. } = options.effort;
        let news = options.effort.feedback.as_ref().map(|feedback| (feedback.ratio, &feedback.known[..]));
        for RuleSet { rules, own, .. } in sets {
            let expansion = rules.expand(shapes);
            for skipped in expansion.skipped {
                tasks.left_out.push((format!("{} for `{}`", skipped.rule, skipped.tool), skipped.why));
            }
            for rule in rules.rules.into_iter().chain(expansion.rules) {
                // A pack that extends another brings the same rules once more.
                if !seen.insert((rule.name.clone(), rule.written.clone())) || !shard.takes(RULES, &rule.name)
                {
                    continue;
                }
                // A pack is written for servers of many shapes; a rule of one's own names a tool that should be there.
                if !own && fits_no_tool(rule.unlisted, [rule.tool.as_str()], catalogue) {
                    tasks.fit_no_tool += 1;
                    continue;
                }
                if let Some(why) = obstacle(&rule, catalogue, selection, options) {
                    tasks.left_out.push((rule.name.clone(), why));
                    continue;
                }
                let rule = Arc::new(rule);
                if rule.is_static() {
                    tasks.listing.push(static_case(&rule, seed));
                    continue;
                }
                let plan = RulePlan {
                    schemas,
                    known: context.known(&Value::Null),
                    seed,
                    cases: options.cases,
                    news: news.as_ref().map(|(ratio, known)| (*ratio, of_tool(known, &rule.tool))),
                };
                match rule_cases(&rule, &plan) {
                    Ok(cases) => tasks.calls.extend(cases),
                    Err(why) => tasks.left_out.push((rule.name.clone(), why.to_string())),
                }
            }
            for sequence in rules.sequences {
                let is_new = seen.insert((sequence.name.clone(), sequence.written.clone()));
                if !is_new || !shard.takes(RULES, &sequence.name) {
                    continue;
                }
                if !own && fits_no_tool(false, sequence.tools(), catalogue) {
                    tasks.fit_no_tool += 1;
                    continue;
                }
                match sequence_obstacle(&sequence, catalogue, selection, options) {
                    Some(why) => tasks.left_out.push((sequence.name.clone(), why)),
                    None => tasks.sequences.push(sequence_case(&Arc::new(sequence), seed)),
                }
            }
        }
        tasks
    }
}

/// What brought news of one tool in earlier runs.
fn of_tool(known: &[Input], tool: &str) -> Vec<Map<String, Value>> {
    known.iter().filter(|input| input.tool == tool).map(|input| input.arguments.clone()).collect()
}

/// Whether a tool is missing that a rule or sequence is about.
fn fits_no_tool<'a>(unlisted: bool, tools: impl IntoIterator<Item = &'a str>, catalogue: &Catalogue) -> bool {
    let is_listed = |name: &str| catalogue.tools.entries.iter().any(|tool| tool.name == name);
    !unlisted && !tools.into_iter().all(is_listed)
}

/// Why a rule cannot be tried.
fn obstacle(
    rule: &Rule,
    catalogue: &Catalogue,
    selection: &Selection,
    options: &PropertyOptions,
) -> Option<String> {
    let is_listed = catalogue.tools.entries.iter().any(|tool| tool.name == rule.tool);
    match (rule.unlisted, is_listed) {
        (true, true) => {
            Some(format!("the server has a tool `{}`, which the rule says it has not", rule.tool))
        }
        (true, false) if selection.tools.is_empty() => Some("no tool is to be called".to_owned()),
        (true, false) => None,
        (false, false) => {
            Some(format!("the server has no tool `{}`; set the parameters of the rules", rule.tool))
        }
        (false, true) => uncallable(&rule.tool, catalogue, selection, options)
            .filter(|why| !rule.is_static() || why.ends_with(LEFT_OUT)),
    }
}

/// A sequence runs as a whole or not at all.
fn sequence_obstacle(
    sequence: &Sequence,
    catalogue: &Catalogue,
    selection: &Selection,
    options: &PropertyOptions,
) -> Option<String> {
    let tools = sequence.tools();
    let is_listed = |name: &str| catalogue.tools.entries.iter().any(|tool| tool.name == name);
    let missing: Vec<String> =
        tools.iter().filter(|name| !is_listed(name)).map(|name| format!("`{name}`")).collect();
    if !missing.is_empty() {
        return Some(format!("the server has no {}; set the parameters of the rules", missing.join(", ")));
    }
    tools.iter().find_map(|name| uncallable(name, catalogue, selection, options))
}

fn uncallable(
    name: &str,
    catalogue: &Catalogue,
    selection: &Selection,
    options: &PropertyOptions,
) -> Option<String> {
    if selection.may_call(name) {
        return None;
    }
    let tool = catalogue.tools.entries.iter().find(|tool| tool.name == name)?;
    Some(match held_back(tool, &options.effort.destructive) {
        Some(why) => format!("`{name}` is not called: {why}"),
        None => format!("`{name}` {LEFT_OUT}"),
    })
}
