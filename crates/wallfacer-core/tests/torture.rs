//! What goes wrong with calls in flight together is found on small servers, proven, and made small; their correct twins, and
//! habits that only look like flaws, are silent.

mod common;

use std::time::Duration;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::Finding;
use wallfacer_core::session::{FuzzOptions, Load, TortureMode, torture};
use wallfacer_core::summary::Fuzzed;
use wallfacer_core::target::{Command, Reach, Target};
use wallfacer_core::wire::Connector;

/// A server that answers has this long, however busy the machine is; each silence is waited for several times.
const PATIENCE: Duration = Duration::from_secs(5);
const SHORT_PATIENCE: Duration = Duration::from_millis(1_500);

/// The server, the kind of what is found, and a part of its message.
const FLAWS: [(&str, &str, &str); 9] = [
    ("loses-writes", "race", "is lost"),
    ("spoils-store", "race", "cannot be read any more"),
    ("swaps-answers", "race", "given the answer to another call"),
    ("drops-answers", "race", "never answered"),
    ("locks-up", "race", "never answered"),
    ("loses-counts", "race", "the counter has counted"),
    ("dies-in-company", "crash", "exited with code 3"),
    ("fails-in-company", "race", "fails with"),
    ("shows-notes", "state_leak", "shown to another"),
];
const HABITS: [&str; 7] = [
    "limits-calls",
    "tells-the-time",
    "answers-one-by-one",
    "shows-the-latest",
    "keeps-one",
    "keeps-all",
    "shared-board",
];

/// The same over HTTP, with several clients.
const FLAWS_OF_CLIENTS: [(&str, &str, &str); 3] = [
    ("leaks-sessions", "state_leak", "shown to another client"),
    ("turns-second-away", "race", "turned away"),
    ("collides-ids", "race", "answer to another client's call"),
];

struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

fn run(name: &str, fixed: bool, patience: Duration) -> Fuzzed {
    run_on(Reach::Command(Command::new("python3", arguments(name, fixed))), patience)
}

fn run_over_http(name: &str, fixed: bool) -> Fuzzed {
    let (port, url) = common::address("mcp");
    let arguments = [arguments(name, fixed), vec!["--http".to_owned(), port.to_string()]].concat();
    run_on(common::listening(Command::new("python3", arguments), url), PATIENCE)
}

fn arguments(name: &str, fixed: bool) -> Vec<String> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/torture/server.py");
    let words = [script, name].into_iter().chain(fixed.then_some("--fixed"));
    words.map(str::to_owned).collect()
}

fn run_on(reach: Reach, patience: Duration) -> Fuzzed {
    let mut target = Target::new(reach);
    target.timeouts.call = patience;
    target.timeouts.startup = Duration::from_secs(60);
    let load = Load { mode: TortureMode::All, concurrency: 16, clients: 4, thorough: true, shared: None };
    let connector = Connector::new(target, common::environment());
    torture(connector, &FuzzOptions::default(), load, &mut Deaf).unwrap()
}

fn told(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{}: {}", finding.kind.name(), finding.message)).collect()
}

#[test]
fn every_flaw_is_found_and_told_by_its_own_name() {
    for (name, kind, message) in FLAWS {
        let silent = matches!(name, "drops-answers" | "locks-up");
        let run = run(name, false, if silent { SHORT_PATIENCE } else { PATIENCE });
        let found = run.findings.iter().any(|finding| {
            finding.kind.name() == kind && finding.message.contains(message) && finding.reproduced.always()
        });
        assert!(found, "{name}: {:?}, flaky {:?}", told(&run.findings), told(&run.flaky));
    }
}

#[test]
fn a_lost_write_is_shown_by_three_calls() {
    let run = run("loses-writes", false, PATIENCE);
    let lost = run.findings.iter().find(|finding| finding.message.contains("is lost")).unwrap();
    let case = lost.repro.case().unwrap();
    let widest = case.schedule().unwrap().rounds.iter().map(Vec::len).max();
    assert_eq!(widest, Some(2));
    let calls = lost.evidence.iter().find(|evidence| evidence.label == "calls").unwrap();
    assert_eq!(calls.text.lines().filter(|line| !line.starts_with("  ")).count(), 3, "{}", calls.text);
}

#[test]
fn correct_twins_are_silent() {
    for (name, _, _) in FLAWS {
        let run = run(name, true, PATIENCE);
        assert!(run.findings.is_empty() && run.flaky.is_empty(), "{name}: {:?}", told(&run.findings));
    }
}

#[test]
fn what_only_looks_like_a_flaw_is_none() {
    for name in HABITS {
        let run = run(name, false, PATIENCE);
        assert!(run.findings.is_empty() && run.flaky.is_empty(), "{name}: {:?}", told(&run.findings));
    }
}

#[test]
fn what_clients_do_to_each_other_is_found_and_correct_twins_are_silent() {
    for (name, kind, message) in FLAWS_OF_CLIENTS {
        let run = run_over_http(name, false);
        let told_so = |finding: &Finding| finding.kind.name() == kind && finding.message.contains(message);
        assert!(run.findings.iter().any(told_so), "{name}: {:?} {:?}", told(&run.findings), run.notes);
        let twin = run_over_http(name, true);
        assert!(twin.findings.is_empty() && twin.flaky.is_empty(), "{name}: {:?}", told(&twin.findings));
    }
}

#[test]
fn a_store_for_all_sessions_is_a_note() {
    let run = run_over_http("one-jotter", false);
    assert!(run.findings.is_empty(), "{:?}", told(&run.findings));
    assert!(run.notes.iter().any(|note| note.text.contains("shows in another session")), "{:?}", run.notes);
}
