//! The steps of a check share one budget, and leave none of it unused while there is more to do.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::session::{CheckOptions, FuzzOptions, check};
use wallfacer_core::target::Target;
use wallfacer_core::wire::Connector;
use wallfacer_fixtures::Transport::Stdio;
use wallfacer_rules::Shelf;

const BUDGET: Duration = Duration::from_secs(15);
/// More than any budget is enough for.
const ENDLESS: usize = 1_000_000;

/// The phases of all rounds, in order.
#[derive(Default)]
struct Phases(Vec<String>);

impl Listener for Phases {
    fn hear(&mut self, event: &Event<'_>) {
        if let Event::RoundBegun { phase, .. } = event {
            self.0.push((*phase).to_owned());
        }
    }
}

#[test]
fn a_check_uses_its_time_and_tells_what_it_had_no_time_for() {
    let mut target = Target::new(common::fixture("correct", Stdio));
    target.timeouts.call = Duration::from_secs(1);
    let options = CheckOptions {
        command: "check",
        started: String::new(),
        fuzz: FuzzOptions { budget: Some(BUDGET), iterations: ENDLESS, ..FuzzOptions::default() },
        noise: Vec::new(),
        shelf: Shelf::new(BTreeMap::new()),
        parameters: BTreeMap::new(),
        rules: Vec::new(),
        shared: None,
    };
    let mut phases = Phases::default();
    let run = check(Connector::new(target, common::environment()), &options, &mut phases).unwrap();
    assert!(run.findings.is_empty(), "{:?}", run.findings);
    assert!(run.not_tested.iter().any(|not| not.what == "the rest of the plan"), "{:?}", run.not_tested);
    let names: Vec<_> = run.steps.iter().map(|step| step.name).collect();
    // Without walls nothing is watched, and nothing is injected.
    assert_eq!(names, ["look", "fuzz", "rules"]);
    // Each has had its turn, whoever had more to do.
    let has_begun = |phase: &str| phases.0.iter().any(|begun| begun == phase);
    assert!(has_begun("examples") && has_begun("rules"), "{:?}", phases.0);
}
