//! Makes one finding of the server of the findings of its tools, where one cause shows in many of them.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::{Cause, Finding, FindingId, Kind, Origin, Repro};
use crate::plan::Subject;

/// Tools or other subjects in which a cause that names its place in the code must show.
const SAME_PLACE: usize = 2;
/// Tools in which any other cause must show: two may well have a fault each.
const SAME_WORDS: usize = 3;

type Key = (&'static str, Cause);
/// The place among what was suspected: which of several shows the cause must not depend on which was proven first.
type Number = (usize, u64);

/// Findings with what they come from.
#[derive(Debug, Default)]
pub struct Shared {
    findings: Vec<(Number, Origin, Finding)>,
    /// Where each cause shows.
    subjects: BTreeMap<Key, BTreeSet<Subject>>,
}

impl Shared {
    /// Adds a finding. Gives it as it is to be told now, and the ids of those that it stands for from now on.
    pub fn add(
        &mut self,
        number: Number,
        origin: Origin,
        finding: Finding,
        server: Option<&str>,
    ) -> (Finding, Vec<FindingId>) {
        let key = (finding.kind.name(), origin.cause().clone());
        let subjects = self.subjects.entry(key.clone()).or_default();
        subjects.insert(origin.subject().clone());
        let told = widened(&origin, finding.clone(), subjects, server);
        let same = self.findings.iter().filter(|(_, origin, other)| {
            (other.kind.name(), origin.cause()) == (key.0, &key.1) && other.id != told.id
        });
        let replaced = same.filter(|_| told.subject == Subject::Server && finding.subject != Subject::Server);
        let replaced = replaced.map(|(_, _, other)| other.id.clone()).collect();
        self.findings.push((number, origin, finding));
        (told, replaced)
    }

    /// Whether this is known to be a matter of the server already; then it need not be proven for this subject too.
    pub fn explains(&mut self, kind: &Kind, cause: &Cause, subject: &Subject) -> bool {
        let shared = may_be_shared(kind);
        match self.subjects.get_mut(&(kind.name(), cause.clone())) {
            Some(subjects) if shared && is_of_the_server(subjects, cause) => {
                subjects.insert(subject.clone());
                true
            }
            _ => false,
        }
    }

    /// One more tool in which a finding of the server shows.
    pub fn shows_in(&mut self, id: &FindingId, tool: &str) {
        let known = self.findings.iter_mut().map(|(_, _, finding)| finding);
        for finding in
            known.filter(|finding| finding.id == *id && !finding.tools.iter().any(|known| known == tool))
        {
            finding.tools.push(tool.to_owned());
            finding.tools.sort();
        }
    }

    /// Whether the same was proven elsewhere, so that a small case of it is at hand.
    pub fn has(&self, kind: &Kind, cause: &Cause) -> bool {
        may_be_shared(kind) && self.subjects.contains_key(&(kind.name(), cause.clone()))
    }

    /// All findings; those of one cause as one.
    pub fn into_findings(mut self, server: Option<&str>) -> Vec<Finding> {
        self.findings.sort_by_key(|(number, _, _)| *number);
        let subjects = self.subjects;
        let told = self.findings.into_iter().map(|(_, origin, finding)| {
            let key = (finding.kind.name(), origin.cause().clone());
            match subjects.get(&key) {
                Some(subjects) => widened(&origin, finding, subjects, server),
                None => finding,
            }
        });
        told.collect()
    }
}

/// The finding, as one of the server where its cause shows in so many subjects.
fn widened(origin: &Origin, finding: Finding, subjects: &BTreeSet<Subject>, server: Option<&str>) -> Finding {
    match may_be_shared(&finding.kind) && is_of_the_server(subjects, origin.cause()) {
        true => of_the_server(origin, finding, subjects, server),
        false => finding,
    }
}

/// Silence has no cause that could be told from another.
fn may_be_shared(kind: &Kind) -> bool {
    !matches!(kind, Kind::Hang { .. })
}

fn is_of_the_server(subjects: &BTreeSet<Subject>, cause: &Cause) -> bool {
    let needed = if cause.names_its_place() { SAME_PLACE } else { SAME_WORDS };
    subjects.len() >= needed
}

fn of_the_server(
    origin: &Origin,
    finding: Finding,
    subjects: &BTreeSet<Subject>,
    server: Option<&str>,
) -> Finding {
    let origin = Origin::new(server, &finding.kind, &Subject::Server, origin.cause());
    let mut finding = finding;
    finding.id = origin.id();
    finding.subject = Subject::Server;
    finding.tool = None;
    finding.tools = subjects.iter().filter_map(|subject| subject.tool().map(str::to_owned)).collect();
    if let Repro::Replayable { case, .. } = &mut finding.repro {
        case["subject"] = serde_json::to_value(Subject::Server).expect("a subject is plain data");
    }
    finding
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Given, merge};
    use crate::plan::{Case, Intent};
    use serde_json::json;

    fn add(shared: &mut Shared, kind: &Kind, tool: &str, cause: &Cause) -> (Finding, Vec<FindingId>) {
        let case = Case::tool(tool, json!({ "q": tool }), Intent::Valid, 1);
        let origin = Origin::new(Some("demo"), kind, &case.subject, cause);
        let finding = Finding::new(&origin, kind.clone(), "wrong", Repro::new(&case, &case));
        let number = (0, shared.findings.len() as u64);
        shared.add(number, origin, finding, Some("demo"))
    }

    fn merged(kind: &Kind, cause: &Cause, tools: &[&str]) -> Vec<Finding> {
        let mut shared = Shared::default();
        tools.iter().for_each(|tool| drop(add(&mut shared, kind, tool, cause)));
        merge(shared.into_findings(Some("demo")))
    }

    fn thrown() -> Cause {
        let text = "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in f\nKeyError: 'x'\n";
        Cause::error(-32603, text, &Given::default())
    }

    #[test]
    fn one_place_in_two_tools_is_one_finding_of_the_server_that_replays_as_such() {
        let merged = merged(&Kind::InternalError, &thrown(), &["search", "fetch"]);
        assert_eq!(merged.len(), 1);
        assert_eq!((merged[0].tools.len(), &merged[0].subject), (2, &Subject::Server));
        assert_eq!(merged[0].repro.case().unwrap().subject, Subject::Server);
    }

    #[test]
    fn the_same_words_in_two_tools_may_be_two_faults() {
        let cause = Cause::error(-32603, "it failed", &Given::default());
        assert_eq!(merged(&Kind::InternalError, &cause, &["search", "fetch"]).len(), 2);
        assert_eq!(merged(&Kind::InternalError, &cause, &["search", "fetch", "list"]).len(), 1);
    }

    #[test]
    fn silences_are_never_one() {
        assert_eq!(merged(&Kind::Hang { ms: 1 }, &Cause::silence(), &["a", "b", "c"]).len(), 3);
    }

    #[test]
    fn what_is_told_at_once_has_the_id_that_it_keeps() {
        let mut shared = Shared::default();
        let (first, nothing) = add(&mut shared, &Kind::InternalError, "search", &thrown());
        let (second, replaced) = add(&mut shared, &Kind::InternalError, "fetch", &thrown());
        assert_eq!((nothing, replaced), (Vec::new(), vec![first.id]));
        let merged = merge(shared.into_findings(Some("demo")));
        assert_eq!(merged.iter().map(|finding| &finding.id).collect::<Vec<_>>(), [&second.id]);
    }

    #[test]
    fn what_is_known_of_the_server_needs_no_proof_in_a_further_tool() {
        let (mut shared, cause) = (Shared::default(), thrown());
        let other = Subject::Tool("list".to_owned());
        add(&mut shared, &Kind::InternalError, "search", &cause);
        assert!(!shared.explains(&Kind::InternalError, &cause, &other));
        add(&mut shared, &Kind::InternalError, "fetch", &cause);
        assert!(shared.explains(&Kind::InternalError, &cause, &other));
        assert_eq!(merge(shared.into_findings(None))[0].tools, ["fetch", "list", "search"]);
    }
}
