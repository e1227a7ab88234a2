//! Finds out which arguments belong together, for a tool that took no call yet.

use std::collections::BTreeSet;

use serde_json::Value;
use wallfacer_schema::{Pool, Schema};

use super::field::Field;
use super::knowledge::Knowledge;
use super::refusal::names;

/// Calls of one round that are made for it.
const MAX_GROUPS: usize = 8;

/// Arguments belong together: each choice of what is to be done with what is said to go with it, each optional argument
/// by itself, and all of them.
pub(super) fn in_groups(schema: &Schema, knowledge: &Knowledge, pool: &Pool, retry: usize) -> Vec<Value> {
    let wanted = knowledge.wanted();
    let having = |keys: BTreeSet<String>, inner_keys: bool| knowledge.having(keys, inner_keys);
    let within_one = knowledge.within_one();
    let fields = knowledge.fields().iter();
    let top: Vec<&Field> = fields.filter(|field| field.is_at_top(within_one)).collect();
    let mut values: Vec<Value> = Vec::new();
    for field in top.iter().filter(|field| !field.choices.is_empty()) {
        for choice in &field.choices {
            let goes_with = |other: &&&Field| {
                choice.as_str().is_some_and(|choice| names(&other.description, choice))
                    || wanted.contains(&other.name)
            };
            let keys = top.iter().filter(goes_with).map(|other| other.name.clone());
            let keys: BTreeSet<String> = keys.chain([field.name.clone()]).collect();
            let made = schema.simplest_having(&having(keys, false), pool);
            let chosen = made.ok().and_then(|mut value| {
                *value.pointer_mut(&field.path)? = choice.clone();
                Some(value)
            });
            values.extend(chosen.filter(|value| schema.violations(value).is_empty()));
        }
    }
    let optional = top.iter().filter(|field| !field.required && !wanted.contains(&field.name));
    let all: BTreeSet<String> = top.iter().map(|field| field.name.clone()).collect();
    // Of several that were asked for, one may be enough, and more than one too many.
    let alone = wanted.iter().filter(|_| wanted.len() > 1);
    let mut sets: Vec<(BTreeSet<String>, bool)> =
        alone.map(|name| (BTreeSet::from([name.clone()]), false)).collect();
    sets.extend([(all.clone(), false), (all, true)]);
    sets.extend(optional.map(|field| {
        let with = wanted.iter().cloned().chain([field.name.clone()]);
        (with.collect(), false)
    }));
    values.extend(
        sets.into_iter().filter_map(|(keys, inner)| schema.simplest_having(&having(keys, inner), pool).ok()),
    );
    let first = retry.saturating_sub(1) * MAX_GROUPS;
    values.dedup();
    let count = values.len().max(1);
    if !values.is_empty() {
        values.rotate_left(first % count);
    }
    values.truncate(MAX_GROUPS);
    values
}
