//! What a command printed, as the result of a call: structured, and in words for those who read.

use serde_json::{Value, json};
use wallfacer_core::report::{Document, Format, Look};
use wallfacer_text::page;

use super::tool::Tool;
use super::typed::Printed;

/// Findings in a structured answer; the resource of the run has all.
const MOST_FINDINGS: usize = 50;
const MOST_GAPS: usize = 50;
/// Letters of a text that is not a report.
const LONGEST_TEXT: usize = 100_000;

/// The result of a call that was made; `report` names the resource of a run.
pub fn answer(tool: Tool, printed: &Printed, report: impl Fn(&Document) -> Option<String>) -> Value {
    match structured(tool, &printed.text, report) {
        Some((value, text)) => json!({
            "content": [{"type": "text", "text": text}],
            "structuredContent": value,
            "isError": false,
        }),
        None => failed(why(printed)),
    }
}

/// The result of a call that could not be made.
pub fn failed(why: &str) -> Value {
    json!({"content": [{"type": "text", "text": why}], "isError": true})
}

fn structured(
    tool: Tool,
    text: &str,
    report: impl Fn(&Document) -> Option<String>,
) -> Option<(Value, String)> {
    let value = || serde_json::from_str::<Value>(text).ok();
    match tool {
        Tool::Check => {
            let document = Document::read(text).ok()?;
            let words = page(&Format::Agent.write_document(&document, None, Look::PLAIN), &[]);
            Some((check(&document, report(&document)), words))
        }
        Tool::Explain if text.trim().is_empty() => None,
        Tool::Explain => {
            let text: String = text.chars().take(LONGEST_TEXT).collect();
            Some((json!({ "text": text }), text))
        }
        Tool::Findings => {
            let findings = value()?["findings"].as_array()?.iter().map(finding).collect::<Vec<Value>>();
            whole(json!({ "findings": findings }))
        }
        Tool::Replay => {
            let told = value()?;
            whole(json!({"id": told["id"], "verdict": told["verdict"], "why": told["why"]}))
        }
        Tool::Doctor => {
            let seen = value()?;
            whole(
                json!({"server": seen["server"], "sandbox": seen["sandbox"], "catalogue": seen["catalogue"]}),
            )
        }
    }
}

/// A value that says all by itself.
fn whole(value: Value) -> Option<(Value, String)> {
    let text = wallfacer_text::json(&value.to_string());
    Some((value, text))
}

fn check(document: &Document, report: Option<String>) -> Value {
    let findings: Vec<Value> = document
        .findings
        .iter()
        .take(MOST_FINDINGS)
        .map(|told| {
            json!({
                "id": told.finding.id,
                "kind": told.finding.kind.name(),
                "severity": told.finding.severity,
                "tool": told.finding.tool,
                "what": told.what,
                "why": told.why,
                "change": told.change,
                "request": told.request,
                "replay": told.replay,
            })
        })
        .collect();
    let gaps = document.not_tested.iter().take(MOST_GAPS);
    let gaps: Vec<String> = gaps.map(|gap| format!("{}: {}", gap.what, gap.why)).collect();
    json!({
        "verdict": document.verdict.conclusion,
        "warning": document.warning(),
        "summary": document.line("").trim(),
        "findings": findings,
        "not_tested": gaps,
        "report": report,
    })
}

/// A stored finding in a list.
fn finding(stored: &Value) -> Value {
    let wanted = ["id", "kind", "severity", "tool", "message"];
    wanted
        .into_iter()
        .map(|name| (name.to_owned(), stored[name].clone()))
        .collect::<serde_json::Map<_, _>>()
        .into()
}

/// Why a command printed nothing that can be read.
fn why(printed: &Printed) -> &str {
    match printed.said.as_str() {
        "" => "wallfacer ended without a word; run the same command in a terminal to see more",
        said => said,
    }
}
