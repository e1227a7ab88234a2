//! A tool that takes long, though less than its limit, works: also where many of its calls wait for each other.

mod common;

use std::time::Duration;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::session::{FuzzOptions, fuzz};
use wallfacer_core::summary::Fuzzed;
use wallfacer_core::target::{Command, Reach, Target};
use wallfacer_core::wire::Connector;

/// Twice what a call takes, and far less than as many calls take as are in flight.
const LIMIT: Duration = Duration::from_secs(3);
const IN_FLIGHT: usize = 8;
/// Of each tool: more calls than are in flight.
const ITERATIONS: usize = 12;

/// Nobody listens.
struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

fn run(flags: &[&str]) -> Fuzzed {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/slow_calls/server.py");
    let words = [script].into_iter().chain(flags.iter().copied());
    let mut target = Target::new(Reach::Command(Command::new("python3", words)));
    target.timeouts.startup = Duration::from_secs(60);
    target.timeouts.call = LIMIT;
    let options = FuzzOptions { iterations: ITERATIONS, in_flight: IN_FLIGHT, ..FuzzOptions::default() };
    fuzz(Connector::new(target, common::environment()), &options, &mut Deaf).unwrap()
}

/// How many valid calls of the slow tool were made, and how many of them worked.
fn reports(run: &Fuzzed) -> (u64, u64) {
    let tool = &run.tools["build_report"];
    (tool.valid_calls, tool.valid_completed)
}

#[test]
fn calls_that_wait_for_each_other_all_work() {
    let run = run(&[]);
    assert!(run.findings.is_empty() && run.flaky.is_empty(), "{:?}", run.findings);
    let (made, worked) = reports(&run);
    assert_eq!(worked, made);
    assert!(made > 2, "only {made} calls");
}

#[test]
fn calls_that_are_made_side_by_side_all_work() {
    let run = run(&["--fixed"]);
    assert!(run.findings.is_empty() && run.flaky.is_empty(), "{:?}", run.findings);
    let (made, worked) = reports(&run);
    assert_eq!(worked, made);
}

#[test]
fn what_waits_behind_a_call_that_is_never_answered_is_given_up() {
    let run = run(&["--hangs"]);
    let (_, worked) = reports(&run);
    assert!(worked > 0, "no call worked");
    assert!(run.findings.iter().all(|finding| finding.kind.is_hang()), "{:?}", run.findings);
}
