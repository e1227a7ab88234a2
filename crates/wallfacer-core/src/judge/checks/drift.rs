//! What a tool declares of its answers must be what it declared when that was written down.

use serde_json::Value;

use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::learn::{differences, meaning};
use crate::observe::Observation;
use crate::plan::{Case, Measure};
use crate::run::Recording;
use crate::wire::shortened;

const SHOWN: usize = 120;

/// Titles, descriptions and the order of keys may change; that a schema came where none was takes nothing away.
pub struct KeepsItsDeclaration;

impl Check for KeepsItsDeclaration {
    fn name(&self) -> &'static str {
        "keeps-its-declaration"
    }

    fn judge(&self, case: &Case, _: &Recording, _: &Observation, context: &Context) -> Verdict {
        let Some(Measure::Declared { schema: before }) = case.measure.as_deref() else {
            return Verdict::Holds;
        };
        let Some(tool) = case.subject.tool() else { return Verdict::Holds };
        let Some(facts) = context.tools.get(tool) else {
            return self.broken(tool, "gone", format!("there is no tool `{tool}` any more"));
        };
        let Some(before) = before else { return Verdict::Holds };
        if !context.knows_output_schemas {
            return Verdict::Unknown("the version that is spoken knows no output schemas".to_owned());
        }
        let Some(now) = facts.listed.get("outputSchema") else {
            let message = format!("`{tool}` declared an output schema, and declares none any more");
            return self.broken(tool, "lost", message);
        };
        let (before, now) = (meaning(before), meaning(now));
        let Some(first) = differences(&before, &now).into_iter().next() else { return Verdict::Holds };
        let shown = |value: Option<&Value>| match value {
            Some(value) => shortened(&value.to_string(), SHOWN),
            None => "nothing".to_owned(),
        };
        let (place, was, is) = (&first.place, shown(first.one), shown(first.other));
        let message = format!("the output schema of `{tool}` is another: at `{place}` was {was} and is {is}");
        self.broken(tool, &place.to_string(), message)
    }
}

impl KeepsItsDeclaration {
    /// Each tool has a declaration of its own, so that what became of one is no cause of another.
    fn broken(&self, tool: &str, what: &str, message: String) -> Verdict {
        let cause = Cause::rule("output schema", Some(&format!("{tool} {what}")));
        Verdict::Broken(Box::new(Charge::new(self.name(), Kind::Drift, cause, message)))
    }
}
