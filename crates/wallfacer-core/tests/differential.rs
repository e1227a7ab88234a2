//! Walks the table of changes: what is learned of the earlier version holds for it, and of the later one exactly the
//! findings of the table are made.

mod common;

use std::sync::Arc;
use std::time::Duration;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::Finding;
use wallfacer_core::learn::Learned;
use wallfacer_core::plan::Mode;
use wallfacer_core::session::{FuzzOptions, Replay, differential, learn, replay};
use wallfacer_core::summary::Fuzzed;
use wallfacer_core::target::{Command, Destructive, Reach, Target};
use wallfacer_core::wire::Connector;
use wallfacer_fixtures::{Change, Expect, changes};

const PATIENCE: Duration = Duration::from_secs(20);
const STARTUP: Duration = Duration::from_secs(60);
/// The seed that later runs have: what is learned must not hang on the one it was learned with.
const ANOTHER_SEED: u64 = 7;

/// Nobody listens.
struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

fn earlier(change: &Change) -> Connector {
    server([&change.arguments()[..], &["--fixed"]].concat())
}

fn later(change: &Change) -> Connector {
    server(change.arguments().to_vec())
}

fn server(arguments: Vec<&str>) -> Connector {
    let command = Command::new(wallfacer_fixtures::server(), arguments);
    let mut target = Target::new(Reach::Command(command));
    target.timeouts.call = PATIENCE;
    target.timeouts.startup = STARTUP;
    Connector::new(target, common::environment())
}

fn options(seed: u64, learned: Option<Learned>) -> FuzzOptions {
    let learned = learned.map(Arc::new);
    FuzzOptions { seed, mode: Mode::Conform, iterations: 20, in_flight: 1, learned, ..FuzzOptions::default() }
}

fn learned(change: &Change) -> Learned {
    learn(earlier(change), &options(0, None), &mut Deaf).unwrap().learned
}

fn held(connector: Connector, learned: &Learned) -> Fuzzed {
    differential(connector, &options(ANOTHER_SEED, Some(learned.clone())), &mut Deaf).unwrap()
}

/// Kind, tool and severity of each finding, in order.
fn found(findings: &[Finding]) -> Vec<(&str, Option<&str>, &str)> {
    let each = |finding: &'_ Finding| (finding.kind.name(), finding.tool.clone(), finding.severity.as_str());
    let mut rows: Vec<_> = findings.iter().map(each).collect();
    rows.sort();
    let named = |tool: Option<String>| match tool.as_deref() {
        Some("water_level") => Some("water_level"),
        other => panic!("{other:?} is to blame"),
    };
    rows.into_iter().map(|(kind, tool, severity)| (kind, named(tool), severity)).collect()
}

fn wanted(rows: &[Expect]) -> Vec<(&str, Option<&str>, &str)> {
    let mut rows: Vec<_> = rows.iter().map(|row| (row.kind, row.tool, row.severity)).collect();
    rows.sort();
    rows
}

/// Whether the finding shows again after a round trip through its file.
fn again(connector: Connector, finding: &Finding) -> Replay {
    let stored: Finding = serde_json::from_str(&serde_json::to_string(finding).unwrap()).unwrap();
    common::wait_for(replay(connector, &stored, &Destructive::default(), &mut Deaf)).unwrap().verdict
}

/// Each row by itself, all at once: most of the time is spent waiting for servers to start.
fn walk(judge: impl Fn(&Change) + Sync) {
    std::thread::scope(|scope| changes().iter().for_each(|change| drop(scope.spawn(|| judge(change)))));
}

#[test]
fn what_was_learned_of_a_server_holds_for_it_with_other_calls() {
    walk(|change| {
        let run = held(earlier(change), &learned(change));
        let messages: Vec<&str> =
            run.findings.iter().chain(&run.flaky).map(|each| each.message.as_str()).collect();
        assert!(messages.is_empty(), "{}: {messages:?}", change.name);
    });
}

#[test]
fn a_change_gives_exactly_its_findings_and_each_shows_again() {
    walk(|change| {
        let run = held(later(change), &learned(change));
        let messages: Vec<&str> = run.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(found(&run.findings), wanted(change.learned), "{}: {messages:?}", change.name);
        for finding in &run.findings {
            let verdict = again(later(change), finding);
            assert!(matches!(verdict, Replay::StillFails { .. }), "{}: {verdict:?}", change.name);
            let verdict = again(earlier(change), finding);
            assert!(matches!(verdict, Replay::Fixed { .. }), "{}: {verdict:?}", change.name);
        }
    });
}

#[test]
fn what_is_learned_depends_on_no_seed_and_no_run() {
    let change = changes().iter().find(|change| change.name == "clock").unwrap();
    let other = learn(earlier(change), &options(ANOTHER_SEED, None), &mut Deaf).unwrap().learned;
    assert_eq!(learned(change).written(), other.written());
}
