//! Walks the table of injections: exactly what the table says is found, proven by its effect, and nothing in the twins.
#![cfg(target_os = "linux")]

mod common;

use std::ffi::OsString;
use std::time::Duration;

use tempfile::TempDir;
use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::Finding;
use wallfacer_core::session::{FuzzOptions, Replay, inject, replay, usual_budget};
use wallfacer_core::summary::Injected;
use wallfacer_core::target::{Command, Confine, Destructive, Reach, Required, Target};
use wallfacer_core::wire::Connector;
use wallfacer_fixtures::{Injection, Told, injections};

const STARTUP: Duration = Duration::from_secs(60);
/// More than any call of a correct twin takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(3);

/// Nobody listens.
struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

/// Kind, name of what is to blame, severity.
type Found = Vec<(String, Option<String>, String)>;

#[test]
fn every_injection_is_found_by_its_effect_and_replays() {
    let wrong: Vec<String> = injections().iter().filter_map(|row| compare(row, false)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_correct_twin_gives_a_finding() {
    let wrong: Vec<String> = injections().iter().filter_map(|row| compare(row, true)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_path_without_a_scope_is_worth_a_note() {
    let row = injections().iter().find(|row| row.name == "path-without-scope").unwrap();
    let found = run(row, false);
    assert!(found.notes.iter().any(|note| note.text.contains("given no directory")), "{:?}", found.notes);
}

#[test]
fn the_evidence_is_what_the_kernel_saw() {
    let row = injections().iter().find(|row| row.name == "command-through-shell").unwrap();
    let found = run(row, false);
    let evidence = &found.findings[0].evidence;
    assert!(evidence.iter().any(|proof| proof.text.contains("execve(\"/usr/")), "{evidence:?}");
}

#[test]
fn many_ways_in_are_seen_again_on_two_servers_that_they_share() {
    let row = injections().iter().find(|row| row.name == "options-of-programs").unwrap();
    let found = run(row, false);
    let ways: Vec<usize> = found.findings.iter().map(|finding| finding.sightings.len()).collect();
    assert_eq!(ways, [2, 2], "{:?}", found.findings);
    // One to look at, at most two at work in each of two worlds, two to see all of it again, and one for each that was made
    // smaller; one at a time, to see it again would alone have taken two for each.
    assert!(found.lives < 12, "{}", found.lives);
}

/// What is not as the table says.
fn compare(row: &Injection, fixed: bool) -> Option<String> {
    let place = tempfile::tempdir().unwrap();
    let found = run_in(row, fixed, &place);
    let mut seen: Found = found
        .findings
        .iter()
        .map(|finding| (finding.kind.name().to_owned(), finding.tool.clone(), finding.severity.to_string()))
        .collect();
    seen.sort();
    let expected = if fixed { &[][..] } else { row.expected };
    let mut wanted: Found = expected
        .iter()
        .map(|expect| (expect.kind.to_owned(), expect.tool.map(str::to_owned), expect.severity.to_owned()))
        .collect();
    wanted.sort();
    let told = || found.findings.iter().map(|finding| finding.message.clone()).collect::<Vec<_>>();
    if seen == wanted && found.flaky.is_empty() && found.not_tested.is_empty() {
        return found.findings.iter().find_map(|finding| replayed(row, finding, &place));
    }
    let name = row.name;
    Some(format!(
        "{name} (fixed: {fixed}): {seen:?} instead of {wanted:?}; {:?}; {:?}",
        told(),
        found.not_tested
    ))
}

/// What a stored finding comes to otherwise than it should: it shows again, and not in the correct twin.
fn replayed(row: &Injection, finding: &Finding, place: &TempDir) -> Option<String> {
    let again = |fixed: bool| {
        let (connector, mut deaf) = (connector(row, fixed, place), Deaf);
        common::wait_for(replay(
            connector,
            None,
            finding,
            &Destructive::default(),
            usual_budget(finding),
            &mut deaf,
        ))
        .unwrap()
        .verdict
    };
    let (flawed, twin) = (again(false), again(true));
    let right = matches!(flawed, Replay::StillFails { .. }) && matches!(twin, Replay::Fixed { .. });
    (!right).then(|| format!("{} again: {flawed:?}, fixed: {twin:?}", row.name))
}

fn run(row: &Injection, fixed: bool) -> Injected {
    run_in(row, fixed, &tempfile::tempdir().unwrap())
}

fn run_in(row: &Injection, fixed: bool, place: &TempDir) -> Injected {
    inject(connector(row, fixed, place), &FuzzOptions::default(), &mut Deaf).unwrap()
}

fn connector(row: &Injection, fixed: bool, place: &TempDir) -> Connector {
    let home = place.path().canonicalize().unwrap();
    for name in ["home", "work", "area/root"] {
        std::fs::create_dir_all(home.join(name)).unwrap();
    }
    std::fs::write(home.join("area/root/pages.db"), "pages\n").unwrap();
    let mut arguments: Vec<OsString> = row.arguments().iter().map(OsString::from).collect();
    arguments.extend(fixed.then(|| "--fixed".into()));
    if row.told == Told::CommandLine {
        arguments.extend(["--root".into(), home.join("area/root").into()]);
    }
    arguments.extend((row.told == Told::ReadOnly).then(|| "--read-only".into()));
    let command =
        Command { cwd: Some(home.join("work")), ..Command::new(wallfacer_fixtures::server(), arguments) };
    let mut target = Target::new(Reach::Command(command));
    target.roots.extend((row.told == Told::Roots).then(|| home.join("area/root")));
    target.timeouts.startup = STARTUP;
    target.timeouts.call = PATIENCE;
    target.sandbox.confine = Confine::Require;
    target.sandbox.required = Required { observe: true, confine: true };
    let mut environment = common::environment();
    environment.insert("HOME".into(), home.join("home").into());
    Connector::new(target, environment)
}
