//! Objects: required keys always, optional ones now and then, further ones where they are welcome.

use super::Maker;
use crate::{
    error::Unable,
    plan::{
        objects::{self, ObjectShape, Property},
        shape::Shape,
    },
};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Further keys where the schema has a place for them.
const USUAL_EXTRA: usize = 3;
/// Where nobody thought of further keys, one object in so many gets one.
const RARELY: u64 = 48;
/// Tries for the name of one further key.
const NAME_TRIES: usize = 24;
const NAMES: [&str; 8] = ["key", "name", "value", "extra", "note", "a", "x-custom", "item"];

impl Maker<'_> {
    pub(super) fn make_object(&mut self, shape: &Shape) -> Result<Value, Unable> {
        let Some(rules) = &shape.object else { return Ok(Value::Object(Map::new())) };
        let minimal = self.is_minimal();
        let mut chosen: BTreeSet<usize> = BTreeSet::new();
        for (index, property) in rules.properties.iter().enumerate() {
            let mut wanted = || match self.having {
                Some(having) if self.depth == 0 && having.within_one => true,
                Some(having) if self.depth == usize::from(having.within_one) => {
                    having.keys.contains(&property.name)
                }
                Some(having) => having.inner_keys && !minimal,
                None => !minimal && self.choices.below(2) == 1,
            };
            if property.required || wanted() {
                chosen.insert(index);
            }
        }
        self.make_object_of(shape, chosen)
    }

    /// An object with these of the declared keys, and as many more or fewer as the rules demand.
    pub(crate) fn make_object_of(
        &mut self,
        shape: &Shape,
        mut chosen: BTreeSet<usize>,
    ) -> Result<Value, Unable> {
        let Some(rules) = &shape.object else { return Ok(Value::Object(Map::new())) };
        settle(rules, &mut chosen);
        let mut members = Map::new();
        for index in chosen {
            let property = &rules.properties[index];
            match self.make_member(property, shape) {
                Ok(value) => {
                    self.count_text(property.name.len(), &shape.at)?;
                    members.insert(property.name.clone(), value);
                }
                // An optional key that cannot be made is left out, unless another key depends on it.
                Err(unable) if property.required || is_needed(rules, &property.name, &members) => {
                    return Err(unable);
                }
                Err(_) => {}
            }
        }
        self.add_extra(shape, rules, &mut members)?;
        Ok(Value::Object(members))
    }

    fn make_member(&mut self, property: &Property, shape: &Shape) -> Result<Value, Unable> {
        self.nested(Some(&property.name), &shape.at, |maker| maker.make(property.goal))
    }

    fn add_extra(
        &mut self,
        shape: &Shape,
        rules: &ObjectShape,
        members: &mut Map<String, Value>,
    ) -> Result<(), Unable> {
        let needed = rules.min.saturating_sub(members.len()).max(usize::from(rules.intruder));
        let closed = !rules.extra.free && rules.extra.patterns.is_empty();
        let room = rules.max.unwrap_or(usize::MAX).saturating_sub(members.len());
        let wanted = if closed || self.is_minimal() {
            0
        } else if rules.extra.wanted {
            self.choices.index(USUAL_EXTRA + 1)
        } else {
            usize::from(self.choices.one_in(RARELY))
        };
        let count = wanted.max(needed).min(room.max(needed));
        for number in 0..count {
            match self.make_extra(shape, rules, members, number) {
                Ok((name, value)) => {
                    self.count_text(name.len(), &shape.at)?;
                    members.insert(name, value);
                }
                Err(unable) if number < needed => return Err(unable),
                Err(_) => break,
            }
        }
        Ok(())
    }

    fn make_extra(
        &mut self,
        shape: &Shape,
        rules: &ObjectShape,
        members: &Map<String, Value>,
        number: usize,
    ) -> Result<(String, Value), Unable> {
        let mut failed = Unable::unsupported(&shape.at, "propertyNames", "no further key found");
        for attempt in 0..NAME_TRIES {
            self.count_step()?;
            let Some(name) = self.make_name(rules, number + attempt) else { continue };
            let declared = rules.properties.iter().any(|property| property.name == name);
            if members.contains_key(&name) || rules.absent.contains(&name) || (declared && rules.intruder) {
                continue;
            }
            let items = objects::member(&self.planning, &shape.flat, &name);
            let goal = self.planning.goal(items).ok_or_else(|| self.planning.too_intricate())?;
            match self.nested(Some(&name), &shape.at, |maker| maker.make(goal)) {
                Ok(value) => return Ok((name, value)),
                // Another key may do: nothing is proven.
                Err(Unable::Unsatisfiable { .. }) => {}
                Err(unable) => failed = unable,
            }
        }
        Err(failed)
    }

    fn make_name(&mut self, rules: &ObjectShape, number: usize) -> Option<String> {
        let name = match (&rules.names, rules.extra.patterns.as_slice()) {
            (Some(goal), _) => match self.make(*goal).ok()? {
                Value::String(name) => name,
                _ => return None,
            },
            (None, patterns) if !patterns.is_empty() && (!rules.extra.free || self.choices.below(2) == 0) => {
                let pattern = &patterns[self.choices.index(patterns.len())];
                let length = pattern.shortest() + self.choices.index(8);
                let name = pattern.write(self.choices, length)?;
                // Where only patterns admit keys, the written name must really match.
                (rules.extra.free || pattern.matches(&name) == Some(true)).then_some(name)?
            }
            (None, _) => {
                let name = NAMES[self.choices.index(NAMES.len())];
                if number == 0 { name.to_owned() } else { format!("{name}{number}") }
            }
        };
        Some(name)
    }
}

/// Adds what chosen keys depend on, fills up to the minimum, takes away what is above the maximum.
fn settle(rules: &ObjectShape, chosen: &mut BTreeSet<usize>) {
    add_dependents(rules, chosen);
    for index in 0..rules.properties.len() {
        if chosen.len() >= rules.min {
            break;
        }
        chosen.insert(index);
    }
    add_dependents(rules, chosen);
    let Some(max) = rules.max else { return };
    if chosen.len() > max {
        // Optional keys go first from the end; what required keys depend on comes back.
        let mut required: BTreeSet<usize> =
            (0..rules.properties.len()).filter(|&index| rules.properties[index].required).collect();
        add_dependents(rules, &mut required);
        let optional: Vec<usize> = chosen.difference(&required).copied().collect();
        *chosen = required;
        for index in optional {
            if !rules.dependents.contains_key(&index) {
                if chosen.len() < max {
                    chosen.insert(index);
                }
                continue;
            }
            let mut larger = chosen.clone();
            larger.insert(index);
            add_dependents(rules, &mut larger);
            if larger.len() <= max {
                *chosen = larger;
            }
        }
    }
}

fn add_dependents(rules: &ObjectShape, chosen: &mut BTreeSet<usize>) {
    let mut waiting: Vec<usize> =
        chosen.iter().copied().filter(|index| rules.dependents.contains_key(index)).collect();
    while let Some(index) = waiting.pop() {
        for &needed in rules.dependents.get(&index).into_iter().flatten() {
            if chosen.insert(needed) {
                waiting.push(needed);
            }
        }
    }
}

fn is_needed(rules: &ObjectShape, name: &str, members: &Map<String, Value>) -> bool {
    rules
        .dependent_required
        .iter()
        .any(|(key, needed)| members.contains_key(key) && needed.iter().any(|other| other == name))
}
