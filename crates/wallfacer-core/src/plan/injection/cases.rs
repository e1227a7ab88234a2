//! Puts one payload into one place of one call of a tool, and says how likely that is to lead anywhere.

use std::collections::BTreeMap;

use serde_json::Value;

use super::aim::{Aim, Escape, Injection, top};
use super::base::{Known, bases, chosen, is_choice};
use super::code;
use super::ground::Ground;
use super::growth;
use super::job::{Job, is_about_files};
use super::payload::{self, Payload};
use super::place::{Place, Purpose, places};
use crate::catalogue::Tool;
use crate::plan::case::{Case, Intent, Step};
use wallfacer_text::lexicon::words;

/// The plainest ways out come first: where they work, the others say nothing more.
const PLAIN_FIRST: usize = 3;

/// Payloads of each sort that a place gets again in a further call of the same function, and calls in which it does.
const AGAIN: usize = 4;
const MAX_VISITS: usize = 8;

/// What comes after all else.
const LAST: u8 = 4;

/// A case, and when its turn comes.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranked {
    pub rank: Rank,
    pub case: Case,
}

/// The smallest is tried first, whichever tool it belongs to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rank {
    /// How unlikely it is that such a payload leads anywhere in such a place.
    pub unlikely: u8,
    /// How many of the same sort come before it in the same place.
    pub wave: usize,
    /// The gravest sort first.
    pub sort: usize,
}

/// One payload for one place of one call, from which a case can be made.
#[derive(Debug)]
pub struct Draft<'a> {
    pub rank: Rank,
    base: &'a Value,
    pub place: &'a Place,
    pub payload: Payload,
    /// Whether it is tried while the network fails: some code is reached only then.
    pub offline: bool,
}

/// Hands everything that may be put into the calls of a tool to `take`, call by call and place by place.
pub fn drafts(tool: &Tool, known: &Known, ground: &Ground, mut take: impl FnMut(Draft<'_>)) {
    // A tool that chooses the working directory comes last, because it would change where the other tools work.
    let later = if Job::of(tool).chooses_place { LAST } else { 0 };
    let mut visited: BTreeMap<(String, String), usize> = BTreeMap::new();
    for base in &bases(tool, known, ground) {
        let function = chosen(tool, base);
        let open = places(base).into_iter().filter(|place| !is_choice(tool, top(&place.at)));
        for place in open.map(|place| declared(tool, place)) {
            // The same place in a further call of the same function says little more.
            let visits = visited.entry((function.clone(), place.at.clone())).or_default();
            if *visits >= MAX_VISITS {
                continue;
            }
            let most = if *visits == 0 { usize::MAX } else { AGAIN };
            for (sort, (after, list)) in payloads(tool, &place, known, ground).into_iter().enumerate() {
                for (variant, payload) in list.into_iter().take(most).enumerate() {
                    let rank = Rank { unlikely: payload.rank + later, wave: after + variant + *visits, sort };
                    let draft = Draft { rank, base, place: &place, payload, offline: false };
                    if let Some(offline) = draft.offline(known, later) {
                        take(offline);
                    }
                    take(draft);
                }
            }
            *visits += 1;
        }
    }
}

impl<'a> Draft<'a> {
    /// The same, tried while the network fails; none where that is not worth a try.
    fn offline(&self, known: &Known, later: u8) -> Option<Draft<'a>> {
        let runs = matches!(self.payload.aim, Aim::Execute { .. } | Aim::Pass { .. });
        // A tool that runs programs anyway hardly waits for the network to fail.
        let unlikely = u8::from(known.runs_programs) + later;
        let Draft { rank, base, place, ref payload, .. } = *self;
        let rank = Rank { unlikely, ..rank };
        (runs && known.uses_network).then(|| Draft {
            rank,
            base,
            place,
            payload: payload.clone(),
            offline: true,
        })
    }

    pub fn case(self, tool: &Tool, known: &Known, seed: u64) -> Case {
        let Draft { base, place, payload, offline, .. } = self;
        let Payload { way, aim, values, openly_first, beside, .. } = payload;
        let by_name = is_name(tool, place);
        let injection = Injection { at: place.at.clone(), way, aim, offline, openly_first, by_name };
        let grows = injection.aim.is_measured();
        let call = |value: String| {
            let mut arguments = base.clone();
            for other in beside.iter().flat_map(|_| places(base)).filter(|other| is_plain_text(tool, other)) {
                if let Some(place) = arguments.pointer_mut(&other.at) {
                    *place = Value::from(beside.clone());
                }
            }
            let (at, written) = in_words(place, value);
            if let Some(place) = arguments.pointer_mut(at) {
                *place = written;
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
        Case { steps, prelude: known.prelude.clone(), ..Case::tool(&tool.name, Value::Null, intent, seed) }
    }
}

/// One list for each sort of injection, the gravest first, and how many of the others come before it.
fn payloads(tool: &Tool, place: &Place, known: &Known, ground: &Ground) -> Vec<(usize, Vec<Payload>)> {
    let job = Job::of(tool);
    let said = said(tool);
    let about = about(tool, top(&place.at));
    let runs = job.runs_programs && place.purpose == Purpose::Program;
    // Running what it is given is its job; running what it refuses when asked openly is not.
    let refused = if runs { payload::refused_commands(place, ground, &said) } else { Vec::new() };
    let commands = payload::commands(place, known, ground, &about, job.runs_programs);
    // What a tool runs may have any name; where it is named, the others are not run.
    let options = match job.runs_programs && !takes_commands(tool) {
        true => Vec::new(),
        false => payload::options(place, known, ground),
    };
    // Where a whole server is only to read, that is said of what it is asked.
    let only_reads = job.only_reads || ground.only_reads && place.purpose == Purpose::Statement;
    let statements = match only_reads {
        true => payload::statements(&tool.name, place, ground, &known.changes),
        false => Vec::new(),
    };
    let codes = if job.runs_programs { Vec::new() } else { code::codes(place, ground) };
    // To choose a place, or to run a command that names one, is what such tools are for.
    let is_meant = job.chooses_place && place.purpose.is_path() || runs;
    let escapes = |escape| match is_meant {
        true => Vec::new(),
        false => payload::escapes(place, ground, escape, &about, job),
    };
    let refused_paths = if job.runs_programs { payload::refused_paths(place, ground) } else { Vec::new() };
    let mut lists = vec![
        (0, commands),
        (0, options),
        (0, escapes(Escape::Outside)),
        (0, escapes(Escape::Relative)),
        (PLAIN_FIRST, escapes(Escape::Prefix)),
        (PLAIN_FIRST, escapes(Escape::Symlink)),
        (0, payload::requests(place, job, ground)),
        (0, payload::file_addresses(place, job, ground, &said)),
        (PLAIN_FIRST, payload::schemes(place, known, ground)),
        (0, statements),
        (0, codes),
        (0, growth::growths(place, &said)),
        (0, growth::archives(place, &about)),
        (0, refused_paths),
    ];
    // Few tools run commands, and each way around their lists of commands may be the only one that works, so several are tried
    // at once.
    lists.extend(payload::deal(refused).into_iter().map(|list| (0, list)));
    lists
}

/// A place whose name does not tell what it is for, but whose declaration does.
fn declared(tool: &Tool, place: Place) -> Place {
    let property =
        tool.input_schema().get("properties").and_then(|properties| properties.get(top(&place.at)));
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

/// All that a tool says of itself and of its arguments, in small letters.
fn said(tool: &Tool) -> String {
    let description = tool.description.as_deref().unwrap_or_default();
    format!("{} {description} {}", tool.name, tool.input_schema()).to_lowercase()
}

/// Whether an argument is named for the command that it takes.
fn takes_commands(tool: &Tool) -> bool {
    tool.arguments().iter().any(|argument| Purpose::of(argument.name) == Purpose::Program)
}

/// What the schema says of an argument.
fn about(tool: &Tool, key: &str) -> String {
    let property = tool.input_schema().get("properties").and_then(|properties| properties.get(key));
    property.map(Value::to_string).unwrap_or_default()
}

/// Last words of arguments that name a thing.
const NAMES: [&str; 6] = ["id", "identifier", "key", "name", "slug", "title"];
/// Words of arguments that take a path all the same.
const OF_PATHS: [&str; 9] =
    ["absolute", "directory", "file", "filename", "files", "folder", "location", "path", "paths"];

/// Whether a place takes a name, and neither it nor its tool speaks of files or paths.
fn is_name(tool: &Tool, place: &Place) -> bool {
    let is_named = words(&place.name).last().is_some_and(|word| NAMES.contains(&word.as_str()));
    let said = words(&about(tool, top(&place.at)));
    let speaks_of_paths = said.iter().any(|word| OF_PATHS.contains(&word.as_str()));
    is_named && !place.purpose.is_path() && !speaks_of_paths && !is_about_files(&tool.name)
}

/// Whether a place may hold any text that the caller likes.
fn is_plain_text(tool: &Tool, place: &Place) -> bool {
    matches!(place.purpose, Purpose::Prose | Purpose::Unknown) && !is_choice(tool, top(&place.at))
}

/// Where a text is put, and as what: a command that is taken as a list of words gets one word in each place.
fn in_words(place: &Place, value: String) -> (&str, Value) {
    match place.at.strip_suffix("/0").filter(|_| place.purpose == Purpose::Program) {
        Some(list) if !list.is_empty() => (list, payload::shell_words(&value).into()),
        _ => (&place.at, Value::from(value)),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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

    fn made(tool: &Tool, known: &Known, ground: &Ground) -> Vec<Ranked> {
        let mut made = Vec::new();
        drafts(tool, known, ground, |draft| {
            made.push(Ranked { rank: draft.rank, case: draft.case(tool, known, 1) });
        });
        made.sort_by_key(|ranked| ranked.rank);
        made
    }

    fn ranked(tool: &Tool, known: Known) -> Vec<Ranked> {
        let ground =
            Ground::new(&[("/d/r".into(), DeclaredBy::CommandLine)].into(), &Catalogue::default(), 1);
        let valid = vec![json!({ "mode": "a", "path": "p", "options": { "target": "t" } })];
        made(tool, &Known { valid, ..known }, &ground)
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
    fn a_command_that_is_a_list_gets_its_words_one_by_one() {
        let schema = json!({
            "type": "object",
            "properties": { "command": { "type": "array", "items": { "type": "string" } } },
            "required": ["command"],
        });
        let said = "Runs a command. Allowed commands: pwd, date";
        let entry = json!({ "name": "run_command", "description": said, "inputSchema": schema });
        let tool = Tool::read(entry.as_object().unwrap()).unwrap();
        let ground = Ground::new(&BTreeMap::new(), &Catalogue::default(), 1);
        let known = Known { valid: vec![json!({ "command": ["ls", "-l"] })], ..Known::default() };
        let ranked = made(&tool, &known, &ground);
        let arguments = |ranked: &Ranked| match ranked.case.steps.last()? {
            Step::Call { params, .. } => params.get("arguments").cloned(),
            _ => None,
        };
        let given: Vec<Value> = ranked.iter().filter_map(arguments).collect();
        assert!(given.contains(&json!({ "command": ["env", ground.program] })), "{given:?}");
        assert!(given.contains(&json!({ "command": ["sh", "-c", "rm --version"] })));
        assert!(given.contains(&json!({ "command": ["pwd", format!("$({})", ground.program)] })));
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
