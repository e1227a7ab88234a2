//! A tool that fails because a call of another one spoiled the server: the one that did it is told, not the one that suffers.

use std::collections::BTreeSet;

use crate::findings::{Finding, FindingId, Kind};
use crate::judge::health_call;
use crate::plan::{Case, Step};

/// Whose calls came before, and which tool failed after them.
type Tale = (BTreeSet<String>, String);

/// What was proven of both.
#[derive(Debug, Default)]
pub struct Spoiled {
    told: BTreeSet<Tale>,
    suffering: Vec<(FindingId, Tale)>,
}

impl Spoiled {
    /// A finding was proven by this case.
    pub fn add(&mut self, finding: &Finding, case: &Case) {
        if let Some((health, between)) = health_call(case) {
            self.told.extend(tale(between, health));
        } else if finding.kind == Kind::InternalError
            && !case.prelude.is_empty()
            && let [only] = &case.steps[..]
        {
            self.suffering.extend(tale(&case.prelude, only).map(|tale| (finding.id.clone(), tale)));
        }
    }

    /// Without those that only suffer.
    pub fn without_suffering(&self, findings: Vec<Finding>) -> Vec<Finding> {
        let suffers = |finding: &Finding| {
            self.suffering.iter().any(|(id, tale)| *id == finding.id && self.told.contains(tale))
        };
        findings.into_iter().filter(|finding| !suffers(finding)).collect()
    }
}

fn tale(before: &[Step], failed: &Step) -> Option<Tale> {
    let tools = before.iter().filter_map(Step::tool).map(str::to_owned).collect();
    Some((tools, failed.tool()?.to_owned()))
}
