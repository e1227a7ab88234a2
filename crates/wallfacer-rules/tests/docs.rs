//! Every example of the language reference is right, and every kind of assertion has one.

mod common;

use common::{assert_fixtures, rules};
use std::collections::BTreeMap;
use wallfacer_rules::Rules;

const DOCS: &str = include_str!("../../../docs/rules.md");

fn examples() -> Vec<&'static str> {
    DOCS.split("```yaml\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

/// A list of assertions becomes a rule whose call is repeated, so that it may refer to the first one.
fn wrapped(example: &str) -> String {
    let indented: String = example.lines().map(|line| format!("      {line}\n")).collect();
    format!(
        "version: 4\ninvariants:\n  - name: example\n    tool: t\n    fixed: {{}}\n    repeat: 2\n    assert:\n{indented}"
    )
}

#[test]
fn every_example_loads_without_a_warning_and_its_fixtures_hold() {
    let examples = examples();
    assert!(examples.len() > 20, "{} examples", examples.len());
    for example in examples {
        let text = if example.starts_with("version:") { example.to_owned() } else { wrapped(example) };
        let rules = rules(&text);
        assert_eq!(rules.warnings, [], "{example}");
        assert_fixtures(&rules);
    }
}

#[test]
fn every_kind_of_assertion_has_an_example() {
    let text = "version: 4\ninvariants: [{ name: a, tool: t, fixed: {}, assert: [{ kind: zzzzzzzzzzzz }] }]";
    let problems = Rules::read("a.yaml", text, &BTreeMap::new(), &|_| None).unwrap_err();
    let kinds = problems.0[0].help.strip_prefix("known kinds: ").expect("the help lists them").to_owned();
    let all = examples().concat();
    let without: Vec<_> = kinds
        .split(", ")
        .filter(|kind| !all.contains(&format!("kind: {kind},")) && !all.contains(&format!("kind: {kind}\n")))
        .collect();
    assert_eq!(without, Vec::<&str>::new());
    assert_eq!(kinds.split(", ").count(), 26);
}
