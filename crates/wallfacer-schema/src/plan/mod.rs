//! Plans a value that meets a set of demands: what must be chosen first, or what the value looks like. Plans are worked
//! out when first needed and remembered; they depend on the schema alone, never on chance.

pub(crate) mod arrays;
pub(crate) mod flat;
pub(crate) mod item;
mod negation;
pub(crate) mod numbers;
pub(crate) mod objects;
pub(crate) mod shape;
pub(crate) mod strings;

use crate::{error::Unable, limits::Limits, node::Node};
use flat::Flat;
use item::Item;
use shape::Shape;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Goals have a few demands each; with hundreds in every one of them, fewer goals are remembered.
const DEMANDS_PER_GOAL: usize = 50;

/// Demands of one goal up to which branches are looked into before they are chosen.
const LOOKED_AHEAD: usize = 150;

/// A set of demands that has been given a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct GoalId(u32);

#[derive(Debug)]
pub(crate) enum Plan {
    Impossible(Unable),
    /// One of these is to be met; those known to be impossible are left out.
    Choice(Vec<Branch>),
    Shape(Box<Shape>),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Branch {
    pub goal: GoalId,
    pub height: u32,
}

/// All goals met so far, and their plans.
#[derive(Debug, Default)]
pub(crate) struct Planner {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    numbers: HashMap<Arc<[Item]>, GoalId>,
    goals: Vec<Arc<[Item]>>,
    plans: Vec<Option<Arc<Plan>>>,
    /// Demands in all goals together.
    demands: usize,
}

/// What planning reads: the compiled schema and its limits, with the planner that remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planning<'s> {
    pub nodes: &'s [Node],
    pub limits: &'s Limits,
    pub planner: &'s Planner,
}

impl<'s> Planning<'s> {
    /// The number of a set of demands; nothing when there are more sets than the limits allow.
    pub(crate) fn goal(&self, mut items: Vec<Item>) -> Option<GoalId> {
        items.sort_unstable();
        items.dedup();
        let mut table = self.table();
        if let Some(&known) = table.numbers.get(items.as_slice()) {
            return Some(known);
        }
        let room = self.limits.plans.saturating_mul(DEMANDS_PER_GOAL);
        if table.goals.len() >= self.limits.plans || table.demands + items.len() > room {
            return None;
        }
        table.demands += items.len();
        let id = GoalId(table.goals.len() as u32);
        let items: Arc<[Item]> = items.into();
        table.numbers.insert(Arc::clone(&items), id);
        table.goals.push(items);
        table.plans.push(None);
        Some(id)
    }

    pub(crate) fn plan(&self, goal: GoalId) -> Arc<Plan> {
        let items = {
            let table = self.table();
            if let Some(plan) = &table.plans[goal.0 as usize] {
                return Arc::clone(plan);
            }
            Arc::clone(&table.goals[goal.0 as usize])
        };
        let plan = Arc::new(self.work_out(&items));
        self.table().plans[goal.0 as usize] = Some(Arc::clone(&plan));
        plan
    }

    fn work_out(&self, items: &[Item]) -> Plan {
        let flat = match Flat::of(items, self.nodes) {
            Ok(flat) => flat,
            Err(unable) => return Plan::Impossible(unable),
        };
        match flat.pending(self.nodes) {
            Some(open) => self.choice(&flat, open),
            None => {
                shape::merge(self, &flat).map_or_else(Plan::Impossible, |shape| Plan::Shape(Box::new(shape)))
            }
        }
    }

    fn choice(&self, flat: &Flat, open: Item) -> Plan {
        let mut branches = Vec::new();
        let mut refused = None;
        for alternative in flat.alternatives(open, self.nodes) {
            let items: Vec<Item> = flat.without(open).chain(alternative).collect();
            let possible = Flat::of(&items, self.nodes).and_then(|flat| {
                // With very many demands, looking ahead costs more than finding out later.
                if flat.iter().count() <= LOOKED_AHEAD {
                    shape::check(self, &flat)?;
                }
                Ok(flat.height(self.nodes))
            });
            match possible {
                Ok(height) => match self.goal(items) {
                    Some(goal) => branches.push(Branch { goal, height }),
                    None => refused = Some(self.too_intricate()),
                },
                Err(unable) => refused = Some(refused.unwrap_or(unable)),
            }
        }
        match refused {
            Some(unable) if branches.is_empty() => Plan::Impossible(unable),
            _ => Plan::Choice(branches),
        }
    }

    pub(crate) fn too_intricate(&self) -> Unable {
        Unable::too_large("", format!("more than {} combinations of subschemas", self.limits.plans))
    }

    /// A panic elsewhere leaves the table whole: each entry is written in one step.
    fn table(&self) -> MutexGuard<'s, Table> {
        self.planner.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
