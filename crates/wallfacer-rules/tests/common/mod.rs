//! What several tests need: rules from text, and a context from JSON.

use serde_json::Value;
use std::collections::BTreeMap;
use wallfacer_rules::{Context, FixtureResult, Rules, Verdict, test_offline};

/// Rules of a file that extends nothing.
pub fn rules(text: &str) -> Rules {
    Rules::read("rules.yaml", text, &BTreeMap::new(), &|_| None)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// The verdict of one assertion, written as YAML, on one call.
#[allow(dead_code)] // Not every test binary judges single assertions.
pub fn verdict(version: u32, assertion: &str, input: Value, response: Value) -> Verdict {
    let text = format!(
        "version: {version}\ninvariants: [{{ name: r, tool: t, fixed: {{}}, assert: [{assertion}] }}]\n"
    );
    rules(&text).rules[0].judge(&Context::new(&input, &response))
}

/// Every fixture of these rules says what it should, and there is at least one.
#[allow(dead_code)] // Not every test binary has fixtures.
pub fn assert_fixtures(rules: &Rules) -> usize {
    let outcomes = test_offline(rules);
    for outcome in &outcomes {
        assert_eq!(outcome.result, FixtureResult::Met, "{} / {}", outcome.rule, outcome.fixture);
    }
    outcomes.len()
}
