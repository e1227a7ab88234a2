//! A finding with the words that make it understood: what happened, why it matters, what to change, and what was sent.

use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::sent::sent;
use crate::findings::{Finding, Kind, Repro, top_frame};
use crate::plan::Subject;
use crate::rule_words::change_for;
use crate::wire::shortened;

/// What is shown of a name inside a sentence.
const NAME: usize = 60;
/// What is shown of what there is to say of one finding.
const DETAILS: usize = 600;

/// A finding as a document has it. The words stand there for other programs; we make them anew when we read it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Told {
    #[serde(flatten)]
    pub finding: Finding,
    /// The command that shows it again. It is always there; a file of a finding leaves it out where the id says all.
    pub replay: String,
    /// What happened, in one sentence.
    #[serde(default)]
    pub what: String,
    /// What that means for those who use the server.
    #[serde(default)]
    pub why: String,
    /// What to change, and where to begin.
    #[serde(default)]
    pub change: String,
    /// The smallest request that shows it, in one line; null where none can be sent again.
    #[serde(default)]
    pub request: Option<String>,
}

impl Told {
    pub fn new(finding: &Finding) -> Told {
        Told {
            replay: finding.replay_line(),
            what: what(finding),
            why: why(finding),
            change: change(finding),
            request: sent(&finding.repro),
            finding: finding.clone(),
        }
    }

    /// What it is about, in a few words: `crash in divide`.
    pub fn heading(&self) -> String {
        let kind = match &self.finding.kind {
            Kind::PropertyFailure { invariant } => {
                return format!(
                    "{} in {}",
                    shortened(&rule_of(invariant, &self.finding), NAME),
                    self.place()
                );
            }
            other => other.name(),
        };
        format!("{kind} in {}", self.place())
    }

    pub fn place(&self) -> String {
        shortened(self.finding.place(), NAME)
    }

    /// `2 of 2 times on fresh servers`.
    pub fn proven(&self) -> String {
        let seen = self.finding.reproduced;
        format!("{} of {} times on fresh servers", seen.k, seen.n)
    }
}

/// The name of a rule without the tool that it was made for: that stands beside it.
fn rule_of(invariant: &str, finding: &Finding) -> String {
    let tool = finding.tool.as_deref().unwrap_or_default();
    let short = invariant.strip_suffix(tool).and_then(|rest| rest.strip_suffix('.'));
    short.unwrap_or(invariant).to_owned()
}

/// What happened, as one sentence that ends in a full stop.
fn what(finding: &Finding) -> String {
    let about = finding.kind.about();
    let message = finding.message.trim_end_matches('.');
    let place = match &finding.subject {
        // What shows in several tools is told of the one that the request is for.
        Subject::Server if finding.tools.len() > 1 => called(&finding.repro),
        Subject::Server => None,
        _ => Some(finding.place().to_owned()),
    };
    let whole = match place.filter(|_| !about.lead.is_empty()) {
        None => message.to_owned(),
        Some(place) => {
            let place = format!("`{}`", shortened(&place, NAME));
            format!("{}: {message}", about.lead.replace("{place}", &place))
        }
    };
    format!("{}.", capital(&whole))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// Why it matters: what there is to say of this finding, then what holds for its kind.
fn why(finding: &Finding) -> String {
    let general = finding.kind.about().why;
    match particular(finding) {
        Some(particular) => format!("{particular} {general}"),
        None => general.to_owned(),
    }
}

/// What there is to say of this finding alone. What a rule is for stands in its sentence already.
pub(super) fn particular(finding: &Finding) -> Option<String> {
    let details = finding.details.trim();
    let of_rule = matches!(finding.kind, Kind::PropertyFailure { .. } | Kind::SequenceFailure { .. });
    let is_told = details.is_empty() || of_rule;
    (!is_told).then(|| shortened(details, DETAILS))
}

/// What to change, with the place to begin at where it is known.
fn change(finding: &Finding) -> String {
    let general = change_in_general(finding);
    match start(finding) {
        Some(start) => format!("{general} {start}"),
        None => general.to_owned(),
    }
}

/// What to change, as it holds for all findings of the kind or the rule.
pub(super) fn change_in_general(finding: &Finding) -> &'static str {
    let of_rule = finding.kind.rule().filter(|_| finding.kind.name() == "property_failure");
    of_rule.and_then(change_for).unwrap_or(finding.kind.about().change)
}

/// Where to begin: the frame of the stack, or the only argument of the smallest request.
pub(super) fn start(finding: &Finding) -> Option<String> {
    let texts = finding.evidence.iter().map(|evidence| evidence.text.as_str());
    if let Some((frame, line)) = texts.filter_map(|text| Some((top_frame(text)?, text))).next() {
        let (function, file) = (shortened(&frame.function, NAME), shortened(&frame.file, NAME));
        let at =
            line_of(line, &frame.file, &frame.function).map(|line| format!(":{line}")).unwrap_or_default();
        // A panic without a trace has its message where the function would stand, and some functions have no name.
        let is_nameless = function.is_empty() || function.contains([' ', '<']);
        return Some(match is_nameless {
            true => format!("Start at `{file}{at}`."),
            false => format!("Start at `{function}` in `{file}{at}`."),
        });
    }
    let fails = matches!(finding.kind, Kind::Crash | Kind::Hang { .. } | Kind::InternalError);
    let argument = only_argument(&finding.repro).filter(|_| fails)?;
    Some(format!("Start with how the argument `{}` is used.", shortened(&argument, NAME)))
}

/// The line in a file that a trace names.
fn line_of(trace: &str, file: &str, function: &str) -> Option<u32> {
    static NUMBER: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"^(?:", line |:|, line )(\d{1,7})"#).expect("a pattern"));
    let number = |line: &str| {
        let (_, behind) = line.split_once(file)?;
        NUMBER.captures(behind)?[1].parse::<u32>().ok()
    };
    // A function without a name is known by nothing else: the first line that names the file is the innermost.
    let has_name = !function.is_empty() && function != "<anonymous>";
    let named = trace.lines().filter(|line| has_name && line.contains(function));
    named.filter_map(number).next_back().or_else(|| trace.lines().find_map(number))
}

/// The tool that the last request calls.
fn called(repro: &Repro) -> Option<String> {
    let Repro::Replayable { case, .. } = repro else { return None };
    let steps = case.get("steps")?.as_array()?;
    let name = |step: &Value| Some(step.get("call")?.get("params")?.get("name")?.as_str()?.to_owned());
    steps.iter().rev().find_map(name)
}

fn only_argument(repro: &Repro) -> Option<String> {
    let Repro::Replayable { case, .. } = repro else { return None };
    let [step] = &case.get("steps")?.as_array()?[..] else { return None };
    let arguments = step.get("call")?.get("params")?.get("arguments").and_then(Value::as_object)?;
    (arguments.len() == 1).then(|| arguments.keys().next().cloned()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Cause, Evidence, Origin};
    use crate::plan::{Case, Intent};
    use serde_json::json;

    fn finding(kind: Kind, arguments: Value, stderr: &str) -> Finding {
        let case = Case::tool("divide", arguments, Intent::Valid, 0);
        let origin = Origin::new(Some("s"), &kind, &case.subject, &Cause::exit(None, ""));
        let mut finding =
            Finding::new(&origin, kind, "the server exited with code 1", Repro::new(&case, &case));
        finding.evidence = vec![Evidence { label: "stderr".to_owned(), text: stderr.to_owned() }];
        finding
    }

    #[test]
    fn a_finding_says_what_happened_and_where_to_begin() {
        let trace = "Traceback (most recent call last):\n  File \"/srv/app/main.py\", line 9, in serve\n    go()\n  \
                     File \"/srv/app/sums.py\", line 41, in divide\n    a / b\nZeroDivisionError: division by zero\n";
        let told = Told::new(&finding(Kind::Crash, json!({ "a": 1, "b": 0 }), trace));
        assert_eq!(told.what, "A call to `divide` crashes the server: the server exited with code 1.");
        assert!(told.change.ends_with("Start at `divide` in `sums.py:41`."), "{}", told.change);
        assert_eq!(told.heading(), "crash in divide");
    }

    #[test]
    fn a_function_without_a_name_is_found_by_its_line() {
        let trace = "/srv/app.js:14\n  new RegExp(p)\n  ^\nSyntaxError: nothing to repeat\n    at new RegExp (<anonymous>)\n    \
                     at /srv/app.js:14:70\n    at Interface.<anonymous> (/srv/app.js:21:9)\n";
        let told = Told::new(&finding(Kind::Crash, json!({ "p": "*" }), trace));
        assert!(told.change.ends_with("Start at `app.js:14`."), "{}", told.change);
        let named =
            "Error: late\n    at Timer.fire (/srv/app.js:16:59)\n    at list (node:internal/timers:581:17)\n";
        let told = Told::new(&finding(Kind::Crash, json!({}), named));
        assert!(told.change.ends_with("Start at `Timer.fire` in `app.js:16`."), "{}", told.change);
    }

    #[test]
    fn what_shows_in_several_tools_is_told_of_the_one_that_is_called() {
        let mut finding = finding(Kind::Crash, json!({ "b": 0 }), "");
        finding.subject = Subject::Server;
        finding.tools = vec!["add".to_owned(), "divide".to_owned()];
        let told = Told::new(&finding);
        assert_eq!(told.what, "A call to `divide` crashes the server: the server exited with code 1.");
    }

    #[test]
    fn what_there_is_to_say_of_one_finding_stands_before_what_holds_for_all() {
        let mut one = finding(Kind::Injection, json!({}), "");
        one.details = "To fetch is its job.".to_owned();
        assert!(Told::new(&one).why.starts_with("To fetch is its job. Whoever writes the argument"));
    }

    #[test]
    fn without_a_trace_the_only_argument_is_named() {
        let told = Told::new(&finding(Kind::Crash, json!({ "b": 0 }), ""));
        assert!(told.change.ends_with("Start with how the argument `b` is used."), "{}", told.change);
        let two = Told::new(&finding(Kind::Crash, json!({ "a": 1, "b": 0 }), ""));
        assert_eq!(two.change, Kind::Crash.about().change);
    }

    #[test]
    fn a_rule_is_called_by_its_name_and_the_tool_once() {
        let kind = Kind::PropertyFailure { invariant: "error.failure_is_flagged.divide".to_owned() };
        let told = Told::new(&finding(kind, json!({}), ""));
        assert_eq!(told.heading(), "error.failure_is_flagged in divide");
        assert!(told.change.contains("isError: true"));
    }
}
