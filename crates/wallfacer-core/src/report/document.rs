//! A run as one JSON document. The types here are its format; `schemas/report.schema.json` is made from them.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use super::Report;
use crate::findings::Finding;
use crate::summary::{Accepted, Conclusion, NotTested, Note, Run, Stale, StepDone, Summary, ToolSummary};
use crate::target::{Era, Severity, Shown};
use crate::world::Access;

/// The whole run; keys stand in a fixed order.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "A run of wallfacer"))]
pub struct Document<'a> {
    /// The version that made this document.
    wallfacer: &'static str,
    run: Course<'a>,
    target: &'a Shown,
    server: Identity<'a>,
    verdict: Verdict,
    summary: Counts<'a>,
    tools: BTreeMap<&'a str, Counts<'a>>,
    findings: Vec<Told<'a>>,
    flaky: Vec<Told<'a>>,
    accepted: Vec<Known<'a>>,
    stale: &'a [Stale],
    notes: &'a [Note],
    not_tested: &'a [NotTested],
    /// Of `behave`: what the server was seen to do, by tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "serde_json::Map<String, Value>"))]
    behaviour: Option<Value>,
}

/// How the run went.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Course<'a> {
    command: &'a str,
    seed: u64,
    /// RFC 3339, in UTC.
    started: &'a str,
    duration_ms: u64,
    budget_ms: Option<u64>,
    /// Whether time ran out before the plan did.
    out_of_time: bool,
    /// Whether a signal ended the run.
    interrupted: bool,
    /// How the server was confined.
    sandbox: String,
    /// What of its doing was seen.
    observed: Vec<&'static str>,
    /// What stood in the way of more.
    remarks: &'a [String],
    access: &'a Access,
    /// Servers that were started.
    lives: u64,
    /// How many servers were started for each finding; none where nothing was found.
    starts_per_finding: Option<f64>,
    /// How many for each thousand calls; none where nothing was called.
    starts_per_1000_calls: Option<f64>,
    steps: Vec<Step>,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Step {
    name: &'static str,
    duration_ms: u64,
}

/// What the server calls itself, and what was spoken with it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Identity<'a> {
    name: Option<&'a str>,
    version: Option<&'a str>,
    protocol: &'static str,
    era: Era,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Verdict {
    conclusion: Conclusion,
    /// Findings below it fail nothing.
    threshold: Severity,
}

/// What became of calls.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Counts<'a> {
    #[serde(flatten)]
    calls: &'a Summary,
    valid_calls: u64,
    valid_completed: u64,
    /// The share of valid calls that were answered without an error; null where there were none.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    valid_call_success: Option<f64>,
}

/// A finding, always with the line that shows it again; a file leaves that out where the id says all.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Told<'a> {
    #[serde(flatten)]
    finding: &'a Finding,
    replay: String,
}

/// A finding that the baseline accepts.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Known<'a> {
    #[serde(flatten)]
    told: Told<'a>,
    accepted_because: &'a str,
}

pub fn document(report: &Report<'_>) -> Value {
    // As a value, and not at once as text, for there the line of a finding stands once.
    serde_json::to_value(Document::new(report)).expect("a document has only text for keys")
}

impl<'a> Document<'a> {
    fn new(report: &Report<'a>) -> Document<'a> {
        let run = report.run;
        let told = |findings: &'a [Finding]| findings.iter().map(Told::new).collect();
        Document {
            wallfacer: env!("CARGO_PKG_VERSION"),
            run: Course::of(run),
            target: &run.target,
            server: Identity {
                name: run.server.name.as_deref(),
                version: run.server.version.as_deref(),
                protocol: run.server.protocol.as_str(),
                era: run.server.era(),
            },
            verdict: Verdict { conclusion: run.conclusion(report.threshold), threshold: report.threshold },
            summary: Counts::of_run(run),
            tools: run.tools.iter().map(|(name, tool)| (name.as_str(), Counts::of_tool(tool))).collect(),
            findings: told(&run.findings),
            flaky: told(&run.flaky),
            accepted: run.accepted.iter().map(Known::new).collect(),
            stale: &run.stale,
            notes: &run.notes,
            not_tested: &run.not_tested,
            behaviour: report.behaviour.map(|behaviour| behaviour.shown()),
        }
    }
}

impl<'a> Course<'a> {
    fn of(run: &'a Run) -> Course<'a> {
        let standing = &run.server.standing;
        let step = |step: &StepDone| Step { name: step.name, duration_ms: millis(step.took) };
        Course {
            command: run.command,
            seed: run.seed,
            started: &run.started,
            duration_ms: millis(run.took),
            budget_ms: run.budget.map(millis),
            out_of_time: run.out_of_time,
            interrupted: run.interrupted,
            sandbox: standing.to_string(),
            observed: standing.watched(),
            remarks: &standing.remarks,
            access: &standing.access,
            lives: run.lives,
            starts_per_finding: rate(run.lives, run.findings.len() as u64),
            starts_per_1000_calls: rate(run.lives * 1_000, run.summary.calls),
            steps: run.steps.iter().map(step).collect(),
        }
    }
}

/// So many for each, to two places.
fn rate(number: u64, each: u64) -> Option<f64> {
    (each > 0).then(|| (number as f64 / each as f64 * 100.0).round() / 100.0)
}

impl<'a> Counts<'a> {
    fn of_run(run: &'a Run) -> Counts<'a> {
        let valid = run.tools.values().map(|tool| tool.valid_calls).sum();
        let worked = run.tools.values().map(|tool| tool.valid_completed).sum();
        Counts::new(&run.summary, valid, worked)
    }

    fn of_tool(tool: &'a ToolSummary) -> Counts<'a> {
        Counts::new(&tool.calls, tool.valid_calls, tool.valid_completed)
    }

    fn new(calls: &'a Summary, valid_calls: u64, valid_completed: u64) -> Counts<'a> {
        // Three digits are what a reader compares; more would only differ from machine to machine.
        let share = || (valid_completed as f64 / valid_calls as f64 * 1e3).round() / 1e3;
        let valid_call_success = (valid_calls > 0).then(share);
        Counts { calls, valid_calls, valid_completed, valid_call_success }
    }
}

impl<'a> Told<'a> {
    fn new(finding: &'a Finding) -> Told<'a> {
        Told { finding, replay: finding.replay_line() }
    }
}

impl<'a> Known<'a> {
    fn new(accepted: &'a Accepted) -> Known<'a> {
        Known { told: Told::new(&accepted.finding), accepted_because: &accepted.reason }
    }
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis() as u64
}
