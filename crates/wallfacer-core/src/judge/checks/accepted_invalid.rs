//! What the declared input schema forbids must be refused.

use serde_json::Value;
use wallfacer_schema::Schema;

use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Intent};
use crate::run::Recording;

pub struct RefusesInvalid;

impl Check for RefusesInvalid {
    fn name(&self) -> &'static str {
        "refuses-invalid"
    }

    fn judge(&self, case: &Case, _: &Recording, seen: &Observation, context: &Context) -> Verdict {
        let (Intent::Invalid { at, rule, what }, Some(tool)) = (&case.intent, case.tool_name()) else {
            return Verdict::Holds;
        };
        let accepted = seen.steps.last().is_some_and(|step| step.answer == Answer::Completed);
        if !accepted || is_tolerable(case, at, rule) || !is_forbidden(case, tool, context) {
            return Verdict::Holds;
        }
        let place = if at.is_empty() { "the arguments" } else { at };
        let message = format!("`{tool}` accepts what its schema forbids: {place}: {what}");
        let cause = Cause::schema(at, rule);
        Verdict::Broken(Box::new(Charge::new(self.name(), Kind::AcceptedInvalid, cause, message)))
    }
}

/// Whether the schema forbids what was sent. A case that is made smaller may have become a welcome one.
fn is_forbidden(case: &Case, tool: &str, context: &Context) -> bool {
    let declared = context.tools.get(tool).and_then(|facts| facts.listed.get("inputSchema"));
    let schema = declared.and_then(|declared| Schema::compile(declared).ok());
    match (schema, case.arguments()) {
        (Some(schema), Some(arguments)) => !schema.violations(arguments).is_empty(),
        _ => false,
    }
}

/// A format is an annotation unless a schema says otherwise, much code rightly reads `"5"` as 5 and 5 as `"5"`, and
/// arguments that are null are as good as left out.
fn is_tolerable(case: &Case, at: &str, rule: &str) -> bool {
    let given = case.arguments().and_then(|arguments| arguments.pointer(at));
    let coerced = match given {
        Some(Value::String(text)) => {
            text.trim().parse::<f64>().is_ok() || matches!(text.as_str(), "true" | "false")
        }
        Some(Value::Number(_) | Value::Bool(_)) => true,
        _ => false,
    };
    let absent = at.is_empty() && given.is_none_or(Value::is_null);
    rule == "format" || rule == "type" && (coerced || absent)
}
