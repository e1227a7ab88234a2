//! What a run is shown beside: an earlier run, and how all stored runs went.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::report::document::Document;
use crate::report::look::Look;
use crate::report::told::Told;
use crate::report::verdict;

/// Runs in the line of a trend; the latest.
const MOST_RUNS: usize = 100;

/// What stands beside a run.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The heading that the user wants.
    pub title: Option<String>,
    /// The earlier run, and what it is called.
    pub against: Option<(String, Document)>,
    /// All stored runs of the same server, in the order in which they began.
    pub past: Vec<PastRun>,
}

/// One stored run in a line.
#[derive(Debug, Clone, Serialize)]
pub struct PastRun {
    pub id: String,
    pub started: String,
    pub word: &'static str,
    pub findings: usize,
    pub accepted: usize,
    pub calls: u64,
    pub tools_worked: usize,
    pub tools: usize,
}

impl PastRun {
    pub fn new(id: &str, document: &Document) -> PastRun {
        let (tools_worked, tools) = document.worked();
        PastRun {
            id: id.to_owned(),
            started: document.run.started.clone(),
            word: verdict::word(document.verdict.conclusion),
            findings: document.findings.len(),
            accepted: document.accepted.len(),
            calls: document.summary.calls.calls,
            tools_worked,
            tools,
        }
    }
}

impl Comparison {
    /// The same for a person, in a few lines; nothing where there is nothing to compare with.
    pub fn told(&self, now: &Document, look: Look) -> String {
        let Some((name, before)) = &self.against else { return String::new() };
        let [were, are] = [before, now].map(known);
        let new: Vec<&&Told> =
            are.iter().filter(|(id, _)| !were.contains_key(*id)).map(|(_, told)| told).collect();
        let gone: Vec<&&Told> =
            were.iter().filter(|(id, _)| !are.contains_key(*id)).map(|(_, told)| told).collect();
        let same = are.len() - new.len();
        let mut text = format!("\nCompared with {name} ({})\n", before.run.started);
        text += &format!("  {} new, {} not seen any more, {same} the same\n", new.len(), gone.len());
        if now.run.interrupted || now.run.out_of_time {
            text += "  this run was cut short: what was not seen may still be there\n";
        }
        for (word, list) in [("new", &new), ("not seen", &gone)] {
            for told in list.iter() {
                let line =
                    format!("{word}: {} {} ({})", told.finding.severity, told.heading(), told.finding.id);
                text.extend(
                    look.wrapped(&line, 4)
                        .iter()
                        .enumerate()
                        .map(|(index, line)| format!("  {} {line}\n", if index == 0 { "-" } else { " " })),
                );
            }
        }
        text
    }

    pub(super) fn shown(&self, now: &Document) -> Value {
        let against = self.against.as_ref().map(|(name, before)| {
            let [were, are] = [before, now].map(known);
            let told = |told: &&Told| {
                json!({ "id": told.finding.id, "heading": told.heading(), "severity": told.finding.severity })
            };
            let new: Vec<_> = are.iter().filter(|(id, _)| !were.contains_key(*id)).map(|(id, _)| id).collect();
            let gone: Vec<Value> =
                were.iter().filter(|(id, _)| !are.contains_key(*id)).map(|(_, gone)| told(gone)).collect();
            let same = are.keys().filter(|id| were.contains_key(*id)).count();
            json!({
                "name": name, "started": before.run.started, "verdict": verdict::line(before),
                "new": new, "gone": gone, "same": same,
                // A run that was cut short did not look for everything.
                "whole": !now.run.interrupted && !now.run.out_of_time,
            })
        });
        let past = &self.past[self.past.len().saturating_sub(MOST_RUNS)..];
        json!({ "against": against, "past": past })
    }
}

fn known(document: &Document) -> BTreeMap<&str, &Told> {
    let accepted = document.accepted.iter().map(|known| &known.told);
    let all = document.findings.iter().chain(&document.flaky).chain(accepted);
    all.map(|told| (told.finding.id.as_str(), told)).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::findings::{Cause, Finding, Kind, Origin, Repro};
    use crate::plan::{Case, Intent};
    use crate::report::Report;
    use crate::summary::Run;
    use crate::target::{Command, Reach, Severity, Target, Version};
    use crate::wire::Server;

    /// A run that found a crash in each of these tools.
    fn run(tools: &[&str]) -> Run {
        let target = Target::new(Reach::Command(Command::new("server", [""; 0]))).shown();
        let server = Server::from_initialize(&json!({}), Version::V2025_11_25, Duration::ZERO);
        let mut run = Run::empty("check", "2026-01-02T03:04:05Z".to_owned(), target, server);
        let crash = |tool: &&str| {
            let case = Case::tool(tool, json!({}), Intent::Valid, 0);
            let origin = Origin::new(Some("s"), &Kind::Crash, &case.subject, &Cause::exit(None, ""));
            Finding::new(&origin, Kind::Crash, "the server exited", Repro::new(&case, &case))
        };
        run.add_findings(tools.iter().map(crash).collect(), Vec::new());
        run
    }

    fn document(run: &Run) -> Document {
        Report::new(run, Severity::Medium, None).document()
    }

    #[test]
    fn what_is_new_gone_and_the_same_is_told() {
        let (before, mut now) = (document(&run(&["add", "list"])), run(&["add", "remove"]));
        let against = Some(("20260101".to_owned(), before));
        let beside = Comparison { against, ..Comparison::default() };
        let whole = beside.told(&document(&now), Look::PLAIN);
        now.interrupt();
        let part = beside.told(&document(&now), Look::PLAIN);
        insta::assert_snapshot!(format!("{whole}{part}"));
        let shown = beside.shown(&document(&now));
        let counts =
            [&shown["against"]["new"], &shown["against"]["gone"]].map(|list| list.as_array().map(Vec::len));
        assert_eq!((counts, &shown["against"]["whole"]), ([Some(1), Some(1)], &json!(false)));
        assert_eq!(Comparison::default().told(&document(&now), Look::PLAIN), "");
    }
}
