//! Walks the table of injections: exactly what the table says is found, proven by its effect, and nothing in the twins.
#![cfg(target_os = "linux")]

mod common;

use std::ffi::OsString;
use std::time::Duration;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::session::{FuzzOptions, inject};
use wallfacer_core::summary::Injected;
use wallfacer_core::target::{Command, Confine, Reach, Required, Target};
use wallfacer_core::wire::Connector;
use wallfacer_fixtures::{Injection, injections};

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
fn every_injection_is_found_by_its_effect() {
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

/// What is not as the table says.
fn compare(row: &Injection, fixed: bool) -> Option<String> {
    let found = run(row, fixed);
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
    (seen != wanted || !found.flaky.is_empty() || !found.not_tested.is_empty()).then(|| {
        let name = row.name;
        format!(
            "{name} (fixed: {fixed}): {seen:?} instead of {wanted:?}; {:?}; {:?}",
            told(),
            found.not_tested
        )
    })
}

fn run(row: &Injection, fixed: bool) -> Injected {
    let place = tempfile::tempdir().unwrap();
    let home = place.path().canonicalize().unwrap();
    for name in ["home", "work", "area", "area/root"] {
        std::fs::create_dir(home.join(name)).unwrap();
    }
    std::fs::write(home.join("area/root/pages.db"), "pages\n").unwrap();
    let mut arguments: Vec<OsString> = row.arguments().iter().map(OsString::from).collect();
    arguments.extend(fixed.then(|| "--fixed".into()));
    if row.scoped {
        arguments.extend(["--root".into(), home.join("area/root").into()]);
    }
    let command =
        Command { cwd: Some(home.join("work")), ..Command::new(wallfacer_fixtures::server(), arguments) };
    let mut target = Target::new(Reach::Command(command));
    target.timeouts.startup = STARTUP;
    target.timeouts.call = PATIENCE;
    target.sandbox.confine = Confine::Require;
    target.sandbox.required = Required { observe: true, confine: true };
    let mut environment = common::environment();
    environment.insert("HOME".into(), home.join("home").into());
    inject(Connector::new(target, environment), &FuzzOptions::default(), &mut Deaf).unwrap()
}
