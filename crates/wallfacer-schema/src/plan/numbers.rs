//! Merges the number rules of all schemas of a goal into one range with one step.

use super::{flat::Flat, item::Item, item::Part};
use crate::{
    node::{Node, NumberRules},
    number::{self, Decimal},
};
use serde_json::Number;
use std::cmp::Ordering;

#[derive(Clone, Debug)]
pub(crate) struct Limit {
    pub value: Number,
    pub exclusive: bool,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct NumberShape {
    pub low: Option<Limit>,
    pub high: Option<Limit>,
    /// Every number is a multiple of this.
    pub step: Option<Decimal>,
}

/// Multiples of `step` from `first` times to `last` times.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntegerRange {
    pub step: i128,
    pub first: i128,
    pub last: i128,
}

/// What JSON integers can be without losing digits here.
const LOWEST: i128 = i64::MIN as i128;
const HIGHEST: i128 = u64::MAX as i128;

impl NumberShape {
    pub(super) fn merge(flat: &Flat, nodes: &[Node]) -> NumberShape {
        let mut shape = NumberShape::default();
        for item in flat.iter() {
            match item {
                Item::Leaf(id) => {
                    if let Some(rules) = &id.of(nodes).number {
                        shape.add(rules);
                    }
                }
                Item::Break(id, part) => {
                    if let Some(rules) = &id.of(nodes).number {
                        shape.add_opposite(rules, part);
                    }
                }
                _ => {}
            }
        }
        shape
    }

    fn add(&mut self, rules: &NumberRules) {
        self.raise(rules.minimum.as_ref(), false);
        self.raise(rules.exclusive_minimum.as_ref(), true);
        self.lower(rules.maximum.as_ref(), false);
        self.lower(rules.exclusive_maximum.as_ref(), true);
        if let Some(step) = rules.multiple_of.as_ref().and_then(Decimal::of) {
            // Without a common multiple the first step stays, and the finished value is tested.
            self.step = match self.step {
                Some(known) => known.common_multiple(step).or(self.step),
                None => Some(step),
            };
        }
    }

    fn add_opposite(&mut self, rules: &NumberRules, part: Part) {
        match part {
            Part::Minimum => self.lower(rules.minimum.as_ref(), true),
            Part::ExclusiveMinimum => self.lower(rules.exclusive_minimum.as_ref(), false),
            Part::Maximum => self.raise(rules.maximum.as_ref(), true),
            Part::ExclusiveMaximum => self.raise(rules.exclusive_maximum.as_ref(), false),
            _ => {}
        }
    }

    fn raise(&mut self, bound: Option<&Number>, exclusive: bool) {
        tighten(&mut self.low, bound, exclusive, Ordering::Greater);
    }

    fn lower(&mut self, bound: Option<&Number>, exclusive: bool) {
        tighten(&mut self.high, bound, exclusive, Ordering::Less);
    }

    /// Nothing when no integer is in range.
    pub(crate) fn integers(&self) -> Option<IntegerRange> {
        // Of a step that cannot be counted only zero is a multiple we can write.
        let step = self.step.map_or(1, |step| step.whole_multiple().unwrap_or(i128::MAX / 2));
        let low = self.low.as_ref().map_or(LOWEST, |limit| match number::integer(&limit.value) {
            Some(whole) => whole + i128::from(limit.exclusive),
            None => number::float(&limit.value).ceil() as i128,
        });
        let high = self.high.as_ref().map_or(HIGHEST, |limit| match number::integer(&limit.value) {
            Some(whole) => whole - i128::from(limit.exclusive),
            None => number::float(&limit.value).floor() as i128,
        });
        let (low, high) = (low.max(LOWEST), high.min(HIGHEST));
        let first = low.div_euclid(step) + i128::from(low.rem_euclid(step) != 0);
        let last = high.div_euclid(step);
        (first <= last).then_some(IntegerRange { step, first, last })
    }

    /// Whether both bounds are integers that can be written, so that an empty range is proof.
    pub(crate) fn is_bounded(&self) -> bool {
        let written = |limit: &Option<Limit>| {
            let float = limit.as_ref().map(|limit| number::float(&limit.value));
            float.is_some_and(|float| (LOWEST as f64..=HIGHEST as f64).contains(&float))
        };
        written(&self.low) && written(&self.high)
    }

    /// Whether a number with a fraction may be in range.
    pub(crate) fn has_fractions(&self) -> bool {
        let whole_step = self.step.is_some_and(|step| step.is_whole());
        let room = match (&self.low, &self.high) {
            (Some(low), Some(high)) => match number::compare(&low.value, &high.value) {
                Ordering::Less => true,
                Ordering::Equal => !low.exclusive && !high.exclusive && !number::is_integer(&low.value),
                Ordering::Greater => false,
            },
            _ => true,
        };
        // Doubles of this size have no digits left for a fraction.
        const COARSE: f64 = 4.5e15;
        let coarse = self.low.as_ref().is_some_and(|limit| number::float(&limit.value) > COARSE)
            || self.high.as_ref().is_some_and(|limit| number::float(&limit.value) < -COARSE);
        room && !whole_step && !coarse
    }

    pub(crate) fn contains(&self, candidate: &Number) -> bool {
        let above = self.low.as_ref().is_none_or(|limit| match number::compare(candidate, &limit.value) {
            Ordering::Greater => true,
            Ordering::Equal => !limit.exclusive,
            Ordering::Less => false,
        });
        let below = self.high.as_ref().is_none_or(|limit| match number::compare(candidate, &limit.value) {
            Ordering::Less => true,
            Ordering::Equal => !limit.exclusive,
            Ordering::Greater => false,
        });
        above && below && self.step.is_none_or(|step| step.divides(candidate))
    }
}

fn tighten(limit: &mut Option<Limit>, bound: Option<&Number>, exclusive: bool, tighter: Ordering) {
    let Some(bound) = bound else { return };
    let replaces = limit.as_ref().is_none_or(|limit| match number::compare(bound, &limit.value) {
        Ordering::Equal => exclusive,
        order => order == tighter,
    });
    if replaces {
        *limit = Some(Limit { value: bound.clone(), exclusive });
    }
}
