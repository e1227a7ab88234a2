//! Makes the cases of a tool, each with one payload in one place of one call, and ranks them by how likely they are to
//! lead anywhere.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::aim::{Aim, Escape, Injection, top};
use super::base::{Known, bases, chosen, is_choice};
use super::ground::Ground;
use super::job::Job;
use super::payload::{self, Payload};
use super::place::{Place, Purpose, places};
use crate::catalogue::Tool;
use crate::plan::case::{Case, Intent, Step};
use crate::plan::guard::words;

/// Cases of one tool; they are in the order of likelihood, so the rest is what hardly ever leads anywhere.
const MAX_CASES: usize = 2_000;

/// The plainest ways out come first: where they work, the others say nothing more.
const PLAIN_FIRST: usize = 3;

/// A case, and when its turn comes.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub rank: Rank,
    pub case: Case,
}

/// The smallest is tried first, whichever tool it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// How unlikely it is that such a payload leads anywhere in such a place.
    pub unlikely: u8,
    /// How many of the same sort come before it in the same place.
    pub wave: usize,
    /// The gravest sort first.
    pub sort: usize,
}

/// Cases of one tool, the likeliest first.
pub fn injection_cases(tool: &Tool, known: &Known, ground: &Ground, seed: u64) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = Vec::new();
    let mut made: BTreeSet<String> = BTreeSet::new();
    let mut visited: BTreeMap<(String, String), usize> = BTreeMap::new();
    for base in bases(tool, known, ground) {
        let function = chosen(tool, &base);
        let open = places(&base).into_iter().filter(|place| !is_choice(tool, top(&place.at)));
        for place in open.map(|place| declared(tool, place)) {
            // The same place in a further call of the same function says little more.
            let visits = visited.entry((function.clone(), place.at.clone())).or_default();
            for (sort, (after, list)) in payloads(tool, &place, known, ground).into_iter().enumerate() {
                for (variant, payload) in list.into_iter().enumerate() {
                    let rank = Rank { unlikely: payload.rank, wave: after + variant + *visits, sort };
                    let case =
                        Case { prelude: known.prelude.clone(), ..case(tool, &base, &place, payload, seed) };
                    if made.insert(serde_json::to_string(&case.steps).unwrap_or_default()) {
                        ranked.extend(offline(&case, rank, known));
                        ranked.push(Ranked { rank, case });
                    }
                }
            }
            *visits += 1;
        }
    }
    ranked.sort_by_key(|ranked| ranked.rank);
    ranked.truncate(MAX_CASES);
    ranked
}

/// The same where the network fails: some code is reached only then, and what it is like is not known.
fn offline(case: &Case, rank: Rank, known: &Known) -> Option<Ranked> {
    let mut injection = case.intent.injection()?.clone();
    injection.offline = true;
    let runs = matches!(injection.aim, Aim::Execute { .. } | Aim::Pass { .. });
    (runs && known.uses_network).then(|| Ranked {
        rank: Rank { unlikely: 0, ..rank },
        case: Case { intent: Intent::Injection(Box::new(injection)), ..case.clone() },
    })
}

/// One list for each sort of injection, the gravest first, and how many of the others come before it.
fn payloads(tool: &Tool, place: &Place, known: &Known, ground: &Ground) -> Vec<(usize, Vec<Payload>)> {
    let job = Job::of(tool);
    let (commands, options) = match job.runs_programs {
        // To run what it is given is its job; to run what it refuses when that is asked openly is not.
        true => (payload::refused_commands(place, ground), Vec::new()),
        false => (payload::commands(place, known, ground), payload::options(place, known, ground)),
    };
    let statements = match job.only_reads {
        true => payload::statements(&tool.name, place, ground, &known.changes),
        false => Vec::new(),
    };
    let about = about(tool, top(&place.at));
    // To choose a place, or to run a command that names one, is what such tools are for.
    let is_meant = job.chooses_place && place.purpose.is_path()
        || job.runs_programs && place.purpose == Purpose::Program;
    let escapes = |escape| match is_meant {
        true => Vec::new(),
        false => payload::escapes(place, ground, escape, &about, job),
    };
    vec![
        (0, commands),
        (0, options),
        (0, escapes(Escape::Outside)),
        (0, escapes(Escape::Relative)),
        (PLAIN_FIRST, escapes(Escape::Prefix)),
        (PLAIN_FIRST, escapes(Escape::Symlink)),
        (0, payload::requests(place, job, ground)),
        (PLAIN_FIRST, payload::schemes(place, ground)),
        (0, statements),
        (0, payload::growths(place)),
        (0, payload::archives(place, &about)),
    ]
}

/// A place whose name does not tell what it is for, but whose declaration does.
fn declared(tool: &Tool, place: Place) -> Place {
    let property = tool.input_schema.get("properties").and_then(|properties| properties.get(top(&place.at)));
    // What is declared of a list or an object is not declared of what lies in it.
    let of_itself = property.filter(|_| place.at.matches('/').count() == 1);
    let of = |key: &str| of_itself.and_then(|property| property.get(key)).and_then(Value::as_str);
    let is_address = of("format").is_some_and(|format| matches!(format, "uri" | "url" | "iri"))
        || of("description").is_some_and(|said| words(said).iter().any(|word| word == "url"));
    match place.purpose {
        Purpose::Unknown if is_address => Place { purpose: Purpose::Address, ..place },
        _ => place,
    }
}

/// What the schema says of an argument.
fn about(tool: &Tool, key: &str) -> String {
    let property = tool.input_schema.get("properties").and_then(|properties| properties.get(key));
    property.map(Value::to_string).unwrap_or_default()
}

fn case(tool: &Tool, base: &Value, place: &Place, payload: Payload, seed: u64) -> Case {
    let Payload { way, aim, values, openly_first, .. } = payload;
    let injection = Injection { at: place.at.clone(), way, aim, offline: false, openly_first };
    let grows = injection.aim.is_measured();
    let call = |value: String| {
        let mut arguments = base.clone();
        if let Some(place) = arguments.pointer_mut(&place.at) {
            *place = Value::from(value);
        }
        let steps = Case::tool(&tool.name, arguments, Intent::Valid, seed).steps;
        // Where memory counts, stock is taken.
        let measured = |step| match step {
            Step::Call { method, params } if grows => Step::Many { times: 1, method, params },
            step => step,
        };
        steps.into_iter().map(measured).collect::<Vec<Step>>()
    };
    let intent = Intent::Injection(Box::new(injection));
    let steps: Vec<Step> = values.into_iter().flat_map(call).collect();
    let whole = Case::tool(&tool.name, Value::Null, intent, seed);
    Case { steps, ..whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::{Catalogue, Entry};
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

    fn ranked(tool: &Tool, known: Known) -> Vec<Ranked> {
        let ground =
            Ground::new(&[("/d/r".into(), DeclaredBy::CommandLine)].into(), &Catalogue::default(), 1);
        let valid = vec![json!({ "mode": "a", "path": "p", "options": { "target": "t" } })];
        injection_cases(tool, &Known { valid, ..known }, &ground, 1)
    }

    fn cases(tool: &Tool) -> Vec<Case> {
        ranked(tool, Known::default()).into_iter().map(|ranked| ranked.case).collect()
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
        let shell = cases(&tool("run_shell", json!({})));
        assert!(injections(&shell).iter().all(|it| it.aim.class() != "command" || it.openly_first));
    }

    #[test]
    fn what_grows_is_asked_four_times_and_what_makes_a_table_is_followed_by_a_question() {
        for case in cases(&tool("look", json!({ "readOnlyHint": true }))) {
            let calls = match &case.intent.injection().unwrap().aim {
                Aim::Grow | Aim::Inflate => 4,
                Aim::Change { shows: Some(shown), .. } => {
                    assert!(!serde_json::to_string(&case.steps).unwrap().contains(shown));
                    2
                }
                _ => 1 + usize::from(case.intent.injection().unwrap().openly_first),
            };
            assert_eq!(case.steps.len(), calls);
        }
    }

    #[test]
    fn every_choice_of_a_tool_has_its_turn_before_a_second_try_of_any() {
        let tool = tool("look", json!({}));
        let first = ranked(&tool, Known::default());
        let first = first.iter().take_while(|ranked| (ranked.rank.unlikely, ranked.rank.wave) == (0, 0));
        let modes: BTreeSet<String> = first
            .filter(|ranked| {
                matches!(ranked.case.intent.injection().map(|it| &it.aim), Some(Aim::Reach { .. }))
            })
            .filter_map(|ranked| Some(ranked.case.arguments()?["mode"].to_string()))
            .collect();
        assert!(["\"a\"", "\"b\""].iter().all(|mode| modes.contains(*mode)), "{modes:?}");
    }

    #[test]
    fn what_runs_no_program_is_given_commands_late_unless_the_network_may_fail() {
        let command = |known: Known| {
            let ranked = ranked(&tool("look", json!({})), known);
            let commands = ranked.into_iter().filter(|ranked| {
                matches!(ranked.case.intent.injection().map(|it| &it.aim), Some(Aim::Execute { .. }))
            });
            commands.map(|ranked| (ranked.rank.unlikely, ranked.case.intent.injection().unwrap().offline))
        };
        let good = vec![json!({ "path": "p" })];
        let runs = Known { good: good.clone(), runs_programs: true, ..Known::default() };
        assert_eq!(command(runs).next(), Some((0, false)));
        let runs_none = Known { good: good.clone(), ..Known::default() };
        assert_eq!(command(runs_none).next(), Some((1, false)));
        let connects = Known { good, uses_network: true, ..Known::default() };
        assert_eq!(command(connects).next(), Some((0, true)));
    }

    #[test]
    fn the_same_seed_gives_the_same_cases() {
        assert_eq!(cases(&tool("look", json!({}))), cases(&tool("look", json!({}))));
    }
}
