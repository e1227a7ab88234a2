//! Makes a value that meets a goal, from recorded choices. Every step is counted: what a hostile schema asks for ends
//! at the limits, with the place and the reason.

mod array;
mod number;
mod object;
mod string;

use crate::{
    choices::Choices,
    error::Unable,
    evaluate::{Judge, Judgement},
    node::{Node, NodeId},
    plan::{Branch, GoalId, Plan, Planning, shape, shape::Shape},
    pool::Pool,
    types::Types,
    weight::weight,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// From this depth on only what must be there is made.
const SOFT_DEPTH: usize = 5;
/// Choices that may be open at once, over all levels; each takes some stack.
const MAX_OPEN_CHOICES: usize = 300;
/// From so many values on only what must be there is made.
const SOFT_NODES: usize = 250;

/// Which of the optional parts a value is to have, where that is not left to chance.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Having {
    /// Optional keys of the whole.
    pub keys: BTreeSet<String>,
    /// At least one item in each list that may have one.
    pub items: bool,
    /// Optional keys of the parts.
    pub inner_keys: bool,
    /// The keys are those of the one object that the whole holds.
    pub within_one: bool,
}

pub(crate) struct Maker<'m> {
    pub planning: Planning<'m>,
    pub choices: &'m mut Choices,
    pub pool: &'m Pool,
    having: Option<&'m Having>,
    steps: usize,
    nodes: usize,
    text: usize,
    depth: usize,
    open_choices: usize,
    /// Where the value being made stands, kept only when the pool may ask for it.
    path: String,
    name: String,
}

impl<'m> Maker<'m> {
    pub(crate) fn new(planning: Planning<'m>, choices: &'m mut Choices, pool: &'m Pool) -> Self {
        let steps = planning.limits.steps;
        let (path, name) = (String::new(), String::new());
        let having = None;
        Maker {
            planning,
            choices,
            pool,
            having,
            steps,
            nodes: 0,
            text: 0,
            depth: 0,
            open_choices: 0,
            path,
            name,
        }
    }

    /// With these of the optional parts, and no others.
    pub(crate) fn having(self, having: &'m Having) -> Self {
        Maker { having: Some(having), ..self }
    }

    /// With fewer steps than the limits allow, where many values share them.
    pub(crate) fn with_steps(self, steps: usize) -> Self {
        Maker { steps: steps.min(self.steps), ..self }
    }

    pub(crate) fn steps_left(&self) -> usize {
        self.steps
    }

    pub(crate) fn make(&mut self, goal: GoalId) -> Result<Value, Unable> {
        self.count_step()?;
        match &*self.planning.plan(goal) {
            Plan::Impossible(unable) => Err(unable.clone()),
            Plan::Choice(branches) => {
                if self.open_choices >= MAX_OPEN_CHOICES {
                    let why = format!("more than {MAX_OPEN_CHOICES} choices are open at once");
                    return Err(Unable::too_large("", why));
                }
                self.open_choices += 1;
                let chosen = self.choose(branches);
                self.open_choices -= 1;
                chosen
            }
            Plan::Shape(shape) => self.make_shape(shape),
        }
    }

    /// The chosen branch first, then the ones after it in turn.
    fn choose(&mut self, branches: &[Branch]) -> Result<Value, Unable> {
        let first = if self.is_minimal() {
            let flattest = branches.iter().enumerate().min_by_key(|(_, branch)| branch.height);
            flattest.map_or(0, |(index, _)| index)
        } else {
            self.choices.index(branches.len())
        };
        let mut failed = None;
        for offset in 0..branches.len() {
            let branch = branches[(first + offset) % branches.len()];
            match self.make(branch.goal) {
                Ok(value) => return Ok(value),
                Err(unable) => failed = Some(weaker(failed, unable)),
            }
            if self.steps == 0 {
                break;
            }
        }
        Err(failed.unwrap_or_else(|| Unable::unsatisfiable("", "there is no branch to choose")))
    }

    fn make_shape(&mut self, shape: &Shape) -> Result<Value, Unable> {
        let mut failing = None;
        for _ in 0..self.planning.limits.tries {
            let value = self.make_once(shape)?;
            match self.first_failure(shape, &value) {
                None => return Ok(value),
                Some(id) => failing = Some(id),
            }
            // Nothing will change: the same simplest choices come again.
            if self.choices.is_spent() {
                break;
            }
        }
        Err(self.gave_up(failing))
    }

    fn make_once(&mut self, shape: &Shape) -> Result<Value, Unable> {
        self.count_step()?;
        self.nodes += 1;
        if self.nodes > self.planning.limits.nodes {
            let why = format!("a value has more than {} parts", self.planning.limits.nodes);
            return Err(Unable::too_large(&shape.at, why));
        }
        if let Some(known) = self.known_good(shape) {
            self.count_text(weight(&known), &shape.at)?;
            return Ok(known);
        }
        let given = match &shape.allowed {
            Some(allowed) => Some(&allowed[self.choices.index(allowed.len())]),
            None if shape.samples.is_empty() || self.choices.below(3) > 0 => None,
            None => Some(&shape.samples[self.choices.index(shape.samples.len())]),
        };
        if let Some(given) = given {
            self.count_text(weight(given), &shape.at)?;
            return Ok(given.clone());
        }
        let first = self.pick_type(shape.types);
        let mut failed = match self.make_type(shape, first) {
            Ok(value) => return Ok(value),
            Err(unable) => unable,
        };
        for other in shape.types.each().filter(|other| *other != first) {
            match self.make_type(shape, other) {
                Ok(value) => return Ok(value),
                Err(unable) => failed = weaker(Some(failed), unable),
            }
        }
        Err(failed)
    }

    pub(crate) fn make_type(&mut self, shape: &Shape, single: Types) -> Result<Value, Unable> {
        match single {
            Types::NULL => Ok(Value::Null),
            Types::BOOLEAN => Ok(Value::Bool(self.choices.below(2) == 1)),
            Types::INTEGER => self.make_integer(shape),
            Types::FRACTION => self.make_fraction(shape),
            Types::STRING => {
                let made = self.make_string(shape)?;
                self.count_text(made.len(), &shape.at)?;
                Ok(Value::String(made))
            }
            Types::ARRAY => self.make_array(shape),
            _ => self.make_object(shape),
        }
    }

    /// Null is rarely interesting where something else may stand; deep down, scalars end the nesting.
    fn pick_type(&mut self, types: Types) -> Types {
        let scalars = types.and(Types::ARRAY.or(Types::OBJECT).complement());
        let mut types = if self.is_minimal() && !scalars.is_empty() { scalars } else { types };
        let others = types.and(Types::NULL.complement());
        if types.meets(Types::NULL) && !others.is_empty() && !self.choices.one_in(8) {
            types = others;
        }
        let index = self.choices.below(types.count()) as usize;
        types.each().nth(index).unwrap_or(Types::NULL)
    }

    /// A value of the caller's pool, where one fits.
    fn known_good(&mut self, shape: &Shape) -> Option<Value> {
        if self.pool.is_empty() || shape.allowed.is_some() {
            return None;
        }
        let format = shape.string.formats.first().copied();
        let candidates = self.pool.candidates(&self.path, &self.name, format);
        if candidates.is_empty() || self.choices.below(4) == 3 {
            return None;
        }
        let first = self.choices.index(candidates.len());
        let rotated = candidates[first..].iter().chain(&candidates[..first]);
        rotated.copied().find(|value| shape::meets(&self.planning, &shape.flat, value)).cloned()
    }

    /// Runs `make` for the member with this name, or for an item, one level deeper.
    fn nested<T>(
        &mut self,
        name: Option<&str>,
        at: &str,
        make: impl FnOnce(&mut Self) -> Result<T, Unable>,
    ) -> Result<T, Unable> {
        if self.depth >= self.planning.limits.depth {
            let why = format!("nests deeper than {}", self.planning.limits.depth);
            return Err(Unable::too_large(at, why));
        }
        self.depth += 1;
        let kept = (!self.pool.is_empty()).then(|| self.enter(name));
        let made = make(self);
        if let Some((length, name)) = kept {
            self.path.truncate(length);
            self.name = name;
        }
        self.depth -= 1;
        made
    }

    fn enter(&mut self, name: Option<&str>) -> (usize, String) {
        let length = self.path.len();
        self.path = crate::pointer::join(&self.path, name.unwrap_or("*"));
        // Items of a list are called as the list is.
        let inner = name.map_or_else(|| self.name.clone(), str::to_owned);
        (length, std::mem::replace(&mut self.name, inner))
    }

    fn is_minimal(&self) -> bool {
        self.depth >= SOFT_DEPTH || self.nodes >= SOFT_NODES
    }

    fn count_step(&mut self) -> Result<(), Unable> {
        if self.steps == 0 {
            let why = format!("no value found in {} steps", self.planning.limits.steps);
            return Err(Unable::unsupported("", "search", why));
        }
        self.steps -= 1;
        Ok(())
    }

    /// Many long strings in one value would fill the memory, however few values there are.
    fn count_text(&mut self, bytes: usize, at: &str) -> Result<(), Unable> {
        self.text += bytes;
        if self.text > self.planning.limits.text {
            let why = format!("a value has more than {} bytes of text", self.planning.limits.text);
            return Err(Unable::too_large(at, why));
        }
        Ok(())
    }

    fn first_failure(&mut self, shape: &Shape, value: &Value) -> Option<NodeId> {
        if shape.verify.is_empty() && shape.verify_not.is_empty() {
            return None;
        }
        let mut judge = Judge::new(self.planning.nodes, self.planning.limits.judge_steps);
        let broken = shape.verify.iter().find(|id| judge.judge(**id, value) != Judgement::Valid);
        let mut kept = || shape.verify_not.iter().find(|id| judge.judge(**id, value) != Judgement::Invalid);
        broken.copied().or_else(|| kept().copied())
    }

    fn gave_up(&self, failing: Option<NodeId>) -> Unable {
        let node = failing.map(|id| id.of(self.planning.nodes));
        let why = format!("no value found in {} tries", self.planning.limits.tries);
        Unable::unsupported(node.map_or("", |node| &node.at), node.map_or("search", keyword), why)
    }
}

/// What several failed branches come to: a contradiction is proof only when every branch has one.
fn weaker(before: Option<Unable>, now: Unable) -> Unable {
    match before {
        None | Some(Unable::Unsatisfiable { .. }) => now,
        Some(before) => before,
    }
}

/// The keyword that makes a node hard to satisfy.
fn keyword(node: &Node) -> &'static str {
    if node.not.is_some() {
        "not"
    } else if !node.one_of.is_empty() {
        "oneOf"
    } else if node.condition.is_some() {
        "if"
    } else if node.array.as_ref().is_some_and(|rules| rules.contains.is_some()) {
        "contains"
    } else if node.object.as_ref().is_some_and(|rules| rules.unevaluated.is_some()) {
        "unevaluatedProperties"
    } else if node.array.as_ref().is_some_and(|rules| rules.unevaluated.is_some()) {
        "unevaluatedItems"
    } else {
        "not"
    }
}
