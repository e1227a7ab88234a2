//! Guesses the names of tools that a server has and does not list, and asks for them behind a name that no server has: the
//! answers tell whether anything is there.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use super::aim::{Aim, Injection};
use super::cases::{Rank, Ranked};
use crate::catalogue::{Catalogue, Tool};
use crate::plan::case::{Case, Intent, Step, Subject};
use crate::target::Command;
use wallfacer_text::lexicon::words;

/// A name that no server has.
const NOBODY: &str = "wallfacer_no_such_tool";
/// Names that are guessed.
const MAX_GUESSES: usize = 48;
/// What of a text is searched for names.
const MAX_TEXT: usize = 64 << 10;
/// Verbs of tools; where one is listed, another may be hidden. Those that change something come first.
const VERBS: [&str; 16] = [
    "delete", "exec", "write", "create", "update", "run", "remove", "apply", "patch", "set", "edit", "add",
    "read", "get", "list", "search",
];
/// Words of variables and options that take tools away.
const RESTRICTING: [&str; 16] = [
    "allowed",
    "allowlist",
    "denied",
    "denylist",
    "disable",
    "disabled",
    "enabled",
    "exclude",
    "nondestructive",
    "only",
    "readonly",
    "restrict",
    "restricted",
    "safe",
    "tools",
    "toolsets",
];

/// The command without what may take tools away; none where nothing does.
pub fn unrestricted(command: &Command) -> Option<Command> {
    let restricts = |name: &str| {
        let words = words(name);
        words.iter().any(|word| RESTRICTING.contains(&word.as_str()))
    };
    let mut free = command.clone();
    free.environment.set.retain(|name, _| !restricts(name));
    let is_option = |word: &str| word.starts_with("--") && restricts(word);
    free.args.retain(|word| !word.to_str().is_some_and(is_option));
    (free != *command).then_some(free)
}

/// Whether the settings of a server say that it is only to read.
pub fn is_told_to_only_read(command: &Command) -> bool {
    let set = command.environment.set.iter().any(|(name, value)| says_so(name, value) || is_so(value));
    let args: Vec<&str> = command.args.iter().filter_map(|word| word.to_str()).collect();
    let option = |(index, word): (usize, &&str)| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let next = args.get(index + 1).copied().unwrap_or_default();
        // An option alone says yes, and so does whatever comes behind it that is no answer.
        let value = if value.is_empty() && ["true", "false"].contains(&next) { next } else { value };
        name.starts_with("--")
            && (says_so(name, if value.is_empty() { "yes" } else { value }) || is_so(value))
    };
    set || args.iter().enumerate().any(option)
}

/// `READ_ONLY=1`
fn says_so(name: &str, value: &str) -> bool {
    let words = words(name);
    let named =
        words.iter().any(|word| word == "readonly") || words.windows(2).any(|pair| pair == ["read", "only"]);
    named && !["", "0", "false", "no", "off"].contains(&value.to_lowercase().as_str())
}

/// `MODE=read-only`
fn is_so(value: &str) -> bool {
    ["read-only", "readonly", "read_only"].contains(&value.to_lowercase().as_str())
}

/// Tools that the server lists only where nothing takes them away.
pub fn taken_away(listed: &Catalogue, free: &Catalogue, seed: u64) -> Vec<Ranked> {
    let is_listed = |name: &str| listed.tools.entries.iter().any(|tool| tool.name == name);
    let hidden = free.tools.entries.iter().filter(|tool| !is_listed(&tool.name)).take(MAX_GUESSES);
    let case = |(wave, tool): (usize, &Tool)| Ranked {
        rank: Rank { unlikely: 0, wave, sort: 0 },
        case: ask(&tool.name, least(tool), true, seed),
    };
    hidden.enumerate().map(case).collect()
}

/// Names that the server's own texts mention, or that its names suggest.
pub fn guesses(catalogue: &Catalogue, instructions: &str, seed: u64) -> Vec<Ranked> {
    let names: BTreeSet<&str> = catalogue.tools.entries.iter().map(|tool| tool.name.as_str()).collect();
    let texts = catalogue.tools.entries.iter().filter_map(|tool| tool.description.as_deref());
    let mentioned = texts.chain([instructions]).flat_map(|text| mentioned(text, &names));
    let varied = VERBS.iter().flat_map(|verb| names.iter().filter_map(|name| with_verb(name, verb)));
    let mut guessed: Vec<String> = Vec::new();
    for name in mentioned.chain(varied) {
        if guessed.len() < MAX_GUESSES && !names.contains(name.as_str()) && !guessed.contains(&name) {
            guessed.push(name);
        }
    }
    let case = |(wave, name): (usize, &String)| Ranked {
        rank: Rank { unlikely: 1, wave: wave / 4, sort: 0 },
        case: ask(name, json!({}), false, seed),
    };
    guessed.iter().enumerate().map(case).collect()
}

/// Words that look like names of tools, and begin or end as one of the tools does.
fn mentioned(text: &str, names: &BTreeSet<&str>) -> Vec<String> {
    static NAME: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"\b[a-zA-Z]+(?:[_-][a-zA-Z]+)+\b|\b[a-z]+(?:[A-Z][a-z]+)+\b").expect("a constant")
    });
    let start: String = text.chars().take(MAX_TEXT).collect();
    let alike = |found: &str| {
        let parts = words(found);
        let first = |name: &str| words(name).first().cloned();
        names.iter().any(|name| first(name).is_some() && first(name) == parts.first().cloned())
    };
    let found = NAME.find_iter(&start).map(|found| found.as_str().to_owned());
    found.filter(|found| alike(found)).take(MAX_GUESSES).collect()
}

/// The name with another verb in the place of its own.
fn with_verb(name: &str, verb: &str) -> Option<String> {
    let own = words(name).into_iter().find(|word| VERBS.contains(&word.as_str()))?;
    let at = name.to_lowercase().find(&own)?;
    let mut changed = name.to_owned();
    let first = name[at..].chars().next()?;
    let written = match first.is_uppercase() {
        true => verb[..1].to_uppercase() + &verb[1..],
        false => verb.to_owned(),
    };
    changed.replace_range(at..at + own.len(), &written);
    Some(changed)
}

/// As little as a tool takes, of the right types.
fn least(tool: &Tool) -> Value {
    let value = |kind: Option<&str>| match kind {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("example"),
    };
    let required = tool.arguments().into_iter().filter(|argument| argument.required);
    Value::Object(required.map(|argument| (argument.name.to_owned(), value(argument.kind))).collect())
}

fn ask(name: &str, arguments: Value, taken_away: bool, seed: u64) -> Case {
    let call = |name: &str| Step::Call {
        method: "tools/call".to_owned(),
        params: Map::from_iter([
            ("name".to_owned(), json!(name)),
            ("arguments".to_owned(), arguments.clone()),
        ]),
    };
    let way = if taken_away { "its name" } else { "a name that was guessed" };
    let injection = Injection {
        at: "/name".to_owned(),
        way: way.to_owned(),
        aim: Aim::Hidden { tool: name.to_owned(), taken_away },
        offline: false,
        openly_first: false,
        by_name: false,
    };
    let whole = Case::tool(name, json!({}), Intent::Injection(Box::new(injection)), seed);
    Case { subject: Subject::Server, steps: vec![call(NOBODY), call(name)], ..whole }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_options_that_take_tools_away_are_left_out() {
        let mut command = Command::new("serve", ["--read-only", "--port=1"]);
        command.environment.set.insert("PAGES_READONLY".to_owned(), "1".to_owned());
        command.environment.set.insert("PAGES_ROOT".to_owned(), "/d".to_owned());
        let free = unrestricted(&command).unwrap();
        assert_eq!(free.args, ["--port=1"]);
        assert_eq!(free.environment.set.keys().collect::<Vec<_>>(), ["PAGES_ROOT"]);
        assert!(unrestricted(&free).is_none());
    }

    #[test]
    fn settings_say_that_a_server_is_only_to_read() {
        let told = |args: &[&str], set: &[(&str, &str)]| {
            let mut command = Command::new("serve", args);
            let set = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
            command.environment.set.extend(set);
            is_told_to_only_read(&command)
        };
        assert!(told(&["--read-only"], &[]) && told(&["--readonly", "--port=1"], &[]));
        assert!(told(&["--mode=read-only"], &[]) && told(&[], &[("PAGES_READ_ONLY_MODE", "true")]));
        assert!(!told(&["--read-only=false"], &[]) && !told(&["--read-only", "false"], &[]));
        assert!(!told(&["--only-pages"], &[]) && !told(&[], &[("READ_ONLY", "0"), ("READ_PATH", "x")]));
    }

    #[test]
    fn names_are_made_of_the_verbs_of_others_and_of_what_texts_mention() {
        assert_eq!(with_verb("page_get", "delete").as_deref(), Some("page_delete"));
        assert_eq!(with_verb("getPage", "delete").as_deref(), Some("deletePage"));
        assert_eq!(with_verb("summary", "delete"), None);
        let names = BTreeSet::from(["page_get"]);
        assert_eq!(mentioned("see `page_erase`, and left-hand side", &names), ["page_erase"]);
    }
}
