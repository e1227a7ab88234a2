//! Compares two sets of findings by their ids: what is new, what is gone, what stayed.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Finding, FindingId};

/// Each list is in the order of the ids.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diff<'a> {
    /// Only in the candidate: regressions.
    pub new: Vec<&'a Finding>,
    /// Only in the base.
    pub fixed: Vec<&'a Finding>,
    /// In both, as the candidate shows them.
    pub persisting: Vec<&'a Finding>,
}

/// What `candidate` has and has not of what `base` had.
pub fn diff<'a>(base: &'a [Finding], candidate: &'a [Finding]) -> Diff<'a> {
    let (base, candidate) = (by_id(base), by_id(candidate));
    let only = |these: &BTreeMap<_, &'a Finding>, those: &BTreeMap<_, _>| {
        these.iter().filter(|(id, _)| !those.contains_key(*id)).map(|(_, finding)| *finding).collect()
    };
    let both = candidate.iter().filter(|(id, _)| base.contains_key(*id)).map(|(_, finding)| *finding);
    Diff { new: only(&candidate, &base), fixed: only(&base, &candidate), persisting: both.collect() }
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
    fn what_is_new_fixed_and_persisting_is_told_by_the_id() {
        let [one, two, three] = findings();
        let (base, candidate) =
            ([one.clone(), two.clone()], [three.clone(), crash("search", json!({ "q": 2 }))]);
        let changes = diff(&base, &candidate);
        assert_eq!((changes.new, changes.fixed), (vec![&three], vec![&two]));
        assert_eq!(changes.persisting, [&candidate[1]], "as the candidate shows it");
    }

    #[test]
    fn another_payload_timeout_or_seed_is_no_change() {
        let base = [crash("search", json!({ "q": "x" }))];
        let candidate = [Finding { seed: 99, ..crash("search", json!({ "other": ["y"] })) }];
        let changes = diff(&base, &candidate);
        assert_eq!((changes.new.len(), changes.fixed.len(), changes.persisting.len()), (0, 0, 1));
    }
}
