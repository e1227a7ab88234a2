//! Compares what two servers made of the same call, and charges the first with the differences.

use serde_json::{Map, Value, json};

use super::charge::Charge;
use super::checks::reply;
use crate::catalogue::Tool;
use crate::findings::{Cause, Kind};
use crate::learn::{differences, meaning};
use crate::observe::{Answer, Observation};
use crate::place::{Pattern, Place};
use crate::run::Recording;
use crate::wire::shortened;

const CHECK: &str = "agrees-with-the-other";
const SHOWN: usize = 80;
const SHOWN_REPLY: usize = 2_000;
/// A longer result is compared by its hash: nobody reads where in it two differ.
const MAX_RESULT_BYTES: usize = 1 << 20;
/// Disagreements of one call; further ones are mostly the same thing seen from elsewhere.
const MAX_DISAGREEMENTS: usize = 5;

/// What a server made of a call, as far as two servers are compared by it. How an error is worded or coded is the server's
/// own affair.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    Answered(Value),
    Refused,
    Failed,
    Malformed,
    Silent,
    Gone,
}

/// A place where two replies differ, for whatever reason.
#[derive(Debug, Clone, PartialEq)]
pub struct Disagreement {
    pub place: Place,
    here: String,
    there: String,
}

impl Reply {
    /// The reply to the last step. Where one of two servers speaks a version without structured content, neither is held to
    /// it.
    pub fn of(recording: &Recording, seen: &Observation, with_structured: bool) -> Reply {
        match seen.steps.last().map(|step| &step.answer) {
            Some(Answer::Completed) => match reply::result(recording) {
                Some(result) => Reply::Answered(compared(&result, with_structured)),
                None => Reply::Malformed,
            },
            Some(Answer::ToolError | Answer::Rejected { .. }) => Reply::Refused,
            Some(Answer::Failed { .. }) => Reply::Failed,
            Some(Answer::Malformed) => Reply::Malformed,
            Some(Answer::Silent | Answer::NotAwaited) | None => Reply::Silent,
            Some(Answer::Gone { .. }) => Reply::Gone,
        }
    }

    /// Where it differs from another.
    pub fn differs(&self, other: &Reply) -> Vec<Disagreement> {
        let (Reply::Answered(one), Reply::Answered(two)) = (self, other) else {
            let (here, there) = (self.word().to_owned(), other.word().to_owned());
            let differs = here != there;
            return differs
                .then_some(Disagreement { place: Place::default(), here, there })
                .into_iter()
                .collect();
        };
        // What is said twice differs twice, and is told once.
        let said_twice = is_copy(one) && is_copy(two);
        let differences = differences(one, two).into_iter().map(|difference| Disagreement {
            here: shown(difference.one),
            there: shown(difference.other),
            place: difference.place,
        });
        differences.filter(|each| !said_twice || !content().covers(&each.place)).collect()
    }

    fn word(&self) -> &'static str {
        match self {
            Reply::Answered(_) => "is answered",
            Reply::Refused => "is refused",
            Reply::Failed => "fails inside",
            Reply::Malformed => "is answered by what is no answer",
            Reply::Silent => "is not answered",
            Reply::Gone => "ends the server",
        }
    }

    fn text(&self) -> String {
        match self {
            Reply::Answered(value) => shortened(&value.to_string(), SHOWN_REPLY),
            other => other.word().to_owned(),
        }
    }
}

/// What is held against a server whose replies to one call differ from another's, but for what is ignored.
pub fn disagreements(tool: &str, here: &Reply, there: &Reply, ignored: &[Pattern]) -> Vec<Charge> {
    let all = here.differs(there).into_iter();
    let told = all.filter(|each| !ignored.iter().any(|pattern| pattern.covers(&each.place)));
    let charge = |each: Disagreement| {
        let Disagreement { place, here: one, there: other } = each;
        let (what, message) = match (here, there) {
            (Reply::Answered(_), Reply::Answered(_)) => (
                place.pattern().to_string(),
                format!("`{tool}` answers {one} here and {other} there, at `{place}`"),
            ),
            _ => (format!("{one}, {other}"), format!("a call of `{tool}` {one} here, and {other} there")),
        };
        charge(tool, &what, message).with("here", here.text()).with("there", there.text())
    };
    told.take(MAX_DISAGREEMENTS).map(charge).collect()
}

/// The same for what the two list of a tool.
pub fn listed_disagreements(
    tool: &str,
    here: Option<&Tool>,
    there: Option<&Tool>,
    with_output: bool,
) -> Vec<Charge> {
    let (here, there) = match (here, there) {
        (Some(here), Some(there)) => (here, there),
        (Some(_), None) => {
            return vec![charge(tool, "only here", format!("there is a tool `{tool}` here, and none there"))];
        }
        (None, Some(_)) => {
            return vec![charge(
                tool,
                "only there",
                format!("there is a tool `{tool}` there, and none here"),
            )];
        }
        (None, None) => return Vec::new(),
    };
    let input = |tool: &Tool| meaning(tool.input_schema());
    let output = |tool: &Tool| tool.output_schema().filter(|_| with_output).map_or(Value::Null, meaning);
    let pairs = [("input", input(here), input(there)), ("output", output(here), output(there))];
    let differing = pairs.iter().filter_map(|(which, here, there)| {
        let first = differences(here, there).into_iter().next()?;
        let [one, other] =
            [first.one, first.other].map(|value| shown(value.filter(|value| !value.is_null())));
        let place = &first.place;
        let message =
            format!("the {which} schema of `{tool}` has {one} here and {other} there, at `{place}`");
        Some(charge(tool, &format!("{which} schema {}", place.pattern()), message))
    });
    differing.collect()
}

/// Two tools that disagree are two matters, even where they do so in the same place.
fn charge(tool: &str, what: &str, message: String) -> Charge {
    let cause = Cause::rule("against", Some(&format!("{tool} {what}")));
    Charge::new(CHECK, Kind::Drift, cause, message)
}

/// What of a result is compared, with the JSON in its texts read.
fn compared(result: &Value, with_structured: bool) -> Value {
    let text = result.to_string();
    if text.len() > MAX_RESULT_BYTES {
        return json!({ "bytes": text.len(), "hash": blake3::hash(text.as_bytes()).to_hex().to_string() });
    }
    let mut kept = Map::new();
    if let Some(content) = result.get("content").and_then(Value::as_array) {
        kept.insert("content".to_owned(), content.iter().map(block).collect());
    }
    if let Some(structured) = result.get("structuredContent").filter(|_| with_structured) {
        kept.insert("structuredContent".to_owned(), structured.clone());
    }
    if !reply::is_complete(result) {
        kept.insert("resultType".to_owned(), result["resultType"].clone());
    }
    Value::Object(kept)
}

fn block(block: &Value) -> Value {
    let mut block = block.clone();
    let read =
        block.get("text").and_then(Value::as_str).and_then(|text| serde_json::from_str::<Value>(text).ok());
    if let Value::Object(members) = &mut block {
        members.remove("_meta");
        if let Some(read @ (Value::Object(_) | Value::Array(_))) = read {
            members.insert("text".to_owned(), read);
        }
    }
    block
}

/// Whether the content is nothing but the structured content, as text.
fn is_copy(value: &Value) -> bool {
    let structured = value.get("structuredContent");
    match value.get("content").and_then(Value::as_array).map(Vec::as_slice) {
        Some([only]) => structured.is_some() && only.get("text") == structured,
        _ => false,
    }
}

fn content() -> Pattern {
    Place::default().key("content").pattern()
}

fn shown(value: Option<&Value>) -> String {
    value.map_or("nothing".to_owned(), |value| shortened(&value.to_string(), SHOWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(result: Value) -> Reply {
        Reply::Answered(compared(&result, true))
    }

    fn structured(value: Value) -> Reply {
        answered(
            json!({ "content": [{ "type": "text", "text": value.to_string() }], "structuredContent": value }),
        )
    }

    fn told(here: &Reply, there: &Reply, ignored: &[&str]) -> Vec<String> {
        let ignored: Vec<Pattern> = ignored.iter().map(|text| Pattern::parse(text).unwrap()).collect();
        disagreements("sum", here, there, &ignored).into_iter().map(|charge| charge.message).collect()
    }

    #[test]
    fn a_value_that_differs_is_told_once_with_its_place() {
        let (here, there) =
            (structured(json!({ "sum": 3, "at": 1 })), structured(json!({ "at": 2, "sum": 4 })));
        insta::assert_debug_snapshot!(told(&here, &there, &["$..at"]), @r#"
        [
            "`sum` answers 3 here and 4 there, at `$.structuredContent.sum`",
        ]
        "#);
        assert_eq!(told(&here, &there, &["$.structuredContent"]), Vec::<String>::new());
        assert_eq!(told(&here, &here, &[]), Vec::<String>::new());
    }

    #[test]
    fn an_answer_is_told_from_a_refusal_and_refusals_are_all_alike() {
        insta::assert_debug_snapshot!(told(&structured(json!({})), &Reply::Refused, &[]), @r#"
        [
            "a call of `sum` is answered here, and is refused there",
        ]
        "#);
        assert_eq!(told(&Reply::Refused, &Reply::Refused, &[]), Vec::<String>::new());
    }

    #[test]
    fn json_in_a_text_is_compared_as_json() {
        let text = |text: &str| {
            answered(json!({ "content": [{ "type": "text", "text": text, "_meta": { "a": text } }] }))
        };
        assert_eq!(
            told(&text("{\"a\":1,\"b\":2}"), &text("{ \"b\": 2, \"a\": 1 }"), &[]),
            Vec::<String>::new()
        );
        let prose = told(&text("five"), &text("six"), &[]);
        assert_eq!(prose, ["`sum` answers \"five\" here and \"six\" there, at `$.content[0].text`"]);
    }
}
