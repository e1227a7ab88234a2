//! A tool that declares an output schema must keep to it.

use crate::findings::{Cause, Given, Kind};
use crate::judge::blame::is_about_output;
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::{Context, Output};
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, said};
use crate::run::Recording;
use crate::wire::shortened;

const SHOWN: usize = 200;

pub struct KeepsItsOutputSchema;

impl Check for KeepsItsOutputSchema {
    fn name(&self) -> &'static str {
        "keeps-its-output-schema"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict {
        let Some(tool) = case.tool_name() else { return Verdict::Holds };
        let Some(step) = seen.steps.last() else { return Verdict::Holds };
        if case.intent.is_valid() == Some(true)
            && let Some(said) = own_output_blamed(recording, &step.answer)
        {
            let cause = Cause::error(0, &said, &Given::of(case));
            let message =
                format!("`{tool}` cannot keep to its own output schema: {}", shortened(&said, SHOWN));
            return Verdict::Broken(Box::new(Charge::new(
                self.name(),
                Kind::SchemaViolation,
                cause,
                message,
            )));
        }
        let declared = context.tools.get(tool).and_then(|facts| facts.output.as_ref());
        let (Some(output), Answer::Completed) = (declared, &step.answer) else { return Verdict::Holds };
        let validator = match output {
            Output::Compiled(validator) => validator,
            Output::Unusable(why) => {
                return Verdict::Unknown(format!("its output schema cannot be used: {why}"));
            }
        };
        let Some(result) = reply::result(recording) else {
            return Verdict::Unknown("its result cannot be read".to_owned());
        };
        if !reply::is_complete(&result) {
            return Verdict::Holds;
        }
        let Some(structured) = result.get("structuredContent") else {
            let message =
                format!("`{tool}` declares an output schema, but its result has no structuredContent");
            let cause = Cause::schema("", "structuredContent");
            return Verdict::Broken(Box::new(Charge::new(
                self.name(),
                Kind::SchemaViolation,
                cause,
                message,
            )));
        };
        let Some(error) = validator.iter_errors(structured).next() else { return Verdict::Holds };
        let (path, keyword) = (error.instance_path().to_string(), error.schema_path().to_string());
        let keyword = keyword.rsplit('/').next().unwrap_or_default();
        let place = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
        let why = shortened(&error.to_string(), SHOWN);
        let message = format!("the output of `{tool}` breaks its schema{place}: {why}");
        let charge = Charge::new(self.name(), Kind::SchemaViolation, Cause::schema(&path, keyword), message);
        Verdict::Broken(Box::new(charge.with("structuredContent", shortened(&structured.to_string(), 2_000))))
    }
}

/// An error in which the server says that its own output is at fault.
fn own_output_blamed(recording: &Recording, answer: &Answer) -> Option<String> {
    let said = match answer {
        Answer::ToolError => said(&reply::result(recording)?),
        Answer::Rejected { .. } | Answer::Failed { .. } => {
            reply::error(recording.steps.last()?)?.message.clone()
        }
        _ => return None,
    };
    is_about_output(&said.to_lowercase()).then_some(said)
}
