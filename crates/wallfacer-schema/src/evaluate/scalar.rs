//! Type, `const`, `enum`, and the rules for numbers and strings.

use super::Judge;
use crate::{
    node::{Node, NumberRules, StringRules},
    number::{compare, equal, is_multiple},
    types::Types,
    violation::Rule,
};
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// Comparing so many members of an enumeration counts as one step.
const MEMBERS_PER_STEP: usize = 32;

impl Judge<'_> {
    pub(super) fn scalar(&mut self, node: &Node, value: &Value) -> bool {
        let mut holds = true;
        if node.types != Types::ANY && !node.types.meets(Types::of(value)) {
            holds = self.broken(Rule::Type, || {
                format!("is {}, not {}", Types::of(value).names(), node.types.names())
            });
        }
        if let Some(constant) = &node.constant
            && !equal(constant, value)
        {
            holds = self.broken(Rule::Const, || "is not the one constant allowed".to_owned());
        }
        self.spend(node.members.as_ref().map_or(0, Vec::len) / MEMBERS_PER_STEP);
        if let Some(members) = &node.members
            && !members.iter().any(|member| equal(member, value))
        {
            holds = self.broken(Rule::Enum, || "is not in the enumeration".to_owned());
        }
        match (value, &node.number, &node.string) {
            (Value::Number(number), Some(rules), _) => holds &= self.number(rules, number),
            (Value::String(string), _, Some(rules)) => holds &= self.string(rules, string),
            _ => {}
        }
        holds
    }

    fn number(&mut self, rules: &NumberRules, number: &Number) -> bool {
        let mut holds = true;
        let bounds: [(_, _, &[Ordering], _); 4] = [
            (&rules.minimum, Rule::Minimum, &[Ordering::Less], "below minimum"),
            (&rules.maximum, Rule::Maximum, &[Ordering::Greater], "above maximum"),
            (
                &rules.exclusive_minimum,
                Rule::ExclusiveMinimum,
                &[Ordering::Less, Ordering::Equal],
                "not above exclusive minimum",
            ),
            (
                &rules.exclusive_maximum,
                Rule::ExclusiveMaximum,
                &[Ordering::Greater, Ordering::Equal],
                "not below exclusive maximum",
            ),
        ];
        for (bound, rule, outside, words) in bounds {
            if let Some(bound) = bound
                && outside.contains(&compare(number, bound))
            {
                holds = self.broken(rule, || format!("{words} {bound}"));
            }
        }
        if let Some(divisor) = &rules.multiple_of
            && !is_multiple(number, divisor)
        {
            holds = self.broken(Rule::MultipleOf, || format!("not a multiple of {divisor}"));
        }
        holds
    }

    fn string(&mut self, rules: &StringRules, string: &str) -> bool {
        let mut holds = true;
        if rules.min_length.is_some() || rules.max_length.is_some() {
            let length = string.chars().count();
            if let Some(least) = rules.min_length.filter(|&least| length < least) {
                holds = self.broken(Rule::MinLength, || format!("shorter than {least}"));
            }
            if let Some(most) = rules.max_length.filter(|&most| length > most) {
                holds = self.broken(Rule::MaxLength, || format!("longer than {most}"));
            }
        }
        if let Some(pattern) = &rules.pattern {
            match pattern.matches(string) {
                Some(true) => {}
                Some(false) => {
                    holds = self.broken(Rule::Pattern, || format!("does not match `{}`", pattern.text));
                }
                None => {
                    self.undecided = true;
                    holds = false;
                }
            }
        }
        for format in rules.formats().filter(|format| format.asserted) {
            if !format.fits(string) {
                holds = self.broken(Rule::Format, || format!("is no {}", format.name()));
            }
        }
        holds
    }
}
