//! A rule that was kept by itself says what it said in its file.

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use wallfacer_rules::{Rules, Shelf, ToolShape, packs};

fn read(text: &str) -> Rules {
    Rules::read("kept", text, &BTreeMap::new(), &|_| None)
        .unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

fn shape() -> ToolShape {
    let text = json!({ "type": "string", "description": "A path, a query, a url." });
    let properties: BTreeMap<&str, Value> =
        ["path", "query", "text", "url", "limit"].into_iter().map(|name| (name, text.clone())).collect();
    let hints = json!({ "readOnlyHint": true, "idempotentHint": true, "openWorldHint": false });
    ToolShape::new(json!({
        "name": "odd {{name}}",
        "description": "Works offline.",
        "annotations": hints,
        "inputSchema": { "type": "object", "properties": properties },
    }))
}

#[test]
fn every_rule_of_every_pack_can_be_kept_by_itself() {
    let shelf = Shelf::default();
    let tools = [shape()];
    let mut kept = BTreeSet::new();
    for pack in packs() {
        let rules = shelf.rules(pack.name, &BTreeMap::new()).unwrap().unwrap();
        let made = rules.expand(&tools).rules;
        for rule in rules.rules.iter().chain(&made) {
            let again = read(&rule.written);
            let expanded = again.expand(&tools).rules;
            let same = again.rules.iter().chain(&expanded).find(|other| other.name == rule.name);
            let same = same.unwrap_or_else(|| panic!("{} is lost", rule.name));
            assert_eq!((&same.tool, same.cases, same.repeat), (&rule.tool, rule.cases, rule.repeat));
            assert_eq!(format!("{:?}", same.assertions), format!("{:?}", rule.assertions), "{}", rule.name);
            assert_eq!(same.written, rule.written);
            kept.insert(rule.name.clone());
        }
        for sequence in &rules.sequences {
            let again = read(&sequence.written).sequences.remove(0);
            assert_eq!(format!("{:?}", again.steps), format!("{:?}", sequence.steps), "{}", sequence.name);
            kept.insert(sequence.name.clone());
        }
    }
    assert!(kept.len() > 60, "{}", kept.len());
}

#[test]
fn values_of_parameters_are_kept_and_never_read_as_placeholders() {
    let text = "version: 3\nmetadata: { parameters: { word: { default: x }, many: { default: 1 } } }\n\
                invariants: [{ name: r, tool: t, fixed: { a: \"{{word}}\", b: {{many}} }, assert: [\
                { kind: equals, lhs: $.input.a, rhs: { value: \"{{word}}\" } }] }]\n";
    let given = BTreeMap::from([("word".into(), json!("{{steps.a.b}}")), ("many".into(), json!(7))]);
    let rules = Rules::read("r.yaml", text, &given, &|_| None).unwrap();
    let again = read(&rules.rules[0].written);
    assert_eq!(format!("{:?}", again.rules[0].input), format!("{:?}", rules.rules[0].input));
}
