//! What worked must go on working. A server whose store is torn, or whose state is broken, answers all later calls with
//! failures of its own; the call that did it may have been answered well.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use crate::findings::{Cause, Kind, STAYS_HEALTHY};
use crate::judge::blame::{Blame, blame};
use crate::judge::charge::Charge;
use crate::judge::checks::reply;
use crate::judge::context::Context;
use crate::judge::verdict::{Check, Verdict};
use crate::observe::{Answer, Observation, Seen};
use crate::plan::{Case, Measure, Step, Subject, said};
use crate::run::{Recording, Taken};
use crate::target::Severity;
use crate::wire::shortened;

const NAME: &str = STAYS_HEALTHY;
const INTERNAL_ERROR: i64 = -32603;
const INTERNAL_SERVER_ERROR: i64 = 500;
const SHOWN: usize = 200;
/// What of an error is read.
const MAX_TEXT: usize = 16 << 10;

/// A script that begins with a call which works, and ends with the same call, made twice.
pub struct StaysHealthy;

impl Check for StaysHealthy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn judge(&self, case: &Case, recording: &Recording, seen: &Observation, _: &Context) -> Verdict {
        let Some((call, _)) = health_call(case) else { return Verdict::Holds };
        let worked = seen.steps.first().is_some_and(|step| step.answer == Answer::Completed);
        let complete = recording.steps.len() == case.steps.len();
        let again: Vec<usize> =
            (0..case.steps.len()).rev().take_while(|at| case.steps[*at] == *call).collect();
        let broken = |at: &usize| broken(recording.steps.get(*at)?, seen.steps.get(*at)?);
        let words: Option<Vec<String>> = again.iter().map(broken).collect();
        match words.as_deref() {
            Some([last, _, ..]) if worked && complete => Verdict::Broken(Box::new(spoiled(case, last))),
            _ => Verdict::Holds,
        }
    }
}

/// A script that shows whether a call still works after others.
pub fn health_case(call: &Case, between: Vec<Step>) -> Case {
    let health = call.steps.iter().map(Step::called);
    let steps = health.clone().chain(between).chain(health.clone()).chain(health).collect();
    let measure = Some(Box::new(Measure::Health));
    let script = Case { steps, measure, claim: None, ..call.clone() };
    about_culprits(&Case { intent: crate::plan::Intent::Together, ..script })
}

/// The call that must go on working, and the steps that may keep it from that.
pub fn health_call(case: &Case) -> Option<(&Step, &[Step])> {
    let by_health = matches!(case.measure.as_deref(), Some(Measure::Health));
    match &case.steps[..] {
        [first, between @ .., again, last] if by_health && first == again && first == last => {
            Some((first, between))
        }
        _ => None,
    }
}

/// The same, about the one tool whose calls did it, or about the server where there are several.
pub fn about_culprits(case: &Case) -> Case {
    let between = health_call(case).map(|(_, between)| between).unwrap_or_default();
    let tools: BTreeSet<&str> = between.iter().filter_map(Step::tool).collect();
    let subject = match tools.into_iter().collect::<Vec<_>>()[..] {
        [only] => Subject::Tool(only.to_owned()),
        _ => Subject::Server,
    };
    Case { subject, ..case.clone() }
}

/// The charge that a call stopped working, which failed with these words.
pub fn spoiled(case: &Case, words: &str) -> Charge {
    let between = health_call(case).map(|(_, between)| between).unwrap_or_default();
    let calls = between.iter().filter(|step| step.request().is_some()).count();
    let tools: BTreeSet<&str> = between.iter().filter_map(Step::tool).collect();
    let tools: Vec<String> = tools.into_iter().map(|tool| format!("`{tool}`")).collect();
    let calls = match (calls, &tools[..]) {
        (1, [tool]) => format!("one call of {tool}"),
        (_, [one]) => format!("{calls} calls of {one}"),
        (_, [one, other]) => format!("{calls} calls of {one} and {other}"),
        _ => format!("{calls} calls of {} tools", tools.len()),
    };
    let together = case.is_concurrent();
    let (kind, at_once) = match together {
        true => (Kind::Race, " at once"),
        false => (Kind::InternalError, ""),
    };
    let health = case.steps.last().and_then(Step::tool).unwrap_or("the same request");
    let words = shortened(words, SHOWN);
    let message = format!("after {calls}{at_once}, `{health}` fails, though it worked before: {words}");
    let mut charge = Charge::new(NAME, kind, Cause::rule(NAME, None), message);
    charge.severity = Some(Severity::High);
    charge.details = format!(
        "The last step is the same call as the first, which worked. From then on the server answers it with a failure of its \
         own: {}",
        match together {
            true =>
                "calls that change the same thing at the same time leave it broken. Let one at a time change it.",
            false => "what was answered without complaint has left its state broken.",
        }
    );
    charge
}

/// The words of a server that is broken inside. None where the call worked, or was refused: what was taken away is not
/// found, and who asks too often has to wait.
pub fn broken(taken: &Taken, seen: &Seen) -> Option<String> {
    let words = match (&seen.answer, reply::error(taken)) {
        (_, Some(error)) => error.message.clone(),
        (Answer::ToolError, None) => said(&reply::message(taken)?.result()?),
        (Answer::Failed { code: code @ INTERNAL_SERVER_ERROR }, None) => {
            return Some(format!("HTTP status {code}"));
        }
        _ => return None,
    };
    let internal = matches!(seen.answer, Answer::Failed { code: INTERNAL_ERROR | INTERNAL_SERVER_ERROR });
    is_broken(&words, internal).then_some(words)
}

fn is_broken(words: &str, internal: bool) -> bool {
    let text: String = words.chars().take(MAX_TEXT).collect::<String>().to_lowercase();
    if REFUSES.is_match(&text) {
        return false;
    }
    BREAKS.is_match(&text) || reply::has_stack_trace(words) || internal && blame(&text) == Blame::Nobody
}

/// How a server says that it must not be asked now, or that something is not there any more.
static REFUSES: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"rate.?limit|too many (?:requests|calls|attempts)|\b429\b|quota|throttl|try again (?:in|later)|retry.after|limit (?:reached|exceeded)|expired|not (?:logged in|authenticated|authori[sz]ed|initiali[sz]ed|connected|started|open|opened|loaded|selected|configured|set)\b|unauthori[sz]ed|forbidden|(?:is|was|been|already) (?:closed|shut ?down|stopped|disconnected|terminated|paused|locked by)|shutting down|no (?:active|open|current|such|project|session|connection|more)\b|not found|does(?: not|n't) exist|keyerror|filenotfounderror|enoent|already exists|no space left|enospc|enotfound|econnrefused|econnreset|etimedout|fetch failed",
    )
});

/// How programs say that what they keep cannot be read, that they met what they did not foresee, or that they ran out of
/// what they never give back.
static BREAKS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"unexpected (?:token|non-whitespace|eof|end of (?:json|input|data|file))|jsondecodeerror|not valid json|invalid json|json at position|json parse|expecting (?:value|property name|',' delimiter|':' delimiter)|extra data: line|unterminated string|eof while parsing|trailing (?:characters|data)|at line \d+ column \d+|invalid character .{1,8} (?:after|looking for|in)|bad control character|corrupt|disk image is malformed|not a database|database (?:table |schema )?is locked|typeerror|referenceerror|attributeerror|cannot read propert|is not iterable|is not a function|undefined is not|nil pointer|nullpointer|panicked|poison|deadlock|emfile|too many open files|pool (?:is )?(?:exhausted|full|timeout)|queuepool limit|event loop is closed|closed file|write after end",
    )
});

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a constant expression")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Intent;
    use serde_json::json;

    #[test]
    fn a_broken_store_is_told_from_a_refusal() {
        for text in [
            "Unexpected non-whitespace character after JSON at position 512",
            "json.decoder.JSONDecodeError: Extra data: line 3 column 1 (char 80)",
            "database disk image is malformed",
            "Cannot read properties of undefined (reading 'map')",
            "OSError: [Errno 24] Too many open files",
        ] {
            assert!(is_broken(text, false), "{text}");
        }
        for text in [
            "429 Too Many Requests: rate limit exceeded, try again in 60 seconds",
            "Note T-12 not found",
            "KeyError: 'T-12'",
            "Your session has expired, please log in",
            "No active project; call set_project first",
            "The quota of this account is used up",
            "We are sold out today, please ask again tomorrow.",
            "the connection is closed",
        ] {
            assert!(!is_broken(text, true) || !is_broken(text, false), "{text}");
            assert!(!is_broken(text, false), "{text}");
        }
        assert!(is_broken("unexpected condition", true));
        assert!(!is_broken("429 Too Many Requests", true));
    }

    #[test]
    fn what_did_it_is_told_by_tool_and_number() {
        let call = |tool: &str| Case::tool(tool, json!({}), Intent::Valid, 1);
        let sent = Case::together([&call("add"), &call("add")], 1).steps;
        let case = health_case(&call("list"), sent.clone());
        assert_eq!(case.subject, Subject::Tool("add".to_owned()));
        let charge = spoiled(&case, "Unexpected token");
        assert!(
            charge.message.starts_with("after 2 calls of `add` at once, `list` fails"),
            "{}",
            charge.message
        );
        assert_eq!(charge.kind, Kind::Race);
        let alone = health_case(&call("list"), call("add").steps);
        assert!(spoiled(&alone, "x").message.starts_with("after one call of `add`, `list` fails"));
        assert_eq!(spoiled(&alone, "x").kind, Kind::InternalError);
    }
}
