//! A tool that declares no output schema answers as it did when its answers were learned.

use crate::findings::{Cause, Kind};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::{Context, Habit, Output};
use crate::judge::verdict::{Check, Verdict};
use crate::learn::answer;
use crate::observe::{Answer, Observation};
use crate::plan::{Carrier, Case, Intent, Measure};
use crate::run::Recording;
use crate::target::Severity;
use crate::wire::shortened;

const SHOWN: usize = 200;
const SHOWN_ANSWER: usize = 2_000;

/// Nobody promised anything, so it weighs little. Only plain valid calls are learned from, and only they are judged.
pub struct KeepsItsForm;

impl Check for KeepsItsForm {
    fn name(&self) -> &'static str {
        "keeps-its-form"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict {
        let plain = matches!(case.intent, Intent::Example | Intent::Valid | Intent::Boundary(_));
        let Some(tool) = case.tool_name().filter(|_| plain) else { return Verdict::Holds };
        let declared = context.tools.get(tool).is_some_and(|facts| facts.output.is_some());
        let Some(habit) = context.habits.get(tool).filter(|_| !declared) else { return Verdict::Holds };
        let (Some(Answer::Completed), Some(result)) =
            (seen.steps.last().map(|step| &step.answer), reply::result(recording))
        else {
            return Verdict::Holds;
        };
        if !reply::is_complete(&result) {
            return Verdict::Holds;
        }
        let found = answer(&result).filter(|(carrier, _)| *carrier == habit.form.carrier);
        let Some((_, value)) = found else {
            let (were, is) = match habit.form.carrier {
                Carrier::Structured => ("had structuredContent", "has none"),
                Carrier::Text => ("were JSON", "is not"),
            };
            let message = format!("the answers of `{tool}` {were} when they were learned, and this one {is}");
            return self.broken(habit, "", "carrier", message, &result.to_string());
        };
        let validator = match &habit.validator {
            Output::Compiled(validator) => validator,
            Output::Unusable(why) => {
                return Verdict::Unknown(format!("what was learned cannot be used: {why}"));
            }
        };
        let Some(error) = validator.iter_errors(&value).next() else { return Verdict::Holds };
        let (path, keyword) = (error.instance_path().to_string(), error.schema_path().to_string());
        let keyword = keyword.rsplit('/').next().unwrap_or_default();
        let place = if path.is_empty() { "/" } else { &path };
        let message = format!(
            "an answer of `{tool}` is not of the form that was learned, at `{place}`: {}",
            shortened(&error.to_string(), SHOWN)
        );
        self.broken(habit, &path, keyword, message, &value.to_string())
    }
}

impl KeepsItsForm {
    fn broken(&self, habit: &Habit, path: &str, keyword: &str, message: String, answer: &str) -> Verdict {
        let cause = Cause::schema(path, &format!("learned {keyword}"));
        let mut charge = Charge::new(self.name(), Kind::SchemaViolation, cause, message);
        charge.severity = Some(Severity::Low);
        let (carrier, schema) = (habit.form.carrier, habit.form.schema.clone());
        charge.measure = Some(Box::new(Measure::Learned { carrier, schema }));
        Verdict::Broken(Box::new(charge.with("answer", shortened(answer, SHOWN_ANSWER))))
    }
}
