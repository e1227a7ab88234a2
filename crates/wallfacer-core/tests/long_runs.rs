//! A long plan costs calls, not starts: a server that does well goes on from one part of it to the next. What takes many
//! calls to show is stored with as many, and shows with them again.

mod common;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::plan::Mode;
use wallfacer_core::session::{FuzzOptions, NamePatterns, fuzz};
use wallfacer_core::summary::Fuzzed;
use wallfacer_core::target::{Command, Reach, Target};
use wallfacer_core::wire::Connector;
use wallfacer_fixtures::Transport::Stdio;

/// No round of it is long.
const SHORT: usize = 1_560;
/// Three rounds more, each in eight parts.
const LONG: usize = 12_760;
/// One for those rounds, and one for each end of the plan.
const FURTHER_LIVES: u64 = 3;

struct Nobody;

impl Listener for Nobody {
    fn hear(&mut self, _: &Event<'_>) {}
}

#[test]
fn a_server_that_does_well_goes_on_to_the_next_part() {
    let (short, long) = (fuzzed(SHORT), fuzzed(LONG));
    assert!(short.findings.is_empty() && long.findings.is_empty());
    assert_eq!(long.summary.calls - short.summary.calls, (LONG - SHORT) as u64);
    let further = long.lives.saturating_sub(short.lives);
    assert!(further <= FURTHER_LIVES, "{} lives, then {}", short.lives, long.lives);
}

#[test]
fn a_stored_growth_is_proven_with_as_many_calls_as_before() {
    let flaw = |stored| {
        let server = Command::new(wallfacer_fixtures::server(), ["flaw", "memory-growth"]);
        let connector = Connector::new(Target::new(Reach::Command(server)), common::environment());
        let options = FuzzOptions { iterations: 100, stored, ..FuzzOptions::default() };
        let [finding] = &fuzz(connector, &options, &mut Nobody).unwrap().findings[..] else {
            panic!("no growth")
        };
        (finding.id.clone(), finding.repro.case().unwrap())
    };
    let (id, case) = flaw(Vec::new());
    let (again, same) = flaw(vec![case.clone()]);
    assert_eq!((id, case.steps), (again, same.steps));
}

fn fuzzed(iterations: usize) -> Fuzzed {
    let only_echo = NamePatterns::new(["echo"]).unwrap();
    let options = FuzzOptions {
        iterations,
        mode: Mode::Conform,
        include: Some(only_echo),
        in_flight: 64,
        ..FuzzOptions::default()
    };
    let connector = Connector::new(Target::new(common::fixture("correct", Stdio)), common::environment());
    fuzz(connector, &options, &mut Nobody).unwrap()
}
