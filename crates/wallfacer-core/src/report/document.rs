//! A run as one JSON document, which is all that any format needs. The types here are its form;
//! `schemas/report.schema.json` is made from them, and a stored run is read back into them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Report;
use super::told::Told;
use super::verdict;
use crate::findings::{Finding, stored_target};
use crate::latency::Latency;
use crate::summary::{
    Accepted, Conclusion, Moment, NotTested, Note, Part, RulesTried, Run, Stale, StepDone, StoredFinding,
    Summary, ToolSummary,
};
use crate::target::{Era, Severity, Shown};
use crate::wire::shortened;
use crate::world::Access;

/// Letters of the line that a report begins with.
const WARNING: usize = 400;

/// The whole run; keys stand in a fixed order.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(title = "A run of wallfacer"))]
pub struct Document {
    /// The version that made this document.
    pub wallfacer: String,
    pub run: Course,
    #[serde(with = "stored_target")]
    #[cfg_attr(test, schemars(with = "Shown"))]
    pub target: Option<Shown>,
    /// The file of the project that names the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub server: Identity,
    pub verdict: Verdict,
    pub summary: Counts,
    pub tools: BTreeMap<String, Counts>,
    pub findings: Vec<Told>,
    pub flaky: Vec<Told>,
    pub accepted: Vec<Known>,
    pub stale: Vec<Stale>,
    /// Which rules were tried.
    #[serde(default)]
    pub rules: RulesTried,
    /// What became of the findings of earlier runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stored: Vec<StoredFinding>,
    pub notes: Vec<Note>,
    pub not_tested: Vec<NotTested>,
    /// What tools were seen to do to files, hosts and programs; tools that nobody watched are not there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub effects: BTreeMap<String, BTreeSet<String>>,
    /// Answers of each tool by how long they took: below 1 ms, 3 ms, 10 ms, 30 ms, 100 ms, 300 ms, 1 s and 3 s, and longer.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latencies: BTreeMap<String, Latency>,
    /// Of `behave`: what the server was seen to do, by tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(with = "serde_json::Map<String, Value>"))]
    pub behaviour: Option<Value>,
    /// When what happened, in the order in which it did.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub timeline: Vec<Moment>,
}

/// How the run went.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Course {
    pub command: String,
    pub seed: u64,
    /// RFC 3339, in UTC.
    pub started: String,
    /// The part of a plan that this run did, where others do the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Part>,
    pub duration_ms: u64,
    pub budget_ms: Option<u64>,
    /// Whether the time limit ended the run before everything that was planned was done.
    pub out_of_time: bool,
    /// Whether a signal ended the run.
    pub interrupted: bool,
    /// How the server was confined.
    pub sandbox: String,
    /// What of its doing was seen.
    pub observed: Vec<String>,
    /// What stood in the way of more.
    pub remarks: Vec<String>,
    pub access: Access,
    /// Servers that were started.
    pub lives: u64,
    /// How many servers were started for each finding; none where nothing was found.
    pub starts_per_finding: Option<f64>,
    /// How many for each thousand calls; none where nothing was called.
    pub starts_per_1000_calls: Option<f64>,
    pub steps: Vec<Step>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    pub name: String,
    pub duration_ms: u64,
}

/// What the server calls itself, and what was spoken with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Identity {
    pub name: Option<String>,
    pub version: Option<String>,
    pub protocol: String,
    pub era: Era,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    pub conclusion: Conclusion,
    /// Findings below it fail nothing.
    pub threshold: Severity,
    /// Whether anything that the server offers was called.
    #[serde(default)]
    pub tested: bool,
    /// Why nothing is known although calls were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of calls.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Counts {
    #[serde(flatten)]
    pub calls: Summary,
    pub valid_calls: u64,
    pub valid_completed: u64,
    /// The share of valid calls that were answered without an error; null where there were none.
    #[cfg_attr(test, schemars(range(min = 0, max = 1)))]
    pub valid_call_success: Option<f64>,
}

/// A finding that the baseline accepts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Known {
    #[serde(flatten)]
    pub told: Told,
    pub accepted_because: String,
}

impl Document {
    pub fn new(report: &Report<'_>) -> Document {
        let run = report.run;
        // The gravest first, also of a run that was stopped before it put them in order.
        let told = |findings: &[Finding]| {
            let mut told: Vec<Told> = findings.iter().map(Told::new).collect();
            told.sort_by_key(|told| std::cmp::Reverse(told.finding.severity));
            told
        };
        let seen = run.locked.iter().flat_map(|lock| &lock.tools);
        let effects = seen.filter_map(|(name, tool)| Some((name.clone(), tool.effects.clone()?)));
        Document {
            wallfacer: env!("CARGO_PKG_VERSION").to_owned(),
            run: Course::of(run),
            target: Some(run.target.clone()),
            source: report.source.clone(),
            server: Identity {
                name: run.server.name.clone(),
                version: run.server.version.clone(),
                protocol: run.server.protocol.as_str().to_owned(),
                era: run.server.era(),
            },
            verdict: Verdict {
                conclusion: run.conclusion(report.threshold),
                threshold: report.threshold,
                tested: run.has_tested(),
                reason: run.in_vain.map(str::to_owned),
            },
            summary: Counts::of_run(run),
            tools: tools(run),
            findings: told(&run.findings),
            flaky: told(&run.flaky),
            accepted: run.accepted.iter().map(Known::new).collect(),
            stale: run.stale.clone(),
            rules: run.rules.clone(),
            stored: run.stored.clone(),
            notes: run.notes.clone(),
            not_tested: run.not_tested.clone(),
            effects: effects.collect(),
            latencies: run.latencies.clone(),
            behaviour: report.behaviour.map(|behaviour| behaviour.shown()),
            timeline: run.timeline.clone(),
        }
    }

    /// As a value, and not at once as text, for there the replay line of a finding stands once.
    pub fn value(&self) -> Value {
        serde_json::to_value(self).expect("a document has only text for keys")
    }

    /// A document that was written before, perhaps not by us. What it says of a finding in our own words is said anew:
    /// whoever reads a report, or acts on it, takes them for ours.
    pub fn read(text: &str) -> Result<Document, serde_json::Error> {
        let mut document: Document = serde_json::from_str(text)?;
        let accepted = document.accepted.iter_mut().map(|known| &mut known.told);
        let all = document.findings.iter_mut().chain(&mut document.flaky).chain(accepted);
        all.for_each(|told| *told = Told::new(&told.finding));
        Ok(document)
    }

    /// The run in one line, under the name that it is kept by.
    pub fn line(&self, name: &str) -> String {
        format!("{name}  {}\n", wallfacer_text::shown(&verdict::line(self)))
    }

    /// What every report begins with, in one line: that a file of the project opened the sandbox.
    pub fn warning(&self) -> Option<String> {
        self.run.access.warning().map(|warning| shortened(&warning, WARNING))
    }

    /// How it ended, in one line.
    pub fn said(&self) -> String {
        verdict::line(self)
    }

    /// Findings that fail the run.
    pub fn grave(&self) -> usize {
        self.findings.iter().filter(|told| told.finding.severity >= self.verdict.threshold).count()
    }

    /// What `lives` counts: a server that runs already is never started, only spoken to anew.
    pub(super) fn beginning(&self) -> &'static str {
        let runs_already = self.target.as_ref().is_some_and(|target| target.command.is_empty());
        if runs_already { "session" } else { "server start" }
    }

    /// Tools of which at least one valid call succeeded, and all tools that were called.
    pub fn worked(&self) -> (usize, usize) {
        (self.tools.values().filter(|tool| tool.valid_completed > 0).count(), self.tools.len())
    }
}

/// The tools that the server lists, also those that were not called. A rule may call one that is not there.
fn tools(run: &Run) -> BTreeMap<String, Counts> {
    let listed = run.locked.as_ref().map(|lock| &lock.tools);
    let is_listed = |name: &str| listed.is_none_or(|listed| listed.contains_key(name));
    let called = run.tools.iter().filter(|(name, _)| is_listed(name));
    let mut tools: BTreeMap<String, Counts> =
        called.map(|(name, tool)| (name.clone(), Counts::of_tool(tool))).collect();
    for name in listed.into_iter().flat_map(BTreeMap::keys) {
        tools.entry(name.clone()).or_insert_with(|| Counts::of_tool(&ToolSummary::default()));
    }
    tools
}

impl Course {
    fn of(run: &Run) -> Course {
        let standing = &run.server.standing;
        let step = |step: &StepDone| Step { name: step.name.to_owned(), duration_ms: millis(step.took) };
        Course {
            command: run.command.to_owned(),
            seed: run.seed,
            started: run.started.clone(),
            shard: run.part.clone(),
            duration_ms: millis(run.took),
            budget_ms: run.budget.map(millis),
            out_of_time: run.out_of_time,
            interrupted: run.interrupted,
            sandbox: standing.to_string(),
            observed: standing.watched().into_iter().map(str::to_owned).collect(),
            remarks: standing.remarks.clone(),
            access: standing.access.clone(),
            lives: run.lives,
            starts_per_finding: rate(run.lives, run.findings.len() as u64),
            starts_per_1000_calls: rate(run.lives * 1_000, run.summary.calls),
            steps: run.steps.iter().map(step).collect(),
        }
    }
}

/// So many for each, to two places.
pub(super) fn rate(number: u64, each: u64) -> Option<f64> {
    (each > 0).then(|| (number as f64 / each as f64 * 100.0).round() / 100.0)
}

impl Counts {
    fn of_run(run: &Run) -> Counts {
        let valid = run.tools.values().map(|tool| tool.valid_calls).sum();
        let worked = run.tools.values().map(|tool| tool.valid_completed).sum();
        Counts::new(&run.summary, valid, worked)
    }

    fn of_tool(tool: &ToolSummary) -> Counts {
        Counts::new(&tool.calls, tool.valid_calls, tool.valid_completed)
    }

    pub(super) fn new(calls: &Summary, valid_calls: u64, valid_completed: u64) -> Counts {
        // Three digits are what a reader compares; more would only differ from machine to machine.
        let share = || (valid_completed as f64 / valid_calls as f64 * 1e3).round() / 1e3;
        let valid_call_success = (valid_calls > 0).then(share);
        Counts { calls: calls.clone(), valid_calls, valid_completed, valid_call_success }
    }
}

impl Known {
    fn new(accepted: &Accepted) -> Known {
        Known { told: Told::new(&accepted.finding), accepted_because: accepted.reason.clone() }
    }
}

fn millis(duration: Duration) -> u64 {
    duration.as_millis() as u64
}
