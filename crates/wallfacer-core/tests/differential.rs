//! Walks the table of changes: what is learned of the earlier version holds for it, and of the later one exactly the
//! findings of the table are made.

mod common;

use std::sync::Arc;
use std::time::Duration;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::Finding;
use wallfacer_core::learn::Learned;
use wallfacer_core::place::Pattern;
use wallfacer_core::plan::Mode;
use wallfacer_core::session::{FuzzOptions, Replay, against, differential, learn, replay, usual_budget};
use wallfacer_core::summary::Fuzzed;
use wallfacer_core::target::{Command, Destructive, Protocol, Reach, Target, Version};
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
    Connector::new(target(Reach::Command(command)), common::environment())
}

fn target(reach: Reach) -> Target {
    let mut target = Target::new(reach);
    target.timeouts.call = PATIENCE;
    target.timeouts.startup = STARTUP;
    target
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
fn again(connector: Connector, other: Option<Connector>, finding: &Finding) -> Replay {
    let stored: Finding = serde_json::from_str(&serde_json::to_string(finding).unwrap()).unwrap();
    common::wait_for(replay(
        connector,
        other,
        &stored,
        &Destructive::default(),
        usual_budget(&stored),
        &mut Deaf,
    ))
    .unwrap()
    .verdict
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
            let verdict = again(later(change), None, finding);
            assert!(matches!(verdict, Replay::StillFails { .. }), "{}: {verdict:?}", change.name);
            let verdict = again(earlier(change), None, finding);
            assert!(matches!(verdict, Replay::Fixed { .. }), "{}: {verdict:?}", change.name);
        }
    });
}

#[test]
fn two_versions_disagree_exactly_where_the_table_says_and_each_finding_shows_again() {
    walk(|change| {
        let run = against(later(change), earlier(change), &options(0, None), &[], &mut Deaf).unwrap();
        let messages: Vec<&str> = run.findings.iter().map(|finding| finding.message.as_str()).collect();
        assert_eq!(found(&run.findings), wanted(change.against), "{}: {messages:?}", change.name);
        assert!(run.flaky.is_empty(), "{}: {:?}", change.name, run.flaky);
        for finding in &run.findings {
            let verdict = again(later(change), Some(earlier(change)), finding);
            assert!(matches!(verdict, Replay::StillFails { .. }), "{}: {verdict:?}", change.name);
            let verdict = again(earlier(change), Some(earlier(change)), finding);
            assert!(matches!(verdict, Replay::Fixed { .. }), "{}: {verdict:?}", change.name);
            let verdict = again(later(change), None, finding);
            assert!(matches!(verdict, Replay::NotReplayable { .. }), "{}: {verdict:?}", change.name);
        }
    });
}

#[test]
fn a_server_agrees_with_itself_over_another_transport_and_in_the_other_era() {
    walk(|change| {
        let (port, url) = common::address("mcp");
        let port = port.to_string();
        let arguments = [&change.arguments()[..], &["--http", "--port", &port]].concat();
        let command = Command::new(wallfacer_fixtures::server(), arguments);
        let over_http = Connector::new(target(common::listening(command, url)), common::environment());
        let mut legacy = later(change);
        legacy.speak(Protocol::Fixed(Version::V2025_11_25));
        for other in [over_http, legacy] {
            let run = against(later(change), other, &options(0, None), &[], &mut Deaf).unwrap();
            let messages: Vec<&str> =
                run.findings.iter().chain(&run.flaky).map(|each| each.message.as_str()).collect();
            assert!(messages.is_empty(), "{}: {messages:?}", change.name);
        }
    });
}

#[test]
fn what_is_ignored_is_no_disagreement() {
    let change = changes().iter().find(|change| change.name == "another-value").unwrap();
    let ignore = [Pattern::parse("$..centimetres").unwrap()];
    let run = against(later(change), earlier(change), &options(0, None), &ignore, &mut Deaf).unwrap();
    assert_eq!(found(&run.findings), []);
}

#[test]
fn what_is_learned_depends_on_no_seed_and_no_run() {
    let change = changes().iter().find(|change| change.name == "clock").unwrap();
    let other = learn(earlier(change), &options(ANOTHER_SEED, None), &mut Deaf).unwrap().learned;
    assert_eq!(learned(change).written(), other.written());
}
