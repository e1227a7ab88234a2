//! Compares two sets of findings: what is new, what is gone, what stayed, and what was only not seen.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;

use super::{Finding, FindingId};

/// Each list is in the order of the ids.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff<'a> {
    /// Only in the candidate: regressions.
    pub new: Vec<&'a Finding>,
    /// Only in the base, and tried again since.
    pub fixed: Vec<&'a Finding>,
    /// Only in the base, and not tried: nobody knows.
    pub not_seen: Vec<&'a Finding>,
    /// In both, as the candidate shows them.
    pub persisting: Vec<&'a Finding>,
}

/// What a run has tried, as its document says. A corpus says nothing of that.
#[derive(Debug, Clone, Default)]
pub struct Tried {
    /// Whether the plan was run to its end; with the same seed it has the same cases.
    complete: bool,
    seed: u64,
    /// Tools that were called.
    tools: BTreeSet<String>,
    /// Findings of earlier runs that were tried again and did not show.
    gone: BTreeSet<String>,
}

impl Tried {
    /// Reads the document of a run; what is none tells nothing.
    pub fn of_document(document: &Value) -> Tried {
        let run = &document["run"];
        let is_whole = |key: &str| run[key] == Value::Bool(false);
        let called =
            |(_, counts): &(&String, &Value)| counts["calls"].as_u64().is_some_and(|calls| calls > 0);
        let tools = document["tools"].as_object().into_iter().flatten().filter(called);
        let stored = document["stored"].as_array().into_iter().flatten();
        let gone =
            stored.filter(|stored| stored["became"] == "gone").filter_map(|stored| stored["id"].as_str());
        Tried {
            complete: is_whole("out_of_time") && is_whole("interrupted"),
            seed: run["seed"].as_u64().unwrap_or_default(),
            tools: tools.map(|(name, _)| name.clone()).collect(),
            gone: gone.map(str::to_owned).collect(),
        }
    }

    fn has(&self, finding: &Finding) -> bool {
        let called = |tool: &String| self.tools.contains(tool);
        let same_cases =
            self.complete && self.seed == finding.seed && finding.tool.as_ref().is_none_or(called);
        same_cases || self.gone.contains(finding.id.as_str())
    }
}

/// What `candidate` has and has not of what `base` had.
pub fn diff<'a>(base: &'a [Finding], candidate: &'a [Finding], tried: &Tried) -> Diff<'a> {
    let (base, candidate) = (by_id(base), by_id(candidate));
    let is_in = |finding: &Finding, those: &BTreeMap<&FindingId, &Finding>| {
        those.contains_key(&finding.id) || those.values().any(|other| other.is_same_as(finding))
    };
    let only = |these: &BTreeMap<_, &'a Finding>, those: &BTreeMap<&FindingId, &'a Finding>| {
        these.values().copied().filter(|finding| !is_in(finding, those)).collect::<Vec<_>>()
    };
    let both = candidate.values().copied().filter(|finding| is_in(finding, &base));
    let (fixed, not_seen) = only(&base, &candidate).into_iter().partition(|finding| tried.has(finding));
    Diff { new: only(&candidate, &base), fixed, not_seen, persisting: both.collect() }
}

fn by_id(findings: &[Finding]) -> BTreeMap<&FindingId, &Finding> {
    findings.iter().map(|finding| (&finding.id, finding)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::examples::crash;
    use super::*;
    use crate::target::Severity;
    use serde_json::json;

    fn findings() -> [Finding; 3] {
        let mut low = crash("fetch", json!({}));
        low.severity = Severity::Low;
        [crash("search", json!({ "q": 1 })), low, crash("write", json!({}))]
    }

    #[test]
    fn what_is_new_gone_and_persisting_is_told_by_the_id() {
        let [one, two, three] = findings();
        let (base, candidate) =
            ([one.clone(), two.clone()], [three.clone(), crash("search", json!({ "q": 2 }))]);
        let changes = diff(&base, &candidate, &Tried::default());
        assert_eq!((changes.new, changes.not_seen), (vec![&three], vec![&two]));
        assert_eq!(changes.persisting, [&candidate[1]], "as the candidate shows it");
    }

    #[test]
    fn only_what_was_tried_and_is_gone_is_fixed() {
        let base = [crash("fetch", json!({}))];
        let id = base[0].id.as_str();
        let run = |out_of_time: bool, seed: u64| {
            json!({
                "run": { "seed": seed, "out_of_time": out_of_time, "interrupted": false },
                "tools": { "fetch": { "calls": 3 } },
            })
        };
        let mut retried = run(true, 9);
        retried["stored"] = json!([{ "id": id, "about": "", "became": "gone" }]);
        for (document, fixed) in [
            (run(false, 0), true),
            (run(true, 0), false),
            (run(false, 1), false),
            (retried, true),
            (json!({ "findings": [] }), false),
        ] {
            let changes = diff(&base, &[], &Tried::of_document(&document));
            assert_eq!(
                (changes.fixed.len() == 1, changes.not_seen.len() == 1),
                (fixed, !fixed),
                "{document}"
            );
        }
    }

    #[test]
    fn another_payload_timeout_or_seed_is_no_change() {
        let base = [crash("search", json!({ "q": "x" }))];
        let candidate = [Finding { seed: 99, ..crash("search", json!({ "other": ["y"] })) }];
        let changes = diff(&base, &candidate, &Tried::default());
        assert_eq!((changes.new.len(), changes.not_seen.len(), changes.persisting.len()), (0, 0, 1));
    }
}
