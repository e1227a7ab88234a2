//! All starts of a server must list the same tools in the same order and in the same words: clients keep what they sent to a
//! model before, and can use it again only if it is the same byte for byte.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::findings::{Cause, Kind, Reference, ReferenceKind};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::Observation;
use crate::plan::{Case, Step};
use crate::run::{Recording, Taken};
use crate::target::Severity;

pub struct ListsTheSame;

impl Check for ListsTheSame {
    fn name(&self) -> &'static str {
        "lists-are-stable"
    }

    fn judge(&self, case: &Case, recording: &Recording, _: &Observation, _: &Context) -> Verdict {
        let is_list = |step: &Step| matches!(step.request(), Some(("tools/list", _)));
        let alone = |steps: &[Step]| steps.len() == 1 && is_list(&steps[0]);
        let starts: Vec<&[Step]> = case.steps.split(|step| *step == Step::Restart).collect();
        if starts.len() < 2 || !starts.iter().all(|steps| alone(steps)) {
            return Verdict::Holds;
        }
        let lists: Vec<Vec<Value>> = recording.steps.iter().filter_map(tools).collect();
        let Some((first, others)) = lists.split_first() else { return Verdict::Holds };
        let Some((part, message)) = others.iter().find_map(|other| difference(first, other)) else {
            return Verdict::Holds;
        };
        let cause = Cause::rule(self.name(), Some(part)).server_wide();
        let kind = Kind::Conformance { rule: self.name().to_owned() };
        let mut charge = Charge::new(self.name(), kind, cause, message);
        charge.severity = Some(Severity::Low);
        charge.details = "What a client has sent to a model before can be used again only if it is the same byte for byte.".to_owned();
        charge.references =
            vec![Reference { kind: ReferenceKind::Spec, text: "server/tools#listing-tools".to_owned() }];
        Verdict::Broken(Box::new(charge))
    }
}

fn tools(taken: &Taken) -> Option<Vec<Value>> {
    reply::message(taken)?.result()?.get("tools")?.as_array().cloned()
}

/// What is different; nothing where the tools are others, for that may have its reasons.
fn difference(first: &[Value], second: &[Value]) -> Option<(&'static str, String)> {
    let names =
        |tools: &[Value]| -> Vec<String> { tools.iter().map(|tool| tool["name"].to_string()).collect() };
    let (one, other) = (names(first), names(second));
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort();
        names
    };
    if sorted(&one) != sorted(&other) {
        return None;
    }
    if one != other {
        return Some(("order", "two starts of the server list its tools in a different order".to_owned()));
    }
    let texts: BTreeMap<&String, String> = one.iter().zip(first.iter().map(ToString::to_string)).collect();
    let changed = other.iter().zip(second).find(|(name, tool)| texts[name] != tool.to_string());
    changed
        .map(|(name, _)| ("words", format!("two starts of the server describe the tool {name} differently")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_same_tools_must_come_in_the_same_order_and_words() {
        let (a, b) = (json!({ "name": "a", "description": "x" }), json!({ "name": "b" }));
        let other = json!({ "name": "a", "description": "y" });
        let differs = |first: &[Value], second: &[Value]| difference(first, second).map(|(part, _)| part);
        assert_eq!(differs(&[a.clone(), b.clone()], &[a.clone(), b.clone()]), None);
        assert_eq!(differs(&[a.clone(), b.clone()], &[b.clone(), a.clone()]), Some("order"));
        assert_eq!(differs(std::slice::from_ref(&a), &[other]), Some("words"));
        assert_eq!(differs(std::slice::from_ref(&a), &[a.clone(), b]), None);
    }
}
