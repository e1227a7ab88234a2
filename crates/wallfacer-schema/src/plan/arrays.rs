//! Merges the array rules of all schemas of a goal into one set: what may stand at each position.

use super::{GoalId, Planning, flat::Flat, item::Item, item::Part, shape};
use crate::{
    error::Unable,
    node::{ArrayRules, NodeId},
};

#[derive(Debug)]
pub(crate) struct ArrayShape {
    pub min: usize,
    pub max: Option<usize>,
    pub unique: bool,
    /// Goals of the first positions; `rest` is that of all later ones.
    pub prefix: Vec<GoalId>,
    pub rest: GoalId,
    pub contains: Vec<Wanted>,
    /// An item must come twice.
    pub twins: bool,
}

/// Items of which there must be some.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    pub goal: GoalId,
    pub min: usize,
}

/// Counts, before goals are given numbers.
#[derive(Debug)]
pub(super) struct Counts {
    pub min: usize,
    pub max: Option<usize>,
    prefix: Vec<Vec<Item>>,
    rest: Vec<Item>,
}

impl Counts {
    /// Fails when too many are demanded or fewer allowed than demanded.
    pub(super) fn merge(planning: &Planning, flat: &Flat) -> Result<Counts, Unable> {
        let length = rules(planning, flat).map(|(_, rules)| rules.prefix.len()).max().unwrap_or(0);
        let length = length.max(broken_position(planning, flat).map_or(0, |position| position + 1));
        let mut counts = Counts {
            min: 0,
            max: None,
            prefix: (0..length.min(planning.limits.items))
                .map(|index| at(planning, flat, Some(index)))
                .collect(),
            rest: at(planning, flat, None),
        };
        let mut place = "";
        for (id, rules) in rules(planning, flat) {
            let least = rules.min_items.unwrap_or(0).max(rules.contains.map_or(0, |contains| contains.min));
            if least > counts.min {
                (counts.min, place) = (least, &id.of(planning.nodes).at);
            }
            counts.cap(rules.max_items);
            if let Some(wanted) = rules.contains
                && wanted.min > 0
                && wanted.schema.of(planning.nodes).height == u32::MAX
            {
                let why = "an item is wanted that cannot exist";
                return Err(Unable::unsatisfiable(&wanted.schema.of(planning.nodes).at, why));
            }
        }
        for item in flat.iter() {
            counts.add_opposite(planning, item);
        }
        let blocked = counts.prefix.iter().position(|items| shape::is_never(planning, items));
        counts
            .cap(blocked.or_else(|| shape::is_never(planning, &counts.rest).then_some(counts.prefix.len())));
        if counts.min > planning.limits.items {
            let why = format!("{} items are demanded, {} is the limit", counts.min, planning.limits.items);
            return Err(Unable::too_large(place, why));
        }
        match counts.max {
            Some(max) if max < counts.min => {
                Err(Unable::unsatisfiable(place, format!("{} items are demanded, {max} allowed", counts.min)))
            }
            _ => Ok(counts),
        }
    }

    fn cap(&mut self, most: Option<usize>) {
        self.max = [self.max, most].into_iter().flatten().min();
    }

    fn add_opposite(&mut self, planning: &Planning, item: Item) {
        let Item::Break(id, part) = item else { return };
        let Some(rules) = &id.of(planning.nodes).array else { return };
        match part {
            Part::MinItems => self.cap(rules.min_items.map(|count| count.saturating_sub(1))),
            Part::MaxItems => self.min = self.min.max(rules.max_items.unwrap_or(0).saturating_add(1)),
            Part::Items => self.min = self.min.max(rules.prefix.len() + 1),
            Part::Prefix(index) => self.min = self.min.max(index as usize + 1),
            Part::Unique => self.min = self.min.max(2),
            _ => {}
        }
    }

    pub(super) fn into_shape(self, planning: &Planning, flat: &Flat) -> Result<ArrayShape, Unable> {
        let goal = |items: Vec<Item>| planning.goal(items).ok_or_else(|| planning.too_intricate());
        let mut contains = Vec::new();
        for (_, rules) in rules(planning, flat) {
            if let Some(wanted) = rules.contains.filter(|wanted| wanted.min > 0) {
                let mut items = self.rest.clone();
                items.push(Item::Must(wanted.schema));
                contains.push(Wanted { goal: goal(items)?, min: wanted.min });
            }
        }
        Ok(ArrayShape {
            min: self.min,
            max: self.max,
            unique: rules(planning, flat).any(|(_, rules)| rules.unique),
            prefix: self.prefix.into_iter().map(goal).collect::<Result<_, _>>()?,
            rest: goal(self.rest)?,
            contains,
            twins: flat.iter().any(|item| matches!(item, Item::Break(_, Part::Unique))),
        })
    }
}

fn rules<'s>(planning: &Planning<'s>, flat: &Flat) -> impl Iterator<Item = (NodeId, &'s ArrayRules)> {
    let nodes = planning.nodes;
    flat.leaves().filter_map(move |id| Some((id, id.of(nodes).array.as_deref()?)))
}

fn broken_position(planning: &Planning, flat: &Flat) -> Option<usize> {
    flat.iter().find_map(|item| match item {
        Item::Break(_, Part::Prefix(index)) => Some(index as usize),
        Item::Break(id, Part::Items) => id.of(planning.nodes).array.as_ref().map(|rules| rules.prefix.len()),
        _ => None,
    })
}

/// What is demanded of the item at a position, or of one beyond all positions that are spoken of.
fn at(planning: &Planning, flat: &Flat, index: Option<usize>) -> Vec<Item> {
    let mut items = shape::inherited(flat);
    let mut evaluated = false;
    for (_, rules) in rules(planning, flat) {
        let own = index.and_then(|index| rules.prefix.get(index)).copied().or(rules.items);
        evaluated |= own.is_some();
        items.extend(own.map(Item::Must));
    }
    if !evaluated {
        items.extend(rules(planning, flat).filter_map(|(_, rules)| rules.unevaluated).map(Item::Must));
    }
    for item in flat.iter() {
        let Item::Break(id, part) = item else { continue };
        let Some(rules) = &id.of(planning.nodes).array else { continue };
        match (part, index) {
            (Part::Prefix(broken), Some(index)) if broken as usize == index => {
                items.push(Item::Not(rules.prefix[index]));
            }
            (Part::Items, Some(index)) if index == rules.prefix.len() => {
                items.extend(rules.items.map(Item::Not));
            }
            _ => {}
        }
    }
    items
}
