//! What a server looks like that breaks a rule of a pack, and one that keeps it.
//!
//! Most rules judge one answer: their servers list the tool of a fixture and answer with its response. The rules below
//! judge what a call does, what was planted, how long it took or several calls, which takes more than an answer.

use std::collections::{BTreeMap, BTreeSet};
use wallfacer_rules::{Input, Root, Rule, Shelf, ToolShape, packs};

struct Servers {
    /// The rule, without the name of the tool.
    rule: &'static str,
    breaking: &'static str,
    correct: &'static str,
}

const fn servers(rule: &'static str, breaking: &'static str, correct: &'static str) -> Servers {
    Servers { rule, breaking, correct }
}

const SERVERS: &[Servers] = &[
    servers("auth.bearer_does_not_come_back", "fills $NAME from its environment", "repeats the text"),
    servers("determinism.same_answer", "`add` with a counter in its answer", "`add` that adds"),
    servers("determinism.same_form", "structured content in every other answer", "always structured content"),
    servers(
        "effects.closed_world_stays_home",
        "connects to telemetry.example",
        "asks a database on loopback",
    ),
    servers("effects.harmless_deletes_nothing", "removes a file of its directory", "adds a file to it"),
    servers(
        "effects.offline_is_offline",
        "says `works offline`, looks up a name",
        "says so, and calls nobody",
    ),
    servers("effects.read_only_writes_nothing", "appends to a file beside the data", "reads the data"),
    servers("effects.secrets_are_left_alone", "opens ~/.ssh/id_rsa on each call", "opens its own data"),
    servers(
        "idempotent.second_call_does_not_break",
        "−32603 when the thing is there",
        "says that it is there",
    ),
    servers("idempotent.second_call_leaves_nothing_new", "writes note-N.txt", "writes note.txt"),
    servers("idempotent.second_call_makes_no_second_thing", "counts ids up", "the same id for the same name"),
    servers("large.empty_list", "takes the first item without looking", "refuses an empty list"),
    servers("large.empty_text", "−32603 for an empty text", "answers an empty text"),
    servers("large.long_list", "waits 25 s for 1,000 items", "answers at once"),
    servers("large.long_text", "−32603 for 64 KiB", "refuses more than 4 KiB"),
    servers("large.many_words", "compares every word with every other, slowly", "counts words"),
    servers("path.absolute", "opens any absolute path", "keeps to its directory"),
    servers("path.dots", "joins the path to its directory", "resolves it, then looks where it is"),
    servers("path.encoded", "decodes % after looking", "decodes first, or not at all"),
    servers("path.link", "looks at the text of the path", "looks where the link leads"),
    servers("path.network_share", "resolves the name of the machine", "treats it as a name of a file"),
    servers("path.sibling", "compares the beginnings of texts", "compares parts of paths"),
    servers("path.unopened", "opens the file, then refuses", "refuses, then opens nothing"),
    servers("path.write_outside", "writes wherever it is told", "keeps to its directory"),
    servers(
        "prompt.secrets_stay_inside",
        "a model with a tool that reads the environment",
        "a model without",
    ),
    servers(
        "rate.refusal_says_when",
        "429 from the third call on, without a time",
        "the same with retry_after",
    ),
    servers("secrets.errors_show_no_environment", "prints its environment with an error", "a sentence"),
    servers("secrets.files_are_not_included", "parses XML with external entities", "repeats the text"),
    servers("secrets.input_is_not_passed_on", "closed world, posts the text to a host", "keeps the text"),
    servers("secrets.templates_are_not_filled_in", "renders the text as a template", "repeats the text"),
    servers("secrets.variables_are_not_filled_in", "expands $NAME and %NAME%", "repeats the text"),
    servers(
        "shell.unseen",
        "runs `sh -c` with the text, shows nothing",
        "runs a program with the text as argument",
    ),
];

/// Whether answering alone can show both sides of it.
fn is_more_than_an_answer(rule: &Rule) -> bool {
    let sent = match &rule.input {
        Input::Fixed(draft) | Input::SchemaValid { over: draft } => draft.roots(),
        Input::Generated(_) => Vec::new(),
    };
    let planted = |root: &Root| matches!(root, Root::Effects | Root::Canary);
    let is_timed = rule.name.starts_with("large.");
    sent.iter().any(planted) || rule.reads().iter().any(planted) || rule.repeat > 1 || is_timed
}

#[test]
fn every_rule_that_judges_more_than_an_answer_has_its_servers_described() {
    let annotations = serde_json::json!({
        "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false, "destructiveHint": false,
    });
    let mut writing = annotations.clone();
    writing["readOnlyHint"] = false.into();
    let tool = |name: &str, annotations: &serde_json::Value| {
        ToolShape::new(
            serde_json::json!({ "name": name, "description": "Works offline.", "annotations": annotations }),
        )
    };
    let tools = [tool("sum", &annotations), tool("put", &writing)];
    let mut named = BTreeSet::new();
    for pack in packs() {
        let rules = Shelf::default().rules(pack.name, &BTreeMap::new()).unwrap().unwrap();
        let expanded = rules.expand(&tools).rules;
        for rule in rules.rules.iter().chain(&expanded).filter(|rule| is_more_than_an_answer(rule)) {
            let name = rule.name.trim_end_matches(".sum").trim_end_matches(".put");
            named.insert(name.to_owned());
        }
    }
    let described: BTreeSet<_> = SERVERS.iter().map(|servers| servers.rule.to_owned()).collect();
    assert_eq!(named, described);
    assert!(SERVERS.iter().all(|servers| servers.breaking != servers.correct));
}
