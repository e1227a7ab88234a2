//! Selects the values that a path names, in the order of RFC 9535. Every value looked at is paid for.

use super::{Path, Root, Segment, Selector};
use crate::evaluate::{Scope, Unknown};
use serde_json::Value;

/// `isError` may be left out of a result, and then means false.
static NOT_AN_ERROR: Value = Value::Bool(false);

impl Path {
    /// Every value that is found.
    pub(crate) fn select<'v>(&self, scope: &Scope<'v>) -> Result<Vec<&'v Value>, Unknown> {
        match scope.root(self.root)? {
            Some(root) if self.is_singular() => Ok(self.walk(root, scope)?.into_iter().collect()),
            Some(root) => follow(root, &self.segments, scope),
            None => Ok(Vec::new()),
        }
    }

    /// The first value that is found; what the server may leave out has the meaning the protocol gives it.
    pub(crate) fn first<'v>(&self, scope: &Scope<'v>) -> Result<Option<&'v Value>, Unknown> {
        let found = match scope.root(self.root)? {
            Some(root) if self.is_singular() => self.walk(root, scope)?,
            Some(root) => follow(root, &self.segments, scope)?.first().copied(),
            None => None,
        };
        let implied = self.is_error_flag() && scope.response.is_some_and(Value::is_object);
        Ok(found.or(implied.then_some(&NOT_AN_ERROR)))
    }

    fn is_error_flag(&self) -> bool {
        self.root == Root::Response && self.segments.len() == 1 && self.first_name() == Some("isError")
    }

    /// The way of a path of names and indexes: no list is made.
    fn walk<'v>(&self, root: &'v Value, scope: &Scope<'v>) -> Result<Option<&'v Value>, Unknown> {
        scope.budget.spend(1 + self.segments.len())?;
        let mut at = root;
        for segment in &self.segments {
            let Segment::Child(selectors) = segment else { return Ok(None) };
            let next = match selectors.first() {
                Some(Selector::Name(name)) => at.get(name),
                Some(Selector::Index(index)) => element(at, *index),
                _ => None,
            };
            let Some(next) = next else { return Ok(None) };
            at = next;
        }
        Ok(Some(at))
    }
}

pub(super) fn follow<'v>(
    start: &'v Value,
    segments: &[Segment],
    scope: &Scope<'v>,
) -> Result<Vec<&'v Value>, Unknown> {
    let mut at = vec![start];
    for segment in segments {
        let mut found = Vec::new();
        for value in at {
            match segment {
                Segment::Child(selectors) => choose(value, selectors, scope, &mut found)?,
                Segment::Descendant(selectors) => descend(value, selectors, scope, &mut found)?,
            }
        }
        at = found;
    }
    Ok(at)
}

/// The value itself, then everything below it, each parent before its children.
fn descend<'v>(
    value: &'v Value,
    selectors: &[Selector],
    scope: &Scope<'v>,
    found: &mut Vec<&'v Value>,
) -> Result<(), Unknown> {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        choose(value, selectors, scope, found)?;
        match value {
            Value::Array(items) => waiting.extend(items.iter().rev()),
            Value::Object(members) => waiting.extend(members.values().rev()),
            _ => {}
        }
    }
    Ok(())
}

fn choose<'v>(
    value: &'v Value,
    selectors: &[Selector],
    scope: &Scope<'v>,
    found: &mut Vec<&'v Value>,
) -> Result<(), Unknown> {
    for selector in selectors {
        scope.budget.spend(1)?;
        match selector {
            Selector::Name(name) => found.extend(value.get(name)),
            Selector::Index(index) => found.extend(element(value, *index)),
            Selector::Wildcard => {
                let before = found.len();
                found.extend(children(value));
                scope.budget.spend(found.len() - before)?;
            }
            Selector::Slice { start, end, step } => {
                if let Value::Array(items) = value {
                    scope.budget.spend(items.len())?;
                    slice(items, *start, *end, *step, found);
                }
            }
            Selector::Filter(filter) => {
                for child in children(value) {
                    scope.budget.spend(1)?;
                    if filter.passes(child, scope)? {
                        found.push(child);
                    }
                }
            }
        }
    }
    Ok(())
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Array(items) => Box::new(items.iter()),
        Value::Object(members) => Box::new(members.values()),
        _ => Box::new(std::iter::empty()),
    }
}

fn element(value: &Value, index: i64) -> Option<&Value> {
    let items = value.as_array()?;
    let index = if index < 0 { index + i64::try_from(items.len()).ok()? } else { index };
    items.get(usize::try_from(index).ok()?)
}

/// The bounds of a slice as RFC 9535, 2.3.4.2, counts them.
fn slice<'v>(
    items: &'v [Value],
    start: Option<i64>,
    end: Option<i64>,
    step: i64,
    found: &mut Vec<&'v Value>,
) {
    let Ok(length) = i64::try_from(items.len()) else { return };
    let absolute = |index: i64| if index < 0 { index + length } else { index };
    let mut take = |index: i64| found.extend(usize::try_from(index).ok().and_then(|index| items.get(index)));
    if step > 0 {
        let lower = absolute(start.unwrap_or(0)).clamp(0, length);
        let upper = absolute(end.unwrap_or(length)).clamp(0, length);
        let mut index = lower;
        while index < upper {
            take(index);
            index = index.saturating_add(step);
        }
    } else if step < 0 {
        let upper = start.map_or(length - 1, absolute).clamp(-1, length - 1);
        let lower = end.map_or(-1, |end| absolute(end).clamp(-1, length - 1));
        let mut index = upper;
        while index > lower {
            take(index);
            index = index.saturating_add(step);
        }
    }
}
