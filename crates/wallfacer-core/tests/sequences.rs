//! Sequences on a running server that writes down each call: which were made, in which order, and of which process.

mod common;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::{Finding, Kind};
use wallfacer_core::session::{
    FuzzOptions, Minimised, PropertyOptions, Replay, RuleSet, minimise, property, replay, usual_budget,
};
use wallfacer_core::summary::Fuzzed;
use wallfacer_core::target::{Command, Confine, Destructive, Reach, Target};
use wallfacer_core::wire::Connector;
use wallfacer_rules::{Rules, ToolShape};

struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

/// A run, and the calls that the servers wrote down: process, number, tool and word of each.
struct Played {
    tried: Fuzzed,
    diary: Vec<[String; 4]>,
    place: tempfile::TempDir,
}

#[test]
fn cleaning_up_follows_a_failure_too() {
    let played = play(
        "- name: s\n  steps:\n    - { call: note, with: { word: made }, bind: made }\n    - { call: object }\n    \
         - { call: note, with: { word: late } }\n  cleanup:\n    \
         - { call: note, with: { word: \"not {{steps.made.input.word}}\" } }\n",
    );
    let message = failure(&played);
    assert!(
        message.starts_with("`s` fails at step 2, `object`: `object` answered with an error"),
        "{message}"
    );
    for life in played.lives() {
        assert_eq!(life, ["note made", "object ", "note not made"]);
    }
}

#[test]
fn over_stdio_another_client_is_another_process() {
    let played = play(
        "- name: s\n  steps:\n    - { call: note, with: { word: mine } }\n    \
         - { call: note, with: { word: its }, client: other }\n",
    );
    assert!(played.tried.findings.is_empty(), "{:?}", played.tried.findings);
    assert_eq!(played.lives(), [["note mine"], ["note its"]]);
}

#[test]
fn over_http_another_client_is_another_session_of_the_same_server() {
    let (port, url) = common::address("mcp");
    let http = ["--http".to_owned(), "--port".to_owned(), port.to_string()];
    let sequence = "- name: s\n  steps:\n    - { call: note, with: { word: mine } }\n    \
         - { call: note, with: { word: its }, client: other, bind: its }\n    \
         - { call: note, assert: [{ kind: equals, lhs: $.steps.its.response.structuredContent.number, rhs: 2 }] }\n";
    let played = play_on(sequence, &http, |command| common::listening(command, url.clone()));
    assert!(played.tried.findings.is_empty(), "{:?}", played.tried.findings);
    assert_eq!(played.tried.rules_judged, 1);
    assert_eq!(played.lives(), [["note mine", "note its", "note "]]);
}

#[test]
fn a_repeated_step_is_called_and_judged_each_time_and_the_last_answer_is_bound() {
    let below = |number: u32| {
        format!(
            "- name: s\n  steps:\n    - {{ call: note, repeat: 3, bind: last, assert: [{{ kind: less_than, path: \
             $.response.structuredContent.number, value: {number} }}] }}\n    - {{ call: note, assert: [{{ kind: equals, \
             lhs: $.steps.last.response.structuredContent.number, rhs: 3 }}] }}\n"
        )
    };
    let well = play(&below(4));
    assert!(well.tried.findings.is_empty(), "{:?}", well.tried.findings);
    assert_eq!(well.lives(), [["note "; 4]]);
    let wrong = play(&below(2));
    assert!(failure(&wrong).contains("step 1"));
    assert!(wrong.lives().iter().all(|life| life.len() == 2), "{:?}", wrong.lives());
}

#[test]
fn a_step_that_takes_longer_than_it_may_fails_and_is_no_hang() {
    let played = play("- name: s\n  steps:\n    - { call: note }\n    - { call: linger, timeout: 100ms }\n");
    assert_eq!(failure(&played), "`s` fails at step 2, `linger`: no answer came within 100ms");
}

#[test]
fn a_crash_ends_its_sequence_and_the_next_one_meets_a_fresh_server() {
    let played = play(
        "- name: first\n  steps:\n    - { call: collapse, expect: error }\n    - { call: note }\n- name: second\n  steps:\n    \
         - { call: note, assert: [{ kind: equals, lhs: $.response.structuredContent.number, rhs: 1 }] }\n",
    );
    let kinds: Vec<&str> = played.tried.findings.iter().map(|finding| finding.kind.name()).collect();
    assert_eq!(kinds, ["crash"]);
    assert_eq!(
        played.tried.findings[0].tool.as_deref(),
        Some("collapse"),
        "the tool that ends it, not the sequence"
    );
    assert_eq!(played.tried.rules_judged, 1, "the second alone");
    assert_eq!(unsaid(&played, "first"), "`collapse` gave no answer to judge: the server ended");
    assert!(played.lives().contains(&vec!["note ".to_owned()]), "{:?}", played.lives());
}

#[test]
fn a_placeholder_that_stands_for_nothing_ends_the_sequence() {
    let played = play(
        "- name: s\n  steps:\n    - { call: note, bind: made }\n    \
         - { call: note, with: { word: \"{{steps.made.response.structuredContent.id}}\" } }\n",
    );
    let message = failure(&played);
    assert!(
        message.contains("step 2") && message.contains("steps.made.response.structuredContent.id"),
        "{message}"
    );
    assert!(played.lives().iter().all(|life| life.len() == 1), "{:?}", played.lives());
}

#[test]
fn a_sequence_with_a_tool_that_is_missing_makes_no_call() {
    let played = play("- name: s\n  steps:\n    - { call: note }\n    - { call: sing }\n");
    assert_eq!(unsaid(&played, "s"), "the server has no `sing`; set the parameters of the rules");
    assert_eq!(played.diary.len(), 0);
}

#[test]
fn a_tool_that_is_held_back_holds_the_whole_sequence_back() {
    for sequence in [
        "- name: s\n  steps:\n    - { call: note }\n    - { call: delete_notes }\n",
        "- name: s\n  steps:\n    - { call: note }\n  cleanup:\n    - { call: delete_notes }\n",
    ] {
        let played = play(sequence);
        assert!(
            unsaid(&played, "s").starts_with("`delete_notes` is not called: "),
            "{}",
            unsaid(&played, "s")
        );
        assert_eq!(played.diary.len(), 0);
    }
}

#[test]
fn what_is_stored_is_replayed_whole_and_is_not_made_to_fail_for_want_of_a_step() {
    let played = play(
        "- name: s\n  steps:\n    - { call: note, with: { word: a } }\n    - { call: note, with: { word: b } }\n    \
         - { call: note, with: { word: c }, expect: error }\n",
    );
    let finding = &played.tried.findings[0];
    assert!(matches!(&finding.kind, Kind::SequenceFailure { step_index: 2, .. }), "{:?}", finding.kind);
    assert!(played.lives().iter().all(|life| life.len() == 3), "{:?}", played.lives());
    let again = common::wait_for(replay(
        played.connector(),
        None,
        finding,
        &Destructive::default(),
        usual_budget(finding),
        &mut Deaf,
    ))
    .unwrap();
    assert!(matches!(again.verdict, Replay::StillFails { .. }), "{again:?}");
    let budget = Duration::from_secs(20);
    let (guard, mut deaf) = (Destructive::default(), Deaf);
    let smaller = minimise(played.connector(), None, finding, &guard, budget, &mut deaf);
    let Minimised::Done { case, .. } = common::wait_for(smaller).unwrap() else {
        panic!("it fails each time")
    };
    assert_eq!(case.steps.len(), 3);
    assert_eq!(diary(played.place.path()).len() % 3, 0);
}

fn play(sequences: &str) -> Played {
    play_on(sequences, &[], Reach::Command)
}

fn play_on(sequences: &str, more: &[String], reach: impl Fn(Command) -> Reach) -> Played {
    let text = format!("version: 4\ninvariants: []\nsequences:\n{}", indented(sequences));
    let rules = Rules::read("rules.yaml", &text, &BTreeMap::new(), &|_| None)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let place = tempfile::tempdir().unwrap();
    let effort = FuzzOptions { in_flight: 1, ..FuzzOptions::default() };
    let options = PropertyOptions { effort, cases: 1, looks_further: true, noise: Vec::new() };
    let choose =
        |_: &[ToolShape]| vec![RuleSet { name: "rules".to_owned(), rules: rules.clone(), own: true }];
    let connector = connector(reach(command(place.path(), more)));
    let tried = property(connector, &choose, &options, &mut Deaf).unwrap();
    Played { tried, diary: diary(place.path()), place }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn command(place: &Path, more: &[String]) -> Command {
    let mut arguments: Vec<OsString> = ["rule", "diary", "--root"].map(Into::into).into();
    arguments.push(place.into());
    arguments.extend(more.iter().map(Into::into));
    Command::new(wallfacer_fixtures::server(), arguments)
}

fn connector(reach: Reach) -> Connector {
    let mut target = Target::new(reach);
    // The diary is to outlive the servers.
    target.sandbox.confine = Confine::Off;
    Connector::new(target, common::environment())
}

fn diary(place: &Path) -> Vec<[String; 4]> {
    let text = std::fs::read_to_string(place.join("diary.txt")).unwrap_or_default();
    let parts = |line: &str| {
        let mut words = line.splitn(4, ' ').map(str::to_owned);
        [(); 4].map(|()| words.next().unwrap_or_default())
    };
    text.lines().map(parts).collect()
}

impl Played {
    /// The calls of each server, in the order in which the servers were started.
    fn lives(&self) -> Vec<Vec<String>> {
        let mut order = Vec::new();
        let mut calls: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for [process, _, tool, word] in &self.diary {
            if !order.contains(&process.as_str()) {
                order.push(process);
            }
            calls.entry(process).or_default().push(format!("{tool} {word}"));
        }
        order.into_iter().map(|process| calls.remove(process).unwrap_or_default()).collect()
    }

    fn connector(&self) -> Connector {
        connector(Reach::Command(command(self.place.path(), &[])))
    }
}

/// The message of the only finding, which is one of the sequence.
fn failure(played: &Played) -> String {
    let findings: Vec<&Finding> = played.tried.findings.iter().chain(&played.tried.flaky).collect();
    let kinds: BTreeSet<&str> = findings.iter().map(|finding| finding.kind.name()).collect();
    assert_eq!((findings.len(), kinds), (1, BTreeSet::from(["sequence_failure"])), "{findings:#?}");
    findings[0].message.clone()
}

/// Why a sequence was not tested.
fn unsaid(played: &Played, name: &str) -> String {
    let told = &played.tried.not_tested;
    told.iter().find(|not| not.what == name).unwrap_or_else(|| panic!("{told:?}")).why.clone()
}
