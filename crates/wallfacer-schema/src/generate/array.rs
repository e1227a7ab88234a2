//! Arrays: as many items as allowed, wanted items among them, twins avoided where they are forbidden.

use super::Maker;
use crate::{
    error::Unable,
    number::{equal, from_integer},
    plan::{GoalId, Plan, arrays::ArrayShape, shape, shape::Shape},
};
use serde_json::Value;

/// Items that an array has above its minimum.
const USUAL_EXTRA: usize = 3;
/// Fresh draws for an item that was there already.
const TWIN_TRIES: usize = 24;

impl Maker<'_> {
    pub(super) fn make_array(&mut self, shape: &Shape) -> Result<Value, Unable> {
        let Some(rules) = &shape.array else { return Ok(Value::Array(Vec::new())) };
        let extra = match self.having {
            _ if self.is_minimal() => 0,
            Some(having) => usize::from(having.items && rules.min == 0),
            None => self.choices.index(USUAL_EXTRA + 1),
        };
        // Items can be wanted beyond the usual number, and a tuple is meant to be whole.
        let usual = rules.prefix.len().min(self.planning.limits.items);
        let wanted = rules.min.saturating_add(extra).max(if extra > 0 { usual } else { 0 });
        self.make_array_of(shape, rules.max.map_or(wanted, |max| wanted.min(max)))
    }

    /// An array of this length; a shorter one where no more items can be made, but never below the minimum.
    pub(crate) fn make_array_of(&mut self, shape: &Shape, length: usize) -> Result<Value, Unable> {
        let Some(rules) = &shape.array else { return Ok(Value::Array(Vec::new())) };
        let mut items: Vec<Value> = Vec::new();
        for goal in self.goals(rules, length) {
            match self.make_item(rules, goal, &shape.at, &items) {
                Ok(item) => items.push(item),
                Err(_) if items.len() >= rules.min && rules.contains.is_empty() => break,
                Err(unable) => return Err(unable),
            }
        }
        if rules.twins && items.len() > 1 {
            items[1] = items[0].clone();
        }
        Ok(Value::Array(items))
    }

    /// What stands at each position: wanted items come right after the fixed positions.
    fn goals(&self, rules: &ArrayShape, length: usize) -> Vec<GoalId> {
        let length = length.max(rules.min);
        let mut goals: Vec<GoalId> = rules.prefix.iter().copied().take(length).collect();
        let room = rules.max.unwrap_or(usize::MAX);
        for wanted in &rules.contains {
            // The wanted items may be among the fixed positions; then there is no place for further ones.
            if matches!(&*self.planning.plan(wanted.goal), Plan::Impossible(_)) {
                continue;
            }
            let free = room.saturating_sub(goals.len());
            goals.extend(std::iter::repeat_n(wanted.goal, wanted.min.min(free)));
        }
        goals.resize(length.max(goals.len()), rules.rest);
        goals
    }

    fn make_item(
        &mut self,
        rules: &ArrayShape,
        goal: GoalId,
        at: &str,
        earlier: &[Value],
    ) -> Result<Value, Unable> {
        let tries = if rules.unique { TWIN_TRIES } else { 1 };
        for _ in 0..tries {
            let item = self.nested(None, at, |maker| maker.make(goal))?;
            if !rules.unique || !earlier.iter().any(|other| equal(other, &item)) {
                return Ok(item);
            }
        }
        self.other_member(goal, earlier)
            .or_else(|| self.counted_item(goal, earlier))
            .ok_or_else(|| Unable::unsupported(at, "uniqueItems", "no further item found"))
    }

    /// From an enumeration, the first member that is not there yet.
    fn other_member(&mut self, goal: GoalId, earlier: &[Value]) -> Option<Value> {
        let plan = self.planning.plan(goal);
        let Plan::Shape(shape) = &*plan else { return None };
        let booleans = [Value::Bool(false), Value::Bool(true), Value::Null];
        let members = shape.allowed.as_deref().unwrap_or(&booleans);
        let fresh = |value: &&Value| !earlier.iter().any(|other| equal(other, value));
        let fits = |value: &&Value| shape::meets(&self.planning, &shape.flat, value);
        members.iter().filter(fresh).find(fits).cloned()
    }

    /// Where draws keep repeating, as in a long list or with the simplest choices: counting up.
    fn counted_item(&mut self, goal: GoalId, earlier: &[Value]) -> Option<Value> {
        let plan = self.planning.plan(goal);
        let Plan::Shape(shape) = &*plan else { return None };
        let number = earlier.len();
        let low = shape.number.integers().map_or(0, |range| range.first.max(0) * range.step);
        let above = from_integer(low + number as i128).map(Value::Number);
        let counted = [
            Value::String(format!("item{number}")),
            Value::String(format!("{number:04}")),
            Value::from(number),
        ];
        let fresh = |value: &Value| !earlier.iter().any(|other| equal(other, value));
        let fits = |value: &Value| shape::meets(&self.planning, &shape.flat, value);
        above.into_iter().chain(counted).find(|value| fresh(value) && fits(value))
    }
}
