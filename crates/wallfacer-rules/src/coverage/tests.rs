use super::{Cell, Coverage, Means, coverage, human};
use crate::packs::Shelf;
use crate::rules::Rules;
use crate::tool::ToolShape;
use serde_json::json;
use std::collections::BTreeMap;

fn rules(pack: &str) -> Rules {
    Shelf::default().rules(pack, &BTreeMap::new()).unwrap().unwrap()
}

fn tools() -> Vec<ToolShape> {
    let annotated =
        json!({ "name": "delete_note", "annotations": { "readOnlyHint": true, "openWorldHint": false } });
    vec![ToolShape::new(json!({ "name": "echo" })), ToolShape::new(annotated)]
}

fn covered(packs: &[&str], observes: bool) -> Coverage {
    let rules: Vec<_> = packs.iter().map(|pack| (*pack, rules(pack))).collect();
    let packs: Vec<_> = rules.iter().map(|(pack, rules)| (*pack, rules)).collect();
    let held_back = |tool: &str| tool.starts_with("delete").then(|| "it is destructive".to_owned());
    coverage(&tools(), &packs, Means { held_back: &held_back, observes })
}

#[test]
fn rules_about_descriptions_reach_a_tool_that_may_not_be_called() {
    let found = covered(&["tool-annotations", "error-quality"], true);
    assert!(matches!(found.packs[0].cells[1], Cell::Covered(_)), "{found:?}");
    assert_eq!(found.packs[1].cells[1], Cell::Blocked("it is destructive".into()));
    assert!(matches!(found.packs[1].cells[0], Cell::Covered(_)));
    assert!(found.uncovered().is_empty());
}

#[test]
fn an_empty_cell_names_the_tools_that_the_server_lacks() {
    let found = covered(&["rate-limit"], true);
    let Cell::Empty(why) = &found.packs[0].cells[0] else { panic!("{found:?}") };
    assert!(why.contains("`get_quota`"), "{why}");
    assert_eq!(found.uncovered(), ["echo", "delete_note"]);
}

#[test]
fn rules_about_effects_are_blocked_where_nothing_is_observed() {
    assert!(matches!(covered(&["effects"], true).packs[0].cells[0], Cell::Covered(_)));
    assert!(matches!(covered(&["effects"], false).packs[0].cells[0], Cell::Blocked(_)));
}

#[test]
fn a_sequence_needs_all_of_its_tools() {
    let rules = rules("stateful");
    let tool = |name: &str| ToolShape::new(json!({ "name": name }));
    let with = |names: &[&str], held: &str| {
        let tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
        let held_back = |tool: &str| (tool == held).then(|| "held".to_owned());
        coverage(&tools, &[("stateful", &rules)], Means { held_back: &held_back, observes: true })
    };
    let all = ["create_record", "get_record", "delete_record"];
    assert!(matches!(with(&all, "").packs[0].cells[0], Cell::Covered(2)));
    assert!(matches!(with(&all[..2], "").packs[0].cells[0], Cell::Empty(_)));
    assert!(matches!(with(&all, "delete_record").packs[0].cells[0], Cell::Blocked(_)));
}

#[test]
fn a_table_for_people() {
    insta::assert_snapshot!(human(&covered(&["tool-annotations", "rate-limit", "error-quality"], true)));
}
