//! Follows the references of a goal's demands and opens their combinations: what is left are schemas' own keywords,
//! tests for afterwards, and choices.

use super::{item::Item, negation};
use crate::{
    error::Unable,
    node::{Node, NodeId},
};
use std::collections::BTreeSet;

/// In `oneOf` taken the hard way, so many other branches are made to fail beforehand; the rest is tested.
const MAX_OTHERS: usize = 12;

#[derive(Clone, Debug)]
pub(crate) struct Flat {
    items: BTreeSet<Item>,
}

impl Flat {
    pub(crate) fn of(items: &[Item], nodes: &[Node]) -> Result<Flat, Unable> {
        let mut flat = Flat { items: BTreeSet::new() };
        let hard = items.contains(&Item::Hard);
        let mut seen: BTreeSet<Item> = BTreeSet::new();
        let mut waiting: Vec<Item> = items.to_vec();
        while let Some(item) = waiting.pop() {
            if !seen.insert(item) {
                continue;
            }
            match item {
                Item::Must(id) => {
                    if id.of(nodes).one_of.iter().filter(|branch| branch.of(nodes).is_open()).count() > 1 {
                        let why = "two branches of `oneOf` accept everything";
                        return Err(Unable::unsatisfiable(&id.of(nodes).at, why));
                    }
                    open(id.of(nodes), id, &mut waiting, &mut flat)?;
                }
                Item::Not(id) => {
                    let mut ways = negation::ways(id.of(nodes), id);
                    match ways.len() {
                        0 => {
                            return Err(Unable::unsatisfiable(&id.of(nodes).at, "`not` forbids everything"));
                        }
                        1 => waiting.append(&mut ways[0]),
                        _ if hard => {
                            flat.items.insert(item);
                        }
                        _ => {
                            flat.items.insert(Item::VerifyNot(id));
                        }
                    }
                }
                Item::Break(id, _) => {
                    flat.items.extend([item, Item::VerifyNot(id)]);
                }
                other => {
                    flat.items.insert(other);
                }
            }
        }
        Ok(flat)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Item> {
        self.items.iter().copied()
    }

    pub(crate) fn leaves(&self) -> impl Iterator<Item = NodeId> {
        self.iter().filter_map(|item| match item {
            Item::Leaf(id) => Some(id),
            _ => None,
        })
    }

    pub(crate) fn is_hard(&self) -> bool {
        self.items.contains(&Item::Hard)
    }

    /// Everything but the choice that is made.
    pub(crate) fn without(&self, chosen: Item) -> impl Iterator<Item = Item> {
        self.iter().filter(move |item| *item != chosen)
    }

    /// The open choice with the fewest alternatives, so that contradictions show early.
    pub(crate) fn pending(&self, nodes: &[Node]) -> Option<Item> {
        let open = self.iter().filter(|item| {
            matches!(item, Item::AnyOf(_) | Item::OneOf(_) | Item::If(_) | Item::Depends(..) | Item::Not(_))
        });
        open.min_by_key(|item| match item {
            Item::AnyOf(id) => id.of(nodes).any_of.len(),
            Item::OneOf(id) => id.of(nodes).one_of.len(),
            Item::Not(id) => negation::ways(id.of(nodes), *id).len(),
            _ => 2,
        })
    }

    pub(crate) fn alternatives(&self, item: Item, nodes: &[Node]) -> Vec<Vec<Item>> {
        match item {
            Item::AnyOf(id) => id.of(nodes).any_of.iter().map(|&branch| vec![Item::Must(branch)]).collect(),
            Item::OneOf(id) => one_of(&id.of(nodes).one_of, self.is_hard()),
            Item::If(id) => condition(id.of(nodes)),
            Item::Depends(id, index) => {
                let dependent =
                    id.of(nodes).object.as_ref().map(|rules| rules.dependent_schemas[index as usize].1);
                let mut present = vec![Item::Has(id, index)];
                present.extend(dependent.map(Item::Must));
                vec![vec![Item::Lacks(id, index)], present]
            }
            Item::Not(id) => negation::ways(id.of(nodes), id),
            _ => Vec::new(),
        }
    }

    /// The flattest value that may meet all of this, as far as the single schemas tell.
    pub(crate) fn height(&self, nodes: &[Node]) -> u32 {
        self.leaves().map(|id| id.of(nodes).height).max().unwrap_or(0)
    }
}

fn open(node: &Node, id: NodeId, waiting: &mut Vec<Item>, flat: &mut Flat) -> Result<(), Unable> {
    if node.never {
        return Err(Unable::unsatisfiable(&node.at, "the schema is false"));
    }
    flat.items.insert(Item::Leaf(id));
    waiting.extend(node.all_of.iter().map(|&schema| Item::Must(schema)));
    waiting.extend(node.not.map(Item::Not));
    if !node.any_of.is_empty() {
        flat.items.insert(Item::AnyOf(id));
    }
    if !node.one_of.is_empty() {
        flat.items.insert(Item::OneOf(id));
    }
    if node.condition.is_some_and(|condition| condition.then.is_some() || condition.otherwise.is_some()) {
        flat.items.insert(Item::If(id));
    }
    if let Some(rules) = &node.object {
        flat.items.extend((0..rules.dependent_schemas.len()).map(|index| Item::Depends(id, index as u32)));
    }
    if needs_test(node) {
        flat.items.insert(Item::Verify(id));
    }
    Ok(())
}

/// Keywords that a value is not built to satisfy in every case.
fn needs_test(node: &Node) -> bool {
    !node.one_of.is_empty()
        || node.condition.is_some()
        || node.not.is_some()
        || node.array.as_ref().is_some_and(|rules| rules.contains.is_some() || rules.unevaluated.is_some())
        || node.object.as_ref().is_some_and(|rules| rules.unevaluated.is_some())
}

fn one_of(branches: &[NodeId], hard: bool) -> Vec<Vec<Item>> {
    let others = |chosen: usize| {
        let rest = branches.iter().enumerate().filter(move |(index, _)| *index != chosen);
        rest.take(if hard { MAX_OTHERS } else { 0 }).map(|(_, &other)| Item::Not(other))
    };
    let alternatives = branches.iter().enumerate();
    alternatives
        .map(|(index, &branch)| [Item::Must(branch)].into_iter().chain(others(index)).collect())
        .collect()
}

fn condition(node: &Node) -> Vec<Vec<Item>> {
    let Some(condition) = node.condition else { return Vec::new() };
    let mut applies = vec![Item::Must(condition.test)];
    applies.extend(condition.then.map(Item::Must));
    let mut fails = vec![Item::Not(condition.test)];
    fails.extend(condition.otherwise.map(Item::Must));
    vec![applies, fails]
}
