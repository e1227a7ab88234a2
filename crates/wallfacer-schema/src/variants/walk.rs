//! Visits every place of a schema once and offers each candidate as part of a whole value.

use super::workshop::Workshop;
use crate::{
    plan::{GoalId, Plan, objects, shape::Shape},
    pointer,
    weight::weight,
};
use serde_json::Value;
use std::{collections::BTreeSet, rc::Rc};

/// Nesting that is walked; deeper places repeat what is above them more often than not.
const MAX_DEPTH: usize = 7;
/// Branches of one choice that are walked.
const MAX_BRANCHES: usize = 64;
/// Places visited in all.
const MAX_PLACES: usize = 1_000;
/// Bytes copied for one list; large surroundings times many candidates would add up.
const MAX_COPIED: usize = 256 << 20;

/// What a place offers for itself; `below` is the pointer from the place to what is remarkable.
pub(super) struct Candidate<Tag> {
    pub value: Value,
    pub below: String,
    pub tag: Tag,
}

impl<Tag> Candidate<Tag> {
    pub(super) fn new(value: impl Into<Value>, tag: Tag) -> Self {
        Candidate { value: value.into(), below: String::new(), tag }
    }
}

/// A candidate in its surroundings.
pub(super) struct Whole<'c, Tag> {
    pub value: Value,
    pub at: String,
    pub tag: &'c Tag,
}

pub(super) struct Walk<'w, 's, Tag> {
    workshop: &'w Workshop<'s>,
    /// What a place offers.
    offer: &'w dyn Fn(&Workshop, &Shape) -> Vec<Candidate<Tag>>,
    /// Takes a whole value; false sends it back to be tried in fuller surroundings.
    take: &'w mut dyn FnMut(Whole<Tag>) -> bool,
    is_full: &'w dyn Fn() -> bool,
    frames: Vec<Frame>,
    above: BTreeSet<GoalId>,
    places: usize,
    copied: usize,
}

/// One step from a container to a member: the container without and with its optional keys.
struct Frame {
    sparse: Option<Rc<Value>>,
    full: Option<Rc<Value>>,
    step: Step,
    weight: usize,
}

enum Step {
    Key(String),
    Index(usize),
}

impl<'w, 's, Tag> Walk<'w, 's, Tag> {
    pub(super) fn new(
        workshop: &'w Workshop<'s>,
        offer: &'w dyn Fn(&Workshop, &Shape) -> Vec<Candidate<Tag>>,
        take: &'w mut dyn FnMut(Whole<Tag>) -> bool,
        is_full: &'w dyn Fn() -> bool,
    ) -> Self {
        let (frames, above) = (Vec::new(), BTreeSet::new());
        Walk { workshop, offer, take, is_full, frames, above, places: 0, copied: 0 }
    }

    pub(super) fn visit(&mut self, goal: GoalId) {
        let spent = self.places >= MAX_PLACES || self.copied >= MAX_COPIED || (self.is_full)();
        if spent || self.frames.len() > MAX_DEPTH || !self.above.insert(goal) {
            return;
        }
        self.places += 1;
        match &*self.workshop.plan(goal) {
            Plan::Impossible(_) => {}
            Plan::Choice(branches) => {
                branches.iter().take(MAX_BRANCHES).for_each(|branch| self.visit(branch.goal));
            }
            Plan::Shape(shape) => self.visit_shape(shape),
        }
        self.above.remove(&goal);
    }

    fn visit_shape(&mut self, shape: &Shape) {
        for candidate in (self.offer)(self.workshop, shape) {
            if (self.is_full)() || self.copied >= MAX_COPIED {
                return;
            }
            self.place(&candidate);
        }
        if shape.allowed.is_none() {
            self.visit_properties(shape);
            self.visit_items(shape);
        }
    }

    fn place(&mut self, candidate: &Candidate<Tag>) {
        let at = self.frames.iter().fold(String::new(), |at, frame| pointer::join(&at, &frame.step.text()));
        let at = format!("{at}{}", candidate.below);
        for full in [false, true] {
            self.copied +=
                weight(&candidate.value) + self.frames.iter().map(|frame| frame.weight).sum::<usize>();
            let Some(value) = self.surround(candidate.value.clone(), full) else { continue };
            let taken = (self.take)(Whole { value, at: at.clone(), tag: &candidate.tag });
            if taken || self.frames.is_empty() {
                return;
            }
        }
    }

    /// The candidate set into the containers around it.
    fn surround(&self, mut value: Value, full: bool) -> Option<Value> {
        for frame in self.frames.iter().rev() {
            let mut container = Value::clone(if full { frame.full.as_ref() } else { frame.sparse.as_ref() }?);
            match (&mut container, &frame.step) {
                (Value::Object(members), Step::Key(name)) => {
                    members.insert(name.clone(), value);
                }
                (Value::Array(items), Step::Index(index)) => *items.get_mut(*index)? = value,
                _ => return None,
            }
            value = container;
        }
        Some(value)
    }

    fn visit_properties(&mut self, shape: &Shape) {
        let Some(rules) = &shape.object else { return };
        let all: BTreeSet<usize> = (0..rules.properties.len()).collect();
        let required = all.iter().copied().filter(|&index| rules.properties[index].required).collect();
        let sparse = self.workshop.object(shape, &required).map(Rc::new);
        let full = self.workshop.object(shape, &all).map(Rc::new);
        if sparse.is_none() && full.is_none() {
            return;
        }
        let mut members: Vec<(String, GoalId)> =
            rules.properties.iter().map(|property| (property.name.clone(), property.goal)).collect();
        for name in self.workshop.further_names(rules) {
            let items = objects::member(&self.workshop.planning, &shape.flat, &name);
            members.extend(self.workshop.planning.goal(items).map(|goal| (name, goal)));
        }
        for (name, goal) in members {
            self.enter(sparse.clone(), full.clone(), Step::Key(name), goal);
        }
    }

    fn visit_items(&mut self, shape: &Shape) {
        let Some(rules) = &shape.array else { return };
        let reachable = rules.max.unwrap_or(usize::MAX);
        let positions = rules.prefix.iter().copied().chain([rules.rest]).enumerate();
        for (index, goal) in positions.take_while(|(index, _)| *index < reachable) {
            let array = self
                .workshop
                .array(shape, rules.min.max(index + 1))
                .map(|items| Rc::new(Value::Array(items)));
            self.enter(array, None, Step::Index(index), goal);
        }
    }

    fn enter(&mut self, sparse: Option<Rc<Value>>, full: Option<Rc<Value>>, step: Step, goal: GoalId) {
        let weight = [&sparse, &full].into_iter().flatten().map(|value| weight(value)).max().unwrap_or(0);
        self.frames.push(Frame { sparse, full, step, weight });
        self.visit(goal);
        self.frames.pop();
    }
}

impl Step {
    fn text(&self) -> String {
        match self {
            Step::Key(name) => name.clone(),
            Step::Index(index) => index.to_string(),
        }
    }
}
