//! A run as one JSON document, and the JSON Schema of such documents.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::Report;
use crate::findings::{Finding, finding_schema};
use crate::summary::{Conclusion, Run, Summary, ToolSummary};
use crate::target::Severity;
use crate::world::Access;

/// The whole run; keys stand in a fixed order.
pub fn document(report: &Report<'_>) -> Value {
    let run = report.run;
    let findings = |list: &[Finding]| list.iter().map(finding).collect::<Vec<_>>();
    let accepted = run.accepted.iter().map(|accepted| {
        let mut finding = finding(&accepted.finding);
        finding["accepted_because"] = Value::from(accepted.reason.as_str());
        finding
    });
    let mut document = json!({
        "wallfacer": env!("CARGO_PKG_VERSION"),
        "run": {
            "command": run.command,
            "seed": run.seed,
            "started": run.started,
            "duration_ms": millis(run.took),
            "budget_ms": run.budget.map(millis),
            "out_of_time": run.out_of_time,
            "interrupted": run.interrupted,
            "sandbox": run.server.standing.to_string(),
            "observed": run.server.standing.watched(),
            "remarks": run.server.standing.remarks,
            "access": access(&run.server.standing.access),
            "lives": run.lives,
            "steps": run.steps.iter().map(|step| {
                json!({ "name": step.name, "duration_ms": millis(step.took) })
            }).collect::<Vec<_>>(),
        },
        "target": run.target,
        "server": {
            "name": run.server.name,
            "version": run.server.version,
            "protocol": run.server.protocol.as_str(),
            "era": run.server.era().as_str(),
        },
        "verdict": { "conclusion": word(run.conclusion(report.threshold)), "threshold": report.threshold },
        "summary": summary(run),
        "tools": run.tools.iter().map(|(name, tool)| (name.clone(), tool_counts(tool))).collect::<Map<_, _>>(),
        "findings": findings(&run.findings),
        "flaky": findings(&run.flaky),
        "accepted": accepted.collect::<Vec<_>>(),
        "stale": run.stale,
        "notes": run.notes,
        "not_tested": run.not_tested,
    });
    if let Some(behaviour) = report.behaviour {
        document["behaviour"] = behaviour.shown();
    }
    document
}

/// What of the user's own the server could get at.
pub(super) fn access(access: &Access) -> Value {
    json!({
        "opened": access.opened,
        "kept": access.kept,
        "readable_secrets": access.readable_secrets,
        "replaced": access.replaced,
        "remarks": access.remarks,
    })
}

/// With the line that shows it again, which a file leaves out where the id says all.
fn finding(finding: &Finding) -> Value {
    let mut value = json!(finding);
    value["replay"] = Value::from(finding.replay_line());
    value
}

fn word(conclusion: Conclusion) -> &'static str {
    match conclusion {
        Conclusion::Broken => "failed",
        Conclusion::Stale => "stale",
        Conclusion::Interrupted => "interrupted",
        Conclusion::NotTested => "not_tested",
        Conclusion::Clean => "passed",
    }
}

fn summary(run: &Run) -> Value {
    let valid: u64 = run.tools.values().map(|tool| tool.valid_calls).sum();
    let worked: u64 = run.tools.values().map(|tool| tool.valid_completed).sum();
    let mut counts = json!(run.summary);
    counts["valid_calls"] = Value::from(valid);
    counts["valid_completed"] = Value::from(worked);
    counts["valid_call_success"] = share(worked, valid);
    counts
}

fn tool_counts(tool: &ToolSummary) -> Value {
    let mut counts = json!(tool);
    counts["valid_call_success"] = share(tool.valid_completed, tool.valid_calls);
    counts
}

/// Null where there is nothing to have a share of.
fn share(part: u64, whole: u64) -> Value {
    // Three digits are what a reader compares; more would only differ from machine to machine.
    if whole == 0 { Value::Null } else { json!((part as f64 / whole as f64 * 1e3).round() / 1e3) }
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis() as u64
}

/// The JSON Schema of the document.
pub fn report_schema() -> Value {
    let text = || json!({ "type": "string" });
    let optional = || json!({ "type": ["string", "null"] });
    let number = || json!({ "type": "integer", "minimum": 0 });
    let words = || json!({ "type": "array", "items": { "type": "string" } });
    let mut plain = finding_schema();
    let form = plain.as_object_mut().expect("a schema is an object");
    form.remove("$schema");
    let target = form["properties"]["target"].clone();
    let findings = |more: &[&str]| list(with_members(&plain, more));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A run of wallfacer",
        "type": "object",
        "required": [
            "wallfacer", "run", "target", "server", "verdict", "summary", "tools", "findings", "flaky", "accepted",
            "stale", "notes", "not_tested",
        ],
        "additionalProperties": false,
        "properties": {
            "wallfacer": { "type": "string", "description": "The version that made this document." },
            "run": object(json!({
                "command": text(),
                "seed": number(),
                "started": { "type": "string", "description": "RFC 3339, in UTC." },
                "duration_ms": number(),
                "budget_ms": { "type": ["integer", "null"], "minimum": 0 },
                "out_of_time": { "type": "boolean", "description": "Whether time ran out before the plan did." },
                "interrupted": { "type": "boolean", "description": "Whether a signal ended the run." },
                "sandbox": { "type": "string", "description": "How the server was confined." },
                "observed": words(),
                "remarks": list(json!({ "type": "string", "description": "What stood in the way of more." })),
                "access": object(json!({
                    "opened": {
                        "type": ["string", "null"],
                        "description": "How far a file of the project opened the sandbox, and which.",
                    },
                    "kept": list(json!({
                        "type": "string", "description": "What the server saw as it is, although it lies in a hidden place.",
                    })),
                    "readable_secrets": list(json!({
                        "type": "string", "description": "Files among these that look like credentials.",
                    })),
                    "replaced": list(json!({
                        "type": "string", "description": "Inherited variables that it had look-alikes of.",
                    })),
                    "remarks": words(),
                })),
                "lives": { "type": "integer", "minimum": 0, "description": "Servers that were started." },
                "steps": list(object(json!({ "name": text(), "duration_ms": number() }))),
            })),
            "target": target,
            "server": object(json!({
                "name": optional(), "version": optional(), "protocol": text(), "era": { "enum": ["legacy", "modern"] },
            })),
            "verdict": object(json!({
                "conclusion": { "enum": ["failed", "stale", "interrupted", "not_tested", "passed"] },
                "threshold": { "enum": Severity::ALL },
            })),
            "summary": counts(),
            "tools": { "type": "object", "additionalProperties": counts() },
            "findings": findings(&["replay"]),
            "flaky": findings(&["replay"]),
            "accepted": findings(&["replay", "accepted_because"]),
            "stale": list(object(json!({ "id": text(), "about": text() }))),
            "notes": list(object(json!({ "tool": optional(), "text": text() }))),
            "not_tested": list(object(json!({ "what": text(), "why": text() }))),
            "behaviour": { "type": "object", "description": "Of `behave`: what the server was seen to do, by tool." },
        },
    })
}

/// The form of a finding with texts that only the document has.
fn with_members(form: &Value, more: &[&str]) -> Value {
    let mut form = form.clone();
    for name in more {
        form["properties"][*name] = json!({ "type": "string" });
        form["required"].as_array_mut().expect("a list of names").push(Value::from(*name));
    }
    form
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// An object that has all of these members, and no others.
fn object(properties: Value) -> Value {
    let required: Vec<&String> = properties.as_object().into_iter().flat_map(Map::keys).collect();
    json!({ "type": "object", "required": required, "additionalProperties": false, "properties": properties })
}

fn counts() -> Value {
    let counted = json!(Summary::default());
    let names = counted.as_object().into_iter().flat_map(Map::keys).map(String::as_str);
    let names = names.chain(["valid_calls", "valid_completed"]);
    let number = || json!({ "type": "integer", "minimum": 0 });
    let mut properties: Map<String, Value> = names.map(|name| (name.to_owned(), number())).collect();
    let share = json!({
        "type": ["number", "null"],
        "minimum": 0,
        "maximum": 1,
        "description": "The share of valid calls that were answered without an error.",
    });
    properties.insert("valid_call_success".to_owned(), share);
    object(Value::Object(properties))
}
