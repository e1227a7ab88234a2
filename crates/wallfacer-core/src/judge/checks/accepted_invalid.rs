//! What the declared input schema forbids must be refused.

use serde_json::Value;
use wallfacer_schema::Schema;

use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Intent, failure_in_words};
use crate::run::Recording;
use crate::wire::shortened;

/// What is shown of the answer.
const SHOWN: usize = 300;

pub struct RefusesInvalid;

impl Check for RefusesInvalid {
    fn name(&self) -> &'static str {
        "refuses-invalid"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict {
        let (Intent::Invalid { at, rule, what }, Some(tool)) = (&case.intent, case.tool_name()) else {
            return Verdict::Holds;
        };
        // Who refuses in words, and does not flag it, has refused all the same; that it is not flagged a rule tells.
        let refuses = reply::result(recording).is_some_and(|result| failure_in_words(&result).is_some());
        let accepted = !refuses && seen.steps.last().is_some_and(|step| step.answer == Answer::Completed);
        if !accepted || is_tolerable(case, at, rule) || !is_forbidden(case, at, tool, context) {
            return Verdict::Holds;
        }
        let wrong = if at.is_empty() { format!("`arguments` {what}") } else { format!("{at}: {what}") };
        let message = format!("`{tool}` accepts what its schema forbids: {wrong}");
        let cause = Cause::schema(at, rule);
        let mut charge = Charge::new(self.name(), Kind::AcceptedInvalid, cause, message);
        charge.way = wrong;
        let answer = reply::result(recording).map(|result| shortened(&result.to_string(), SHOWN));
        Verdict::Broken(Box::new(charge.with("answer", answer.unwrap_or_default())))
    }
}

/// Whether the schema forbids what was sent. A case that is made smaller may have become a welcome one.
fn is_forbidden(case: &Case, at: &str, tool: &str, context: &Context) -> bool {
    let declared = context.tools.get(tool).and_then(|facts| facts.listed.get("inputSchema"));
    let schema = declared.and_then(|declared| Schema::compile(declared).ok());
    match (schema, case.arguments()) {
        (Some(schema), Some(arguments)) => forbids(&schema, arguments, at),
        _ => false,
    }
}

/// What is null where it may be left out is as good as left out.
fn forbids(schema: &Schema, arguments: &Value, at: &str) -> bool {
    let refuses = |arguments: &Value| !schema.violations(arguments).is_empty();
    refuses(arguments) && without_null(arguments, at).is_none_or(|rest| refuses(&rest))
}

/// The arguments without the member at this place, where that is null.
fn without_null(arguments: &Value, at: &str) -> Option<Value> {
    arguments.pointer(at).filter(|given| given.is_null())?;
    let (object, name) = at.rsplit_once('/')?;
    let mut rest = arguments.clone();
    rest.pointer_mut(object)?.as_object_mut()?.remove(&name.replace("~1", "/").replace("~0", "~"))?;
    Some(rest)
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_is_as_good_as_left_out_only_where_it_may_be_left_out() {
        let inner = json!({"type": "object", "properties": {"a/b": {"type": "string"}}});
        let schema = json!({
            "type": "object",
            "properties": {"level": {"type": "integer"}, "note": {"type": "string"}, "inner": inner},
            "required": ["level"],
        });
        let schema = Schema::compile(&schema).unwrap();
        assert!(!forbids(&schema, &json!({"level": 1, "note": null}), "/note"));
        assert!(!forbids(&schema, &json!({"level": 1, "inner": {"a/b": null}}), "/inner/a~1b"));
        assert!(forbids(&schema, &json!({"level": null}), "/level"));
        assert!(forbids(&schema, &json!({"level": 1, "note": 5}), "/note"));
        assert!(forbids(&schema, &json!({"level": "x", "note": null}), "/note"));
    }
}
