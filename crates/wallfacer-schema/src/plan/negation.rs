//! Lists the ways to break a schema: each way is a set of demands that together make it fail.

use super::item::{Item, Part};
use crate::{
    node::{Node, NodeId},
    types::Types,
};

/// Properties and positions whose breaking is considered, one by one.
const MAX_PLACES: usize = 32;

pub(super) fn ways(node: &Node, id: NodeId) -> Vec<Vec<Item>> {
    if node.never {
        // It fails by itself; one way without any demand.
        return vec![Vec::new()];
    }
    let mut ways: Vec<Vec<Item>> = parts(node).into_iter().map(|part| vec![Item::Break(id, part)]).collect();
    ways.extend(node.all_of.iter().map(|&schema| vec![Item::Not(schema)]));
    if !node.any_of.is_empty() {
        ways.push(node.any_of.iter().map(|&branch| Item::Not(branch)).collect());
    }
    if !node.one_of.is_empty() {
        ways.push(node.one_of.iter().map(|&branch| Item::Not(branch)).collect());
        ways.extend(
            node.one_of.windows(2).take(MAX_PLACES).map(|pair| pair.iter().map(|&b| Item::Must(b)).collect()),
        );
    }
    ways.extend(node.not.map(|schema| vec![Item::Must(schema)]));
    if let Some(condition) = node.condition {
        ways.extend(condition.then.map(|then| vec![Item::Must(condition.test), Item::Not(then)]));
        ways.extend(condition.otherwise.map(|other| vec![Item::Not(condition.test), Item::Not(other)]));
    }
    ways
}

fn parts(node: &Node) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut add = |present: bool, part: Part| parts.extend(present.then_some(part));
    add(node.types != Types::ANY, Part::Type);
    add(node.constant.is_some() || node.members.is_some(), Part::Listed);
    if let Some(rules) = &node.number {
        add(rules.minimum.is_some(), Part::Minimum);
        add(rules.maximum.is_some(), Part::Maximum);
        add(rules.exclusive_minimum.is_some(), Part::ExclusiveMinimum);
        add(rules.exclusive_maximum.is_some(), Part::ExclusiveMaximum);
        add(rules.multiple_of.is_some(), Part::MultipleOf);
    }
    if let Some(rules) = &node.string {
        add(rules.min_length.is_some_and(|length| length > 0), Part::MinLength);
        add(rules.max_length.is_some(), Part::MaxLength);
        add(rules.pattern.is_some() || rules.formats().any(|format| format.asserted), Part::Text);
    }
    if let Some(rules) = &node.array {
        add(rules.min_items.is_some_and(|count| count > 0), Part::MinItems);
        add(rules.max_items.is_some(), Part::MaxItems);
        add(rules.items.is_some(), Part::Items);
        add(rules.unique, Part::Unique);
        add(rules.contains.is_some() || rules.unevaluated.is_some(), Part::OtherArray);
        (0..rules.prefix.len().min(MAX_PLACES)).for_each(|index| add(true, Part::Prefix(index as u32)));
    }
    if let Some(rules) = &node.object {
        add(rules.min_properties.is_some_and(|count| count > 0), Part::MinProperties);
        add(rules.max_properties.is_some(), Part::MaxProperties);
        add(rules.additional.is_some(), Part::Additional);
        let other = !rules.patterns.is_empty()
            || rules.names.is_some()
            || !rules.dependent_required.is_empty()
            || !rules.dependent_schemas.is_empty()
            || rules.unevaluated.is_some();
        add(other, Part::OtherObject);
        (0..rules.required.len().min(MAX_PLACES)).for_each(|index| add(true, Part::Required(index as u32)));
        (0..rules.properties.len().min(MAX_PLACES)).for_each(|index| add(true, Part::Property(index as u32)));
    }
    parts
}
