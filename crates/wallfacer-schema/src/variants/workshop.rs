//! Makes the valid surroundings into which candidates are set: simplest choices first, then a few fixed seeds.
//! Its work is counted over all places together.

use crate::{
    choices::Choices,
    compile::ROOT,
    error::Unable,
    evaluate::Judgement,
    generate::Maker,
    number::equal,
    pattern::Pattern,
    plan::{GoalId, Plan, Planning, objects::ObjectShape, shape, shape::Shape},
    pool::Pool,
    schema::Schema,
    violation::Violation,
    weight::weight,
};
use serde_json::Value;
use std::{cell::Cell, collections::BTreeSet, sync::Arc};

const SEEDS: [u64; 4] = [1, 2, 3, 4];
/// A list may take so many times the steps of a single value.
const PATIENCE: usize = 5;

/// Patterns for keys of one object that are followed.
const MAX_PATTERNS: usize = 8;
/// Steps of judging that a list may take in all.
const MAX_JUDGED: usize = 2_000_000;
/// Bytes of values that a list may hold, and a place may offer of one sort.
const MAX_KEPT: usize = 8 << 20;

pub(super) struct Workshop<'w> {
    schema: &'w Schema,
    pub planning: Planning<'w>,
    pool: &'w Pool,
    steps: Cell<usize>,
    judged: Cell<usize>,
    kept: Cell<usize>,
}

impl<'w> Workshop<'w> {
    pub(super) fn new(schema: &'w Schema, pool: &'w Pool) -> Self {
        let steps = Cell::new(schema.limits().steps.saturating_mul(PATIENCE));
        Workshop {
            schema,
            planning: schema.planning(),
            pool,
            steps,
            judged: Cell::new(0),
            kept: Cell::new(0),
        }
    }

    pub(super) fn judge(&self, value: &Value) -> Judgement {
        let mut judge = self.schema.new_judge();
        let judgement = judge.judge(ROOT, value);
        self.judged.set(self.judged.get() + judge.used());
        judgement
    }

    pub(super) fn violations(&self, value: &Value) -> Vec<Violation> {
        let mut judge = self.schema.new_judge();
        let violations = judge.violations(ROOT, value);
        self.judged.set(self.judged.get() + judge.used());
        violations
    }

    /// Whether so much has been done that the list ends here.
    pub(super) fn is_spent(&self) -> bool {
        self.judged.get() >= MAX_JUDGED || self.steps.get() == 0 || self.kept.get() >= MAX_KEPT
    }

    /// Counts a value that the list keeps.
    pub(super) fn keep(&self, value: &Value) {
        self.kept.set(self.kept.get() + weight(value));
    }

    /// So many copies of a value may be offered, or set into a larger one, at most.
    pub(super) fn copies_of(&self, value: &Value) -> usize {
        (MAX_KEPT / weight(value)).max(1)
    }

    pub(super) fn plan(&self, goal: GoalId) -> Arc<Plan> {
        self.planning.plan(goal)
    }

    pub(super) fn value(&self, goal: GoalId) -> Option<Value> {
        self.attempt(|maker| maker.make(goal), |_| true)
    }

    pub(super) fn string(&self, shape: &Shape, length: usize) -> Option<String> {
        self.attempt(|maker| maker.make_string_of(shape, length), |string| shape.string.fits(string))
    }

    pub(super) fn array(&self, shape: &Shape, length: usize) -> Option<Vec<Value>> {
        let made = self.attempt(
            |maker| maker.make_array_of(shape, length),
            |value| shape::meets(&self.planning, &shape.flat, value),
        );
        match made {
            Some(Value::Array(items)) => Some(items),
            _ => None,
        }
    }

    /// An object with these of the declared keys.
    pub(super) fn object(&self, shape: &Shape, chosen: &BTreeSet<usize>) -> Option<Value> {
        self.attempt(
            |maker| maker.make_object_of(shape, chosen.clone()),
            |value| shape::meets(&self.planning, &shape.flat, value),
        )
    }

    /// One key for each way in which the author thought of keys without naming them.
    pub(super) fn further_names(&self, rules: &ObjectShape) -> Vec<String> {
        let write = |pattern: &Arc<Pattern>| {
            let name = pattern.write(&mut Choices::simplest(), pattern.shortest() + 1)?;
            (pattern.matches(&name) == Some(true)).then_some(name)
        };
        let mut names: Vec<String> =
            rules.extra.patterns.iter().take(MAX_PATTERNS).filter_map(write).collect();
        if rules.extra.wanted && rules.extra.free {
            names.push("extra".to_owned());
        }
        names.retain(|name| rules.properties.iter().all(|property| property.name != *name));
        names
    }

    /// Another value for the goal than those given.
    pub(super) fn other_value(&self, goal: GoalId, known: &[Value]) -> Option<Value> {
        self.attempt(|maker| maker.make(goal), |value| !known.iter().any(|other| equal(other, value)))
    }

    fn attempt<T>(
        &self,
        make: impl Fn(&mut Maker) -> Result<T, Unable>,
        accept: impl Fn(&T) -> bool,
    ) -> Option<T> {
        let mut sources = vec![Choices::simplest()];
        sources.extend(SEEDS.map(Choices::seeded));
        for mut choices in sources {
            let mut maker = Maker::new(self.planning, &mut choices, self.pool).with_steps(self.steps.get());
            let before = maker.steps_left();
            let made = make(&mut maker);
            self.steps.set(self.steps.get() - (before - maker.steps_left()));
            match made {
                Ok(made) if accept(&made) => return Some(made),
                Err(Unable::Unsatisfiable { .. }) => return None,
                _ => {}
            }
        }
        None
    }
}
