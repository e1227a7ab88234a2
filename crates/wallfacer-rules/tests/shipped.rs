//! The rule files that ship with the product load, and their fixtures say what they should.

mod common;

use common::{assert_fixtures, rules};
use serde_json::json;
use wallfacer_rules::ToolShape;

const STARTER: &str = include_str!("../../mcp-wallfacer/src/init/invariants.yaml");
const DEMO: &str = include_str!("../../mcp-wallfacer/src/demo/invariants.yaml");
const PYTHON_EXAMPLE: &str = include_str!("../../../examples/python_server/invariants.yaml");

#[test]
fn the_starter_rules_apply_to_any_tool() {
    let rules = rules(STARTER);
    assert_eq!(rules.warnings, []);
    let expansion = rules.expand(&[ToolShape::new(json!({ "name": "echo" }))]);
    assert_eq!(expansion.rules.len(), rules.block_count());
    assert!(assert_fixtures(&rules) > 0);
}

#[test]
fn the_rules_of_the_demo_load_and_can_fail() {
    let rules = rules(DEMO);
    assert_eq!(rules.warnings, []);
    assert!(assert_fixtures(&rules) > 0);
}

#[test]
fn the_rules_of_the_python_example_load_and_can_fail() {
    let rules = rules(PYTHON_EXAMPLE);
    assert_eq!(rules.warnings, []);
    assert!(assert_fixtures(&rules) > 0);
}
