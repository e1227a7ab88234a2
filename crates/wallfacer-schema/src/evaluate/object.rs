//! The rules for objects.

use super::{Judge, Marks};
use crate::{node::ObjectRules, violation::Rule};
use serde_json::{Map, Value};

impl Judge<'_> {
    pub(super) fn object(
        &mut self,
        rules: &ObjectRules,
        members: &Map<String, Value>,
        value: &Value,
        mut marks: Option<&mut Marks>,
    ) -> bool {
        let mut holds = self.keys(rules, members);
        if !holds && !self.lists() {
            return false;
        }
        for (index, (name, member)) in members.iter().enumerate() {
            let (known, fits) = self.member(rules, name, member);
            if let (true, Some(marks)) = (known, marks.as_deref_mut()) {
                marks.mark(index);
            }
            holds &= fits;
            if !holds && !self.lists() {
                return false;
            }
        }
        for (key, schema) in &rules.dependent_schemas {
            if members.contains_key(key) {
                holds &= self.holds(*schema, value, marks.as_deref_mut());
            }
        }
        holds
    }

    /// Whether any keyword speaks of this member, and whether all that do are satisfied.
    fn member(&mut self, rules: &ObjectRules, name: &str, member: &Value) -> (bool, bool) {
        let (mut known, mut holds) = (false, true);
        if let Some(&schema) = rules.properties.get(name) {
            known = true;
            holds &= self.inside(name, |judge| judge.holds(schema, member, None));
        }
        self.spend(rules.patterns.len());
        for (pattern, schema) in &rules.patterns {
            match pattern.matches(name) {
                Some(true) => {
                    known = true;
                    holds &= self.inside(name, |judge| judge.holds(*schema, member, None));
                }
                Some(false) => {}
                None => self.undecided = true,
            }
        }
        if let (false, Some(schema)) = (known, rules.additional) {
            known = true;
            holds &= self.inside(name, |judge| {
                judge.holds(schema, member, None)
                    || judge.broken(Rule::AdditionalProperties, || "is an unknown key".to_owned())
            });
        }
        (known, holds)
    }

    fn keys(&mut self, rules: &ObjectRules, members: &Map<String, Value>) -> bool {
        let mut holds = true;
        for name in &rules.required {
            if !members.contains_key(name) {
                holds = self.broken(Rule::Required, || format!("missing required `{name}`"));
            }
        }
        if let Some(least) = rules.min_properties.filter(|&least| members.len() < least) {
            holds = self.broken(Rule::MinProperties, || format!("has fewer than {least} keys"));
        }
        if let Some(most) = rules.max_properties.filter(|&most| members.len() > most) {
            holds = self.broken(Rule::MaxProperties, || format!("has more than {most} keys"));
        }
        for (key, needed) in &rules.dependent_required {
            let missing = needed.iter().find(|name| !members.contains_key(*name));
            if let (true, Some(name)) = (members.contains_key(key), missing) {
                holds = self.broken(Rule::DependentRequired, || format!("has `{key}` without `{name}`"));
            }
        }
        if let Some(schema) = rules.names {
            for name in members.keys() {
                let key = Value::String(name.clone());
                // The key lives only here, and the next one may stand at the same address: nothing is remembered.
                let memory = std::mem::take(&mut self.memory);
                let fits = self.quietly(|judge| judge.holds(schema, &key, None));
                self.memory = memory;
                if !fits {
                    holds = self.broken(Rule::PropertyNames, || format!("has the forbidden key `{name}`"));
                }
            }
        }
        holds
    }
}
