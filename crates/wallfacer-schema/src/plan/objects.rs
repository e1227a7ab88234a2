//! Merges the object rules of all schemas of a goal into one set: which keys there must, may and must not be.

use super::{GoalId, Planning, flat::Flat, item::Item, item::Part, shape};
use crate::{
    error::Unable,
    evaluate::{Judge, Judgement},
    node::{NodeId, ObjectRules},
    pattern::Pattern,
};
use indexmap::IndexSet;
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

#[derive(Debug)]
pub(crate) struct ObjectShape {
    pub min: usize,
    pub max: Option<usize>,
    /// Named keys that can be present, in the order of declaration.
    pub properties: Vec<Property>,
    pub dependent_required: Vec<(String, Vec<String>)>,
    /// The same by position: which properties a property brings along.
    pub dependents: BTreeMap<usize, Vec<usize>>,
    pub extra: Extra,
    /// Keys that must not be there.
    pub absent: BTreeSet<String>,
    /// The goal of keys themselves, if `propertyNames` is set.
    pub names: Option<GoalId>,
    /// An unknown key must be there.
    pub intruder: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Property {
    pub name: String,
    pub goal: GoalId,
    pub required: bool,
}

/// Keys beyond the named ones.
#[derive(Clone, Debug, Default)]
pub(crate) struct Extra {
    /// Any key will do.
    pub free: bool,
    /// The author thought of further keys: `additionalProperties` has a schema of its own, or patterns are given.
    pub wanted: bool,
    pub patterns: Vec<Arc<Pattern>>,
}

/// Keys, before goals are given numbers.
#[derive(Debug)]
pub(super) struct Keys {
    min: usize,
    max: Option<usize>,
    named: Vec<(String, Vec<Item>, bool)>,
    absent: BTreeSet<String>,
    extra: Extra,
}

impl Keys {
    pub(super) fn merge(planning: &Planning, flat: &Flat) -> Result<Keys, Unable> {
        let absent = absent(planning, flat);
        let required = required(planning, flat);
        let mut keys = Keys { min: 0, max: None, named: Vec::new(), absent, extra: extra(planning, flat) };
        for name in names(planning, flat) {
            let required = required.contains(&name);
            if keys.absent.contains(&name) {
                if required {
                    return Err(Unable::unsatisfiable(
                        place(planning, flat),
                        format!("`{name}` is required and forbidden"),
                    ));
                }
                continue;
            }
            let items = member(planning, flat, &name);
            if shape::is_never(planning, &items) || !name_fits(planning, flat, &name) {
                if required {
                    return Err(Unable::unsatisfiable(
                        place(planning, flat),
                        format!("`{name}` is required and has no value"),
                    ));
                }
                continue;
            }
            keys.named.push((name, items, required));
        }
        keys.count(planning, flat)?;
        Ok(keys)
    }

    fn count(&mut self, planning: &Planning, flat: &Flat) -> Result<(), Unable> {
        for (_, rules) in rules(planning, flat) {
            self.min = self.min.max(rules.min_properties.unwrap_or(0));
            self.max = [self.max, rules.max_properties].into_iter().flatten().min();
        }
        for item in flat.iter() {
            let Item::Break(id, part) = item else { continue };
            let Some(rules) = &id.of(planning.nodes).object else { continue };
            match part {
                Part::MinProperties => {
                    let most = rules.min_properties.map(|count| count.saturating_sub(1));
                    self.max = [self.max, most].into_iter().flatten().min();
                }
                Part::MaxProperties => {
                    self.min = self.min.max(rules.max_properties.unwrap_or(0).saturating_add(1))
                }
                _ => {}
            }
        }
        let required = self.named.iter().filter(|(.., required)| *required).count();
        let closed = !self.extra.free && self.extra.patterns.is_empty();
        let most = if closed { Some(self.named.len()) } else { None };
        let max = [self.max, most].into_iter().flatten().min();
        let least = self.min.max(required);
        if least > planning.limits.items {
            let why = format!("{least} keys are demanded, {} is the limit", planning.limits.items);
            return Err(Unable::too_large(place(planning, flat), why));
        }
        match max {
            Some(max) if max < least => Err(Unable::unsatisfiable(
                place(planning, flat),
                format!("{least} keys are demanded, {max} allowed"),
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn into_shape(self, planning: &Planning, flat: &Flat) -> Result<ObjectShape, Unable> {
        let goal = |items: Vec<Item>| planning.goal(items).ok_or_else(|| planning.too_intricate());
        let mut properties = Vec::with_capacity(self.named.len());
        for (name, items, required) in self.named {
            properties.push(Property { name, goal: goal(items)?, required });
        }
        let about_names: Vec<Item> =
            rules(planning, flat).filter_map(|(_, rules)| rules.names).map(Item::Must).collect();
        let dependent_required: Vec<(String, Vec<String>)> =
            rules(planning, flat).flat_map(|(_, rules)| rules.dependent_required.clone()).collect();
        Ok(ObjectShape {
            dependents: positions(&properties, &dependent_required),
            min: self.min,
            max: self.max,
            properties,
            dependent_required,
            extra: self.extra,
            absent: self.absent,
            names: if about_names.is_empty() { None } else { Some(goal(about_names)?) },
            intruder: flat.iter().any(|item| matches!(item, Item::Break(_, Part::Additional))),
        })
    }
}

fn positions(properties: &[Property], dependent: &[(String, Vec<String>)]) -> BTreeMap<usize, Vec<usize>> {
    let names: BTreeMap<&str, usize> =
        properties.iter().enumerate().map(|(index, property)| (property.name.as_str(), index)).collect();
    let mut positions: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (key, needed) in dependent {
        if let Some(&index) = names.get(key.as_str()) {
            let needed = needed.iter().filter_map(|name| names.get(name.as_str()).copied());
            positions.entry(index).or_default().extend(needed);
        }
    }
    positions
}

/// What is demanded of the member with this key.
pub(crate) fn member(planning: &Planning, flat: &Flat, name: &str) -> Vec<Item> {
    let mut items = shape::inherited(flat);
    let mut evaluated = false;
    for (_, rules) in rules(planning, flat) {
        let matching = rules.patterns.iter().filter(|(pattern, _)| pattern.matches(name) == Some(true));
        let own: Vec<NodeId> =
            rules.properties.get(name).copied().into_iter().chain(matching.map(|(_, id)| *id)).collect();
        evaluated |= !own.is_empty() || rules.additional.is_some();
        if own.is_empty() {
            items.extend(rules.additional.map(Item::Must));
        }
        items.extend(own.into_iter().map(Item::Must));
    }
    if !evaluated {
        items.extend(rules(planning, flat).filter_map(|(_, rules)| rules.unevaluated).map(Item::Must));
    }
    for item in flat.iter() {
        let Item::Break(id, part) = item else { continue };
        let Some(rules) = &id.of(planning.nodes).object else { continue };
        match part {
            Part::Property(index) => {
                let broken = rules.properties.get_index(index as usize);
                items
                    .extend(broken.filter(|(known, _)| *known == name).map(|(_, schema)| Item::Not(*schema)));
            }
            Part::Additional => {
                let known = rules.properties.contains_key(name)
                    || rules.patterns.iter().any(|(pattern, _)| pattern.matches(name) == Some(true));
                items.extend(rules.additional.filter(|_| !known).map(Item::Not));
            }
            _ => {}
        }
    }
    items
}

fn rules<'s>(planning: &Planning<'s>, flat: &Flat) -> impl Iterator<Item = (NodeId, &'s ObjectRules)> {
    let nodes = planning.nodes;
    flat.leaves().filter_map(move |id| Some((id, id.of(nodes).object.as_deref()?)))
}

/// The schema to name when keys contradict each other: the last that speaks of objects.
fn place<'s>(planning: &Planning<'s>, flat: &Flat) -> &'s str {
    rules(planning, flat).last().map_or("", |(id, _)| &id.of(planning.nodes).at)
}

fn names(planning: &Planning, flat: &Flat) -> IndexSet<String> {
    let mut names = IndexSet::new();
    for (_, rules) in rules(planning, flat) {
        names.extend(rules.properties.keys().cloned());
    }
    names.extend(required(planning, flat));
    for (_, rules) in rules(planning, flat) {
        for (key, needed) in &rules.dependent_required {
            names.extend(needed.iter().chain([key]).cloned());
        }
    }
    names
}

fn required(planning: &Planning, flat: &Flat) -> BTreeSet<String> {
    let mut required = BTreeSet::new();
    for item in flat.iter() {
        match item {
            Item::Leaf(id) => {
                let rules = id.of(planning.nodes).object.as_ref();
                required.extend(rules.into_iter().flat_map(|rules| rules.required.iter().cloned()));
            }
            Item::Has(id, index) => {
                let rules = id.of(planning.nodes).object.as_ref();
                required.extend(rules.map(|rules| rules.dependent_schemas[index as usize].0.clone()));
            }
            Item::Break(id, Part::Property(index)) => {
                let rules = id.of(planning.nodes).object.as_ref();
                required.extend(
                    rules
                        .and_then(|rules| rules.properties.get_index(index as usize))
                        .map(|(name, _)| name.clone()),
                );
            }
            _ => {}
        }
    }
    required
}

fn absent(planning: &Planning, flat: &Flat) -> BTreeSet<String> {
    let names = flat.iter().filter_map(|item| match item {
        Item::Lacks(id, index) => id
            .of(planning.nodes)
            .object
            .as_ref()
            .map(|rules| rules.dependent_schemas[index as usize].0.clone()),
        Item::Break(id, Part::Required(index)) => {
            id.of(planning.nodes).object.as_ref().map(|rules| rules.required[index as usize].clone())
        }
        _ => None,
    });
    names.collect()
}

fn extra(planning: &Planning, flat: &Flat) -> Extra {
    let mut extra = Extra { free: true, ..Extra::default() };
    for (_, rules) in rules(planning, flat) {
        for (pattern, schema) in &rules.patterns {
            if schema.of(planning.nodes).height != u32::MAX {
                extra.wanted = true;
                extra.patterns.push(Arc::clone(pattern));
            }
        }
        for schema in [rules.additional, rules.unevaluated].into_iter().flatten() {
            let node = schema.of(planning.nodes);
            extra.free &= node.height != u32::MAX;
            extra.wanted |= node.height != u32::MAX && !node.is_open();
        }
    }
    let breaks_in = flat.iter().any(|item| matches!(item, Item::Break(_, Part::Additional)));
    extra.free |= breaks_in;
    extra.wanted |= flat.iter().any(|item| matches!(item, Item::Break(_, Part::OtherObject)));
    extra
}

fn name_fits(planning: &Planning, flat: &Flat, name: &str) -> bool {
    let mut judge = Judge::new(planning.nodes, planning.limits.judge_steps);
    let key = Value::String(name.to_owned());
    rules(planning, flat)
        .filter_map(|(_, rules)| rules.names)
        .all(|schema| judge.judge(schema, &key) != Judgement::Invalid)
}
