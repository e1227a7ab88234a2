//! Every tool that can work is called so that it does: one server has a tool for each way of finding out how.

mod common;

use std::collections::BTreeMap;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::plan::Mode;
use wallfacer_core::session::{CheckOptions, FuzzOptions, check, fuzz};
use wallfacer_core::summary::{NotTested, Run};
use wallfacer_core::target::{Command, Confine, Reach, Target};
use wallfacer_core::wire::Connector;
use wallfacer_rules::Shelf;

struct Nobody;

impl Listener for Nobody {
    fn hear(&mut self, _: &Event<'_>) {}
}

fn can_confine() -> Option<()> {
    let walls = wallfacer_process::jail::offers().confinement;
    walls
        .iter()
        .any(|offer| offer.what == wallfacer_process::Rung::Overlay && offer.refused.is_none())
        .then_some(())
}

/// Tools of which it was said that they were not reached, with the reason.
fn missed<'a>(not_tested: impl IntoIterator<Item = &'a NotTested>) -> Vec<String> {
    not_tested.into_iter().map(|left| format!("{}: {}", left.what, left.why)).collect()
}

#[test]
fn each_tool_is_reached_by_what_the_server_says_of_it() {
    let Some(()) = wallfacer_fixtures::require("a machine on which servers can be confined", can_confine())
    else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(wallfacer_fixtures::server(), ["reach"]);
    command.cwd = Some(place.path().to_owned());
    let mut target = Target::new(Reach::Command(command));
    target.sandbox.confine = Confine::Require;
    let options = FuzzOptions { iterations: 40, mode: Mode::Conform, ..FuzzOptions::default() };
    let fuzzed = fuzz(Connector::new(target, common::environment()), &options, &mut Nobody).unwrap();
    assert_eq!(missed(&fuzzed.not_tested), Vec::<String>::new());
    let unreached: Vec<&String> =
        fuzzed.tools.iter().filter(|(_, tool)| tool.valid_completed == 0).map(|(name, _)| name).collect();
    assert!(unreached.is_empty() && fuzzed.findings.is_empty(), "{unreached:?} {:?}", fuzzed.findings);
}

#[test]
fn programs_that_are_missing_are_stood_in_for_however_they_are_called() {
    let Some(()) = wallfacer_fixtures::require("a machine on which servers can be confined", can_confine())
    else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new(wallfacer_fixtures::server(), ["reach-programs"]);
    command.cwd = Some(place.path().to_owned());
    let mut target = Target::new(Reach::Command(command));
    target.sandbox.confine = Confine::Require;
    let options = CheckOptions {
        command: "check",
        started: String::new(),
        fuzz: FuzzOptions { iterations: 10, ..FuzzOptions::default() },
        noise: Vec::new(),
        shelf: Shelf::new(BTreeMap::new()),
        parameters: BTreeMap::new(),
        rules: Vec::new(),
        shared: None,
    };
    let run = check(Connector::new(target, common::environment()), &options, &mut Nobody).unwrap();
    let reached = ["blow_horn", "ring_bell", "tune_lute"].map(|tool| run.tools[tool].valid_completed > 0);
    assert!(reached == [true; 3] && run.findings.is_empty(), "{reached:?} {:?}", run.findings);
    // A tool that says in words that it failed counts as one that was reached; what was missed stands with the rest.
    let missed = run.not_tested.iter().filter(|left| left.what == "blow_horn").count();
    assert_eq!(missed, 0, "{:?}", run.not_tested);
}

/// A check of a server in Python.
fn check_of(script: &str, words: &[&str]) -> Run {
    let place = tempfile::tempdir().unwrap();
    let mut command = Command::new("python3", [script].into_iter().chain(words.iter().copied()));
    command.cwd = Some(place.path().to_owned());
    let mut target = Target::new(Reach::Command(command));
    target.sandbox.confine = Confine::Require;
    let options = CheckOptions {
        command: "check",
        started: String::new(),
        fuzz: FuzzOptions { iterations: 10, ..FuzzOptions::default() },
        noise: Vec::new(),
        shelf: Shelf::new(BTreeMap::new()),
        parameters: BTreeMap::new(),
        rules: Vec::new(),
        shared: None,
    };
    check(Connector::new(target, common::environment()), &options, &mut Nobody).unwrap()
}

/// The one whose tools depend on services.
fn with_services(words: &[&str]) -> Run {
    check_of(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reach/services.py"), words)
}

#[test]
fn what_services_must_answer_is_learned_from_errors_and_code() {
    let Some(()) = wallfacer_fixtures::require("a machine on which servers can be confined", can_confine())
    else {
        return;
    };
    let run = with_services(&[]);
    let tools = ["count_beetles", "name_beetle", "show_case", "label_case", "open_drawer"];
    let unreached: Vec<&str> =
        tools.into_iter().filter(|tool| run.tools[*tool].valid_completed == 0).collect();
    assert_eq!(unreached, Vec::<&str>::new(), "{:?}", missed(&run.not_tested));
    // What failed over an answer of ours is told as not tested, in the server's words.
    let internal = run.findings.iter().filter(|finding| finding.kind.name() == "internal_error");
    assert_eq!(internal.count(), 0, "{:?}", run.findings);
    let told = missed(&run.not_tested).into_iter().find(|line| line.starts_with("weigh_beetle"));
    let told = told.expect("a tool that never worked is told");
    assert!(told.contains("scales of 2019"), "{told}");
}

#[test]
fn what_fails_without_a_service_is_the_servers_own_fault() {
    let Some(()) = wallfacer_fixtures::require("a machine on which servers can be confined", can_confine())
    else {
        return;
    };
    let run = with_services(&["--flawed"]);
    let internal = run.findings.iter().filter(|finding| finding.kind.name() == "internal_error");
    let internal: Vec<_> = internal.map(|finding| finding.tool.as_deref()).collect();
    assert_eq!(internal, [Some("press_beetle")], "{:?}", run.findings);
}

#[test]
fn a_server_that_brings_its_own_authorities_trusts_the_sandbox_and_one_that_pins_does_not() {
    let walls = wallfacer_fixtures::require("a machine on which servers can be confined", can_confine());
    let list = std::fs::read_to_string("/etc/ssl/certs/ca-certificates.crt").ok();
    let Some(list) = walls.and(wallfacer_fixtures::require("a list of public authorities", list)) else {
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let (all, one) = (place.path().join("all.pem"), place.path().join("one.pem"));
    let end = "-----END CERTIFICATE-----\n";
    std::fs::write(&all, &list).unwrap();
    std::fs::write(&one, &list[..list.find(end).unwrap() + end.len()]).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/reach/authorities.py");
    let brings = check_of(script, &[all.to_str().unwrap()]);
    assert!(brings.tools["read_tide"].valid_completed > 0, "{:?}", missed(&brings.not_tested));
    let pins = check_of(script, &[one.to_str().unwrap()]);
    assert_eq!(pins.tools["read_tide"].valid_completed, 0);
    let told = missed(&pins.not_tested).into_iter().any(|line| line.starts_with("read_tide: "));
    assert!(told && pins.findings.is_empty(), "{:?} {:?}", missed(&pins.not_tested), pins.findings);
}
