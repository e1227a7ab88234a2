//! A server that takes long to start is started as seldom as it takes, and the same is found.

mod common;

use std::time::Duration;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::session::{FuzzOptions, fuzz};
use wallfacer_core::summary::Fuzzed;
use wallfacer_core::target::{Command, Reach, Target};
use wallfacer_core::wire::Connector;

/// Servers that a run may start, beside those for its proofs.
const FEW_STARTS: u64 = 20;

/// Hears what each server was started for.
#[derive(Default)]
struct Starts(Vec<String>);

impl Listener for Starts {
    fn hear(&mut self, event: &Event<'_>) {
        if let Event::ServerStarted { purpose, .. } = event {
            self.0.push((*purpose).to_owned());
        }
    }
}

fn run(fixed: bool) -> (Fuzzed, Vec<String>) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/slow_starts/server.py");
    let words = [script].into_iter().chain(fixed.then_some("--fixed"));
    let mut target = Target::new(Reach::Command(Command::new("python3", words)));
    target.timeouts.startup = Duration::from_secs(60);
    target.timeouts.call = Duration::from_secs(20);
    let mut starts = Starts::default();
    let options = FuzzOptions { iterations: 60, ..FuzzOptions::default() };
    let run = fuzz(Connector::new(target, common::environment()), &options, &mut starts).unwrap();
    (run, starts.0)
}

#[test]
fn bugs_that_one_answer_shows_are_proven_on_servers_that_they_share() {
    let (run, starts) = run(false);
    let mut kinds: Vec<&str> = run.findings.iter().map(|finding| finding.kind.name()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, ["accepted_invalid", "internal_error", "schema_violation"], "{starts:#?}");
    assert!(run.findings.iter().all(|finding| finding.reproduced.always()) && run.flaky.is_empty());
    let empty = run.findings.iter().find(|finding| finding.kind.name() == "internal_error").unwrap();
    let case = empty.repro.case().unwrap();
    assert_eq!(case.arguments().unwrap()["text"], "", "the smallest call is stored");
    assert!(run.lives <= FEW_STARTS, "{} servers: {starts:#?}", run.lives);
}

#[test]
fn the_correct_twin_is_clean_and_started_a_few_times() {
    let (run, starts) = run(true);
    assert!(run.findings.is_empty() && run.flaky.is_empty(), "{:?}", run.findings);
    assert!(run.lives <= FEW_STARTS / 2, "{} servers: {starts:#?}", run.lives);
}
