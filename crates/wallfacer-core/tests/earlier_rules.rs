//! Runs a rule file of an earlier version on a live server: what must hold holds, and the two claims that are wrong on
//! purpose are found.

mod common;

use std::collections::{BTreeMap, BTreeSet};

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::session::{FuzzOptions, PropertyOptions, RuleSet, property};
use wallfacer_core::target::Target;
use wallfacer_core::wire::Connector;
use wallfacer_fixtures::Transport;
use wallfacer_rules::{Rules, ToolShape};

struct Deaf;

impl Listener for Deaf {
    fn hear(&mut self, _: &Event<'_>) {}
}

#[test]
fn a_file_of_version_3_runs_as_it_is() {
    let text = include_str!("earlier/version3.yaml");
    let rules = Rules::read("version3.yaml", text, &BTreeMap::new(), &|_| None)
        .unwrap_or_else(|problems| panic!("{problems}"));
    assert_eq!(rules.warnings, []);
    let choose =
        |_: &[ToolShape]| vec![RuleSet { name: "version3".to_owned(), rules: rules.clone(), own: true }];
    let effort = FuzzOptions { in_flight: 1, ..FuzzOptions::default() };
    let options = PropertyOptions { effort, cases: 100, looks_further: true, noise: Vec::new() };
    let target = Target::new(common::fixture("correct", Transport::Stdio));
    let connector = Connector::new(target, common::environment());
    let tried = property(connector, &choose, &options, &mut Deaf).unwrap();
    let found: BTreeSet<(&str, &str)> = tried
        .findings
        .iter()
        .chain(&tried.flaky)
        .map(|finding| (finding.kind.name(), finding.kind.rule().unwrap_or_default()))
        .collect();
    let wanted = [("property_failure", "add.stays_below_ten"), ("sequence_failure", "sum.is_forgotten")];
    assert_eq!(found, wanted.into());
    let unsaid: Vec<&str> = tried.not_tested.iter().map(|not| not.what.as_str()).collect();
    assert_eq!(unsaid, ["absent.is_not_called"]);
    assert_eq!(tried.rules_judged, 7, "four rules, one for the tool that only reads, two sequences");
}
