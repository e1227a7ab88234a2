//! Joins findings of the same bug into one, and puts them in the order in which a report tells them.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Finding, FindingId};
use crate::plan::Subject;

/// Findings of one id become one; the result does not depend on their order.
pub fn merge(findings: impl IntoIterator<Item = Finding>) -> Vec<Finding> {
    let mut by_id: BTreeMap<FindingId, Finding> = BTreeMap::new();
    for finding in findings {
        let merged = match by_id.remove(&finding.id) {
            Some(other) => join(other, finding),
            None => finding,
        };
        by_id.insert(merged.id.clone(), merged);
    }
    let mut merged: Vec<Finding> = by_id.into_values().collect();
    merged.sort_by(|one, other| order(one).cmp(&order(other)));
    merged
}

/// The gravest first, then what belongs together.
fn order(finding: &Finding) -> impl Ord + '_ {
    (Reverse(finding.severity), finding.kind.name(), &finding.subject, &finding.id)
}

/// The one that is easier to see again, with what only the other knows.
fn join(one: Finding, other: Finding) -> Finding {
    let (mut kept, dropped) = if ease(&one) <= ease(&other) { (one, other) } else { (other, one) };
    kept.severity = kept.severity.max(dropped.severity);
    kept.first_seen = earlier(kept.first_seen, dropped.first_seen);
    kept.last_seen = kept.last_seen.max(dropped.last_seen);
    if kept.subject == Subject::Server {
        kept.tools.extend(dropped.tools);
        kept.tools.sort();
        kept.tools.dedup();
    }
    kept
}

/// Less is easier: seen each time before flaky, small before large; the text settles the rest.
fn ease(finding: &Finding) -> impl Ord {
    let bytes = finding.repro.stored_bytes().unwrap_or(u64::MAX);
    let text = serde_json::to_string(finding).expect("a finding has only text for keys");
    (!finding.reproduced.always(), bytes, text)
}

/// The earlier of two times; an empty one is not known.
fn earlier(one: String, other: String) -> String {
    [one, other].into_iter().filter(|time| !time.is_empty()).min().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::super::finding::examples::crash;
    use super::*;
    use crate::findings::{Cause, Kind, Origin, Repro, Reproduced};
    use crate::plan::{Case, Intent};
    use crate::target::Severity;
    use serde_json::json;

    fn oversize(tool: &str, server_wide: bool) -> Finding {
        let case = Case::tool(tool, json!({ "q": tool }), Intent::Valid, 1);
        let cause = Cause::rule("no-answer-to-a-large-request", None);
        let cause = if server_wide { cause.server_wide() } else { cause };
        let kind = Kind::Hang { ms: 1 };
        let origin = Origin::new(Some("demo"), &kind, &case.subject, &cause);
        Finding::new(&origin, kind, "no answer", Repro::new(&case, &case))
    }

    #[test]
    fn a_cause_of_the_server_is_one_finding_that_lists_its_tools() {
        let merged = merge(["search", "fetch", "search"].map(|tool| oversize(tool, true)));
        assert_eq!(merged.len(), 1);
        assert_eq!((merged[0].tool.as_deref(), &merged[0].subject), (None, &Subject::Server));
        assert_eq!(merged[0].tools, ["fetch", "search"]);
    }

    #[test]
    fn a_cause_within_tools_is_one_finding_for_each() {
        assert_eq!(merge(["search", "fetch"].map(|tool| oversize(tool, false))).len(), 2);
    }

    #[test]
    fn of_one_bug_the_smallest_repro_is_kept_with_the_whole_span_of_time() {
        let mut large = crash("search", json!({ "q": "abcdefghijklmnop" }));
        (large.first_seen, large.last_seen) = ("2026-01-01".to_owned(), "2026-01-02".to_owned());
        large.severity = Severity::Critical;
        let mut small = crash("search", json!({ "q": "a" }));
        (small.first_seen, small.last_seen) = ("2026-01-03".to_owned(), "2026-01-04".to_owned());
        small.severity = Severity::Low;
        let merged = merge([large.clone(), small.clone()]);
        assert_eq!(merged, merge([small.clone(), large]));
        assert_eq!(merged[0].repro, small.repro);
        assert_eq!((&*merged[0].first_seen, &*merged[0].last_seen), ("2026-01-01", "2026-01-04"));
        assert_eq!(merged[0].severity, Severity::Critical);
    }

    #[test]
    fn what_is_seen_each_time_is_kept_before_what_is_smaller() {
        let mut sure = crash("search", json!({ "q": "abcdefghijklmnop" }));
        sure.reproduced = Reproduced { k: 3, n: 3 };
        let mut flaky = crash("search", json!({}));
        flaky.reproduced = Reproduced { k: 1, n: 3 };
        assert_eq!(merge([flaky, sure.clone()])[0].repro, sure.repro);
    }

    #[test]
    fn the_gravest_come_first() {
        let mut low = crash("a", json!({}));
        low.severity = Severity::Low;
        let merged = merge([low, crash("b", json!({}))]);
        assert_eq!(merged.iter().map(|finding| finding.place()).collect::<Vec<_>>(), ["b", "a"]);
    }
}
