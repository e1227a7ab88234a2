//! A tool that declares an output schema must keep to it.

use serde_json::Value;

use crate::findings::{Cause, Given, Kind};
use crate::judge::blame::{Blame, blame, is_about_output, last_fetched};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::{Context, Output};
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Step, said};
use crate::run::Recording;
use crate::wire::shortened;

const SHOWN: usize = 200;
/// Shorter values, as JSON, are the same as what was sent by chance.
const LEAST_REPEATED: usize = 4;

pub struct KeepsItsOutputSchema;

impl Check for KeepsItsOutputSchema {
    fn name(&self) -> &'static str {
        "keeps-its-output-schema"
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict {
        let Some(tool) = case.tool_name() else { return Verdict::Holds };
        let Some(step) = seen.steps.last() else { return Verdict::Holds };
        // What is asked afterwards, to see what is stored or whether it still answers, is no output of the tool.
        let asked = case.steps.get(recording.steps.len().saturating_sub(1));
        if case.is_disturbed() && asked.and_then(Step::tool) != Some(tool) {
            return Verdict::Holds;
        }
        match output(self.name(), case, tool, recording, &step.answer, context) {
            // What a tool passes on of a service is not its own.
            Verdict::Broken(charge) => match recording.steps.last().and_then(last_fetched) {
                Some(asked) if !is_own_fault(case, recording, declared(context, tool)) => Verdict::Unknown(
                    format!("the sandbox answered for `{asked}`, and not as the service does"),
                ),
                _ => Verdict::Broken(charge),
            },
            verdict => verdict,
        }
    }
}

/// Whether no answer of a service can be the reason. Where the whole of the structured content is missing though the
/// answer tells of no failure, the tool never makes it; and what stands in the wrong place word for word as it was sent
/// comes from the call.
fn is_own_fault(case: &Case, recording: &Recording, output: Option<&Output>) -> bool {
    let Some(result) = reply::result(recording) else { return false };
    match (result.get("structuredContent"), output) {
        (None, _) => is_never_made(&said(&result)),
        (Some(structured), Some(Output::Compiled(validator))) => {
            let wrong = validator.iter_errors(structured).next();
            wrong.is_some_and(|wrong| is_repeated(case, wrong.instance()))
        }
        _ => false,
    }
}

fn is_never_made(text: &str) -> bool {
    // A list or a single value that is passed on cannot be structured content, and the service may well send objects.
    let passed_on = serde_json::from_str::<Value>(text).is_ok_and(|value| !value.is_object());
    !passed_on && !text.trim().is_empty() && blame(text) == Blame::Nobody && !tells_of_failure(text)
}

fn is_repeated(case: &Case, wrong: &Value) -> bool {
    let sent = case.arguments().and_then(Value::as_object);
    let is_told = !wrong.is_object() && wrong.to_string().len() >= LEAST_REPEATED;
    is_told && sent.is_some_and(|sent| sent.values().any(|sent| sent == wrong))
}

/// Whether an answer that counts as a success says that something went wrong, or that there was nothing.
fn tells_of_failure(text: &str) -> bool {
    const SIGNS: [&str; 12] = [
        "error",
        "fail",
        "unable",
        "could not",
        "couldn't",
        "cannot",
        "no results",
        "nothing",
        "unexpected",
        "unavailable",
        "timed out",
        "try again",
    ];
    let small = text.to_lowercase();
    SIGNS.iter().any(|sign| small.contains(sign))
}

fn output(
    name: &'static str,
    case: &Case,
    tool: &str,
    recording: &Recording,
    answer: &Answer,
    context: &Context,
) -> Verdict {
    if case.intent.is_valid() == Some(true)
        && let Some(said) = own_output_blamed(recording, answer)
    {
        let cause = Cause::error(0, &said, &Given::of(case));
        let message = format!("`{tool}` cannot keep to its own output schema: {}", shortened(&said, SHOWN));
        return Verdict::Broken(Box::new(Charge::new(name, Kind::SchemaViolation, cause, message)));
    }
    let (Some(output), Answer::Completed) = (declared(context, tool), answer) else { return Verdict::Holds };
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
        let message = format!("`{tool}` declares an output schema, but its result has no structuredContent");
        let cause = Cause::schema("", "structuredContent");
        return Verdict::Broken(Box::new(Charge::new(name, Kind::SchemaViolation, cause, message)));
    };
    let Some(error) = validator.iter_errors(structured).next() else { return Verdict::Holds };
    let (path, keyword) = (error.instance_path().to_string(), error.schema_path().to_string());
    let keyword = keyword.rsplit('/').next().unwrap_or_default();
    let place = if path.is_empty() { String::new() } else { format!(" at `{path}`") };
    let why = shortened(&error.to_string(), SHOWN);
    let message = format!("the output of `{tool}` breaks its schema{place}: {why}");
    let charge = Charge::new(name, Kind::SchemaViolation, Cause::schema(&path, keyword), message);
    Verdict::Broken(Box::new(charge.with("structuredContent", shortened(&structured.to_string(), 2_000))))
}

fn declared<'c>(context: &'c Context, tool: &str) -> Option<&'c Output> {
    context.tools.get(tool)?.output.as_ref()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Intent;
    use serde_json::json;

    #[test]
    fn what_is_never_made_or_was_only_repeated_is_not_owed_to_a_service() {
        assert!(is_never_made("Beetles are insects."));
        for text in [
            "Error: unexpected answer",
            "No results",
            "Request failed with status code 404",
            "[{\"id\": 1}]",
            "",
        ] {
            assert!(!is_never_made(text), "{text}");
        }
        let case = Case::tool("t", json!({ "topic": "beetles", "few": 1 }), Intent::Valid, 1);
        assert!(is_repeated(&case, &json!("beetles")));
        for other in [json!("ants"), json!(1), json!(null), json!({ "topic": "beetles" })] {
            assert!(!is_repeated(&case, &other), "{other}");
        }
    }
}
