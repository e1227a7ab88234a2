//! The rules for arrays.

use super::{Judge, Marks};
use crate::{
    node::{ArrayRules, Contains},
    number::{canonical, equal},
    violation::Rule,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// Up to here comparing all pairs is quicker than writing each item down.
const FEW_ITEMS: usize = 24;

impl Judge<'_> {
    pub(super) fn array(
        &mut self,
        rules: &ArrayRules,
        items: &[Value],
        mut marks: Option<&mut Marks>,
    ) -> bool {
        let mut holds = true;
        if let Some(least) = rules.min_items.filter(|&least| items.len() < least) {
            holds = self.broken(Rule::MinItems, || format!("has fewer than {least} items"));
        }
        if let Some(most) = rules.max_items.filter(|&most| items.len() > most) {
            holds = self.broken(Rule::MaxItems, || format!("has more than {most} items"));
        }
        for (index, item) in items.iter().enumerate() {
            let Some(schema) = rules.prefix.get(index).copied().or(rules.items) else { break };
            if let Some(marks) = marks.as_deref_mut() {
                marks.mark(index);
            }
            holds &= self.inside_item(index, |judge| judge.holds(schema, item, None));
            if !holds && !self.lists() {
                return false;
            }
        }
        if rules.unique && self.has_twins(items) {
            holds = self.broken(Rule::UniqueItems, || "has an item twice".to_owned());
        }
        if let Some(contains) = rules.contains {
            holds &= self.contains(contains, items, marks);
        }
        holds
    }

    fn contains(&mut self, contains: Contains, items: &[Value], mut marks: Option<&mut Marks>) -> bool {
        let mut found = 0;
        for (index, item) in items.iter().enumerate() {
            if self.quietly(|judge| judge.holds(contains.schema, item, None)) {
                found += 1;
                if let (true, Some(marks)) = (contains.marks, marks.as_deref_mut()) {
                    marks.mark(index);
                }
            }
        }
        if found < contains.min {
            return self
                .broken(Rule::Contains, || format!("contains {found} of {} items wanted", contains.min));
        }
        match contains.max {
            Some(most) if found > most => {
                self.broken(Rule::MaxContains, || format!("contains {found} such items, not {most} at most"))
            }
            _ => true,
        }
    }

    fn has_twins(&mut self, items: &[Value]) -> bool {
        if items.len() <= FEW_ITEMS {
            return items
                .iter()
                .enumerate()
                .any(|(index, item)| items[..index].iter().any(|other| equal(other, item)));
        }
        let mut seen = BTreeSet::new();
        !items.iter().all(|item| seen.insert(canonical(item)))
    }
}
