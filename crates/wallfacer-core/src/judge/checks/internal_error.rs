//! An input may be refused, but must not get out of hand: no internal error, no stack trace.

use wallfacer_schema::Schema;

use crate::findings::{Cause, Given, Kind};
use crate::judge::blame::{Blame, blame_of, excuse, is_out_of_hand, is_type_mistake};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation};
use crate::plan::{Case, Intent, said};
use crate::run::Recording;
use crate::target::Severity;
use crate::wire::{last_lines, shortened};

const INTERNAL_ERROR: i64 = -32603;
const SHOWN: usize = 200;

pub const NAME: &str = "no-internal-error";

pub struct NoInternalError;

impl Check for NoInternalError {
    fn name(&self) -> &'static str {
        NAME
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, context: &Context) -> Verdict {
        let mut lacking = None;
        for (taken, step) in recording.steps.iter().zip(&seen.steps) {
            let error = reply::error(taken);
            let words = match (&step.answer, error) {
                (_, Some(error)) => error.message.clone(),
                (Answer::ToolError, None) => {
                    reply::result(recording).map(|result| said(&result)).unwrap_or_default()
                }
                _ => continue,
            };
            let code = error.and_then(|error| error.code);
            let trace = reply::has_stack_trace(&words);
            if let Some(why) = excuse(&words, case, taken) {
                lacking = Some(why);
                continue;
            }
            let blamed = blame_of(&words, case);
            if !trace && (code != Some(INTERNAL_ERROR) || blamed == Blame::Output) {
                continue;
            }
            let is_refusal = blamed == Blame::Input || !is_out_of_hand(&words);
            return Verdict::Broken(Box::new(match is_refusal && !trace {
                true => wrong_code(&words),
                false => charge(case, context, code, trace, &words),
            }));
        }
        lacking.map_or(Verdict::Holds, Verdict::Unknown)
    }
}

fn charge(case: &Case, context: &Context, code: Option<i64>, trace: bool, words: &str) -> Charge {
    let unchecked = is_type_mistake(words).then(|| forbidden(case, context)).flatten();
    let cause = Cause::error(code.unwrap_or_default(), words, &Given::of(case));
    let cause = if unchecked.is_some() { cause.of_unchecked_arguments() } else { cause };
    let (what, gist) = if trace { ("a stack trace", gist(words)) } else { ("an internal error", words) };
    let said = shortened(gist, SHOWN);
    let message = format!("the answer is {what}: {said}");
    let charge = Charge::new(NAME, Kind::InternalError, cause, message);
    let way = unchecked.map(|(at, wrong)| format!("{} {wrong}: {said}", place(at))).unwrap_or_default();
    Charge { way, ..charge.with("answer", last_lines(words.as_bytes())) }
}

fn place(at: &str) -> &str {
    if at.is_empty() { "the arguments" } else { at }
}

/// Where and how the arguments break the schema of the tool. None if they keep to it: a case that was made smaller may have
/// become valid.
fn forbidden<'c>(case: &'c Case, context: &Context) -> Option<(&'c str, &'c str)> {
    let way = match &case.intent {
        Intent::Invalid { at, what, .. } => (at.as_str(), what.as_str()),
        Intent::Adversarial { kind, .. } => kind.split_once(": ").unwrap_or(("", kind)),
        _ => return None,
    };
    let declared = context.tools.get(case.tool_name()?)?.listed.get("inputSchema")?;
    let schema = Schema::compile(declared).ok()?;
    (!schema.violations(case.arguments()?).is_empty()).then_some(way)
}

/// The line of a trace that says what went wrong: in Python the last one, elsewhere the first.
fn gist(words: &str) -> &str {
    let is_head = |line: &&str| !line.trim().is_empty() && !line.starts_with(char::is_whitespace);
    let mut heads = words.lines().filter(is_head);
    let found = match words.contains("Traceback (most recent call last)") {
        true => heads.next_back(),
        false => heads.next(),
    };
    found.unwrap_or(words)
}

/// The input was refused, as it should be, but in a way that says that the server is broken. Whoever does so in one tool
/// does so in all of them.
fn wrong_code(words: &str) -> Charge {
    let cause = Cause::rule(NAME, Some("refusal with the wrong code")).server_wide();
    let message =
        format!("a refusal comes as an internal error, {INTERNAL_ERROR}: {}", shortened(words, SHOWN));
    let mut charge = Charge::new(NAME, Kind::InternalError, cause, message);
    charge.severity = Some(Severity::Low);
    charge.details =
        "Clients take this code for a fault of the server, and give up or try again. What is wrong with the arguments \
         is told with -32602, or as the result of the tool with `isError`."
            .to_owned();
    charge
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_what_went_wrong_is_told() {
        let python =
            "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in f\n    g()\nKeyError: 'x'\n";
        assert_eq!(gist(python), "KeyError: 'x'");
        assert_eq!(
            gist("TypeError: x is not a function\n    at f (/a/b.js:3:7)"),
            "TypeError: x is not a function"
        );
        assert_eq!(gist("  at f"), "  at f");
    }
}
