//! Says what a payload must stay while it is made smaller, to be a case of the same bug.

use serde_json::Value;
use wallfacer_schema::{Class, Schema, Violation};

use crate::findings::Kind;
use crate::plan::Intent;

/// What the payload of a call must stay.
#[derive(Debug, Clone)]
pub struct Constraint {
    /// Whether it keeps to the schema; none where that makes no difference.
    valid: Option<bool>,
    /// How it breaks the schema, where that is the bug.
    violation: Option<Violation>,
    /// Arguments stay an object, for anything else is no call of a tool.
    is_object: bool,
}

impl Constraint {
    /// `learned` where the charge is that the answer is not as it was learned of valid calls.
    pub fn of(kind: &Kind, intent: &Intent, learned: bool, payload: &Value, schema: &Schema) -> Constraint {
        let broken = schema.violations(payload);
        let valid = match kind {
            _ if learned => Some(true),
            // Nothing that is sent may do this to a server.
            Kind::Crash | Kind::Hang { .. } | Kind::ProtocolError | Kind::ResourceGrowth => None,
            // What was refused must not become what is welcome, nor the other way: that would be no bug.
            _ => Some(broken.is_empty()),
        };
        let at = match (kind, intent) {
            (Kind::AcceptedInvalid, Intent::Invalid { at, .. }) => Some(at),
            _ => None,
        };
        let violation = at.and_then(|at| broken.into_iter().find(|broken| broken.at == *at));
        Constraint { valid, violation, is_object: payload.is_object() }
    }

    /// Where smaller values are looked for.
    pub fn class(&self) -> Class {
        match (&self.violation, self.valid) {
            (Some(violation), _) => Class::Invalid(violation.clone()),
            (None, Some(true)) => Class::Valid,
            (None, Some(false) | None) => Class::Any,
        }
    }

    /// Whether a smaller value is still of the kind.
    pub fn is_kept_by(&self, payload: &Value, schema: &Schema) -> bool {
        let valid = || schema.violations(payload).is_empty();
        payload.is_object() == self.is_object && self.valid.is_none_or(|wanted| valid() == wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Schema {
        let level = json!({ "type": "integer", "maximum": 100 });
        Schema::compile(&json!({ "type": "object", "properties": { "level": level } })).unwrap()
    }

    fn constraint(kind: &Kind, payload: Value) -> Constraint {
        Constraint::of(kind, &Intent::Valid, false, &payload, &schema())
    }

    #[test]
    fn a_crash_is_a_bug_whatever_is_sent() {
        let constraint = constraint(&Kind::Crash, json!({ "level": 5 }));
        assert!(constraint.is_kept_by(&json!({ "level": "x" }), &schema()));
        assert!(!constraint.is_kept_by(&json!([]), &schema()), "but it is sent as arguments");
    }

    #[test]
    fn what_was_valid_stays_so_and_what_was_not_does_not_become_it() {
        let valid = constraint(&Kind::InternalError, json!({ "level": 5 }));
        assert!(valid.is_kept_by(&json!({}), &schema()));
        assert!(!valid.is_kept_by(&json!({ "level": 500 }), &schema()));
        let invalid = constraint(&Kind::AcceptedInvalid, json!({ "level": 500 }));
        assert!(invalid.is_kept_by(&json!({ "level": 101 }), &schema()));
        assert!(!invalid.is_kept_by(&json!({ "level": 5 }), &schema()));
    }

    #[test]
    fn what_was_learned_was_learned_of_valid_calls() {
        let constraint = Constraint::of(&Kind::Crash, &Intent::Valid, true, &json!({}), &schema());
        assert!(!constraint.is_kept_by(&json!({ "level": 500 }), &schema()));
    }
}
