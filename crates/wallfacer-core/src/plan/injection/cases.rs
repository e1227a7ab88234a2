//! A tool, what is known of it and the ground in, cases out: each puts one payload into one place of one call.

use std::collections::BTreeSet;

use serde_json::Value;

use super::aim::{Escape, Injection};
use super::base::{Known, bases, is_choice};
use super::ground::Ground;
use super::payload::{self, Payload};
use super::place::{Place, places};
use crate::catalogue::Tool;
use crate::plan::case::{Case, Intent, Step};
use crate::plan::guard::words;

/// Cases of one tool; they are in the order of likelihood, so the rest is what hardly ever leads anywhere.
const MAX_CASES: usize = 4_000;

/// The plainest ways out come first: where they work, the others say nothing more.
const PLAIN_FIRST: usize = 4;

/// Cases of one tool, the likeliest first.
pub fn injection_cases(tool: &Tool, known: &Known, ground: &Ground, seed: u64) -> Vec<Case> {
    let mut ranked: Vec<((u8, usize, usize), Case)> = Vec::new();
    let mut made: BTreeSet<String> = BTreeSet::new();
    for (number, base) in bases(tool, known, ground).iter().enumerate() {
        for place in places(base).into_iter().filter(|place| !is_choice(tool, top(&place.at))) {
            for (after, list) in payloads(tool, &place, known, ground, seed) {
                for (variant, payload) in list.into_iter().enumerate() {
                    let rank = (payload.rank, after + variant + number, number);
                    let case = case(tool, base, &place, payload, seed);
                    if made.insert(serde_json::to_string(&case).unwrap_or_default()) {
                        ranked.push((rank, case));
                    }
                }
            }
        }
    }
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.truncate(MAX_CASES);
    ranked.into_iter().map(|(_, case)| case).collect()
}

/// One list for each sort of injection, and how many of the others come before it.
fn payloads(
    tool: &Tool,
    place: &Place,
    known: &Known,
    ground: &Ground,
    seed: u64,
) -> Vec<(usize, Vec<Payload>)> {
    let by_design = runs_programs(tool);
    let (commands, options) = match by_design {
        true => Default::default(),
        false => (payload::commands(place, ground), payload::options(place, ground)),
    };
    let reads_only = tool.annotations.read_only_hint == Some(true);
    let statements = if reads_only { payload::statements(place, ground, &known.changes) } else { Vec::new() };
    vec![
        (0, payload::escapes(place, ground, Escape::Outside)),
        (PLAIN_FIRST, payload::escapes(place, ground, Escape::Prefix)),
        (PLAIN_FIRST, payload::escapes(place, ground, Escape::Symlink)),
        (0, commands),
        (0, options),
        (0, payload::requests(place, fetches(tool), seed)),
        (0, statements),
        (0, payload::growths(place)),
    ]
}

/// Whether to run what it is given is its job.
pub fn runs_programs(tool: &Tool) -> bool {
    let named = words(&tool.name);
    let is = |list: &[&str]| named.iter().any(|word| list.contains(&word.as_str()));
    is(&["exec", "execute", "shell", "bash", "command", "terminal", "eval", "cmd"])
}

/// Whether to fetch what it is told is its job.
fn fetches(tool: &Tool) -> bool {
    let said = [Some(tool.name.as_str()), tool.description.as_deref()];
    let mut said = said.into_iter().flatten().flat_map(words);
    said.any(|word| {
        ["fetch", "url", "download", "browse", "crawl", "scrape", "http", "web"].contains(&word.as_str())
    })
}

fn case(tool: &Tool, base: &Value, place: &Place, payload: Payload, seed: u64) -> Case {
    let Payload { way, aim, values, .. } = payload;
    let injection = Injection { at: place.at.clone(), way, aim, offline: false };
    let intent = Intent::Injection(Box::new(injection));
    let call = |value: String| {
        let mut arguments = base.clone();
        if let Some(place) = arguments.pointer_mut(&place.at) {
            *place = Value::from(value);
        }
        Case::tool(&tool.name, arguments, Intent::Valid, seed).steps
    };
    let steps: Vec<Step> = values.into_iter().flat_map(call).collect();
    let whole = Case::tool(&tool.name, Value::Null, intent, seed);
    Case { steps, ..whole }
}

/// The first key of a pointer.
fn top(at: &str) -> &str {
    at.trim_start_matches('/').split('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Entry};
    use crate::plan::Aim;
    use crate::world::DeclaredBy;
    use serde_json::json;

    fn tool(name: &str, annotations: Value) -> Tool {
        let schema = json!({
            "type": "object",
            "properties": {
                "mode": { "type": "string", "enum": ["a", "b"] },
                "options": { "type": "object", "properties": { "target": { "type": "string" } } },
                "path": { "type": "string" },
            },
            "required": ["path"],
        });
        let entry = json!({ "name": name, "inputSchema": schema, "annotations": annotations });
        Tool::read(entry.as_object().unwrap()).unwrap()
    }

    fn cases(tool: &Tool) -> Vec<Case> {
        let ground =
            Ground::new(&[("/d/r".into(), DeclaredBy::CommandLine)].into(), &Catalogue::default(), 1);
        let valid = vec![json!({ "mode": "a", "path": "p", "options": { "target": "t" } })];
        injection_cases(tool, &Known { valid, ..Known::default() }, &ground, 1)
    }

    fn injections(cases: &[Case]) -> Vec<&Injection> {
        cases.iter().map(|case| case.intent.injection().expect("nothing else is planned")).collect()
    }

    #[test]
    fn every_string_gets_every_sort_of_payload_but_choices_get_none() {
        let cases = cases(&tool("look", json!({ "readOnlyHint": true })));
        let tried: BTreeSet<(&str, &str)> = injections(&cases)
            .iter()
            .map(|injection| (injection.at.as_str(), injection.aim.class()))
            .collect();
        let sorts = ["command", "option", "path", "path prefix", "symlink", "request", "statement", "growth"];
        for at in ["/path", "/options/target"] {
            assert!(sorts.iter().all(|sort| tried.contains(&(at, sort))), "{at}: {tried:?}");
        }
        assert!(tried.iter().all(|(at, _)| *at != "/mode"));
    }

    #[test]
    fn only_what_says_that_it_reads_is_held_to_it_and_what_runs_programs_may_run_ours() {
        let classes = |tool: &Tool| -> BTreeSet<&str> {
            let cases = cases(tool);
            injections(&cases).iter().map(|injection| injection.aim.class()).collect()
        };
        assert!(!classes(&tool("look", json!({}))).contains("statement"));
        assert!(!classes(&tool("run_shell", json!({}))).contains("command"));
    }

    #[test]
    fn what_grows_is_asked_four_times_and_all_else_once() {
        for case in cases(&tool("look", json!({}))) {
            let grows = case.intent.injection().is_some_and(|injection| injection.aim == Aim::Grow);
            assert_eq!(case.steps.len(), if grows { 4 } else { 1 });
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_cases() {
        assert_eq!(cases(&tool("look", json!({}))), cases(&tool("look", json!({}))));
    }
}
