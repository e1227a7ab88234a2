//! Tells each bug once: failures of one bug become one finding that lists the tools, arguments and rules in which it shows.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::findings::{Bug, Cause, Evidence, Finding, FindingId, Kind, Origin, Repro, Sighting};
use crate::judge::Charge;
use crate::plan::Subject;
use crate::target::Severity;

/// The label of evidence that lists where else a bug shows.
const SHOWS_IN: &str = "shows in";
/// Lines of that evidence; the rest is counted.
const MAX_LINES: usize = 100;
/// Failures that are remembered. A server with more has made its point.
const MAX_FAILURES: usize = 5_000;
/// The label of the frames that bring a failure about.
pub const FRAMES: &str = "frames";

/// How often what tells a failure is itself told with something else.
const MAX_HOSTS: usize = 4;

/// The place among what was suspected: which of several shows the bug must not depend on which was proven first.
type Number = (usize, u64);

/// A failure that was seen, with the finding where it was also proven.
#[derive(Debug)]
struct Failure {
    number: Number,
    origin: Origin,
    bug: Bug,
    way: String,
    proven: Option<Finding>,
}

/// What failed, by the bug that it is one of.
#[derive(Debug, Default)]
pub struct Shared {
    failures: Vec<Failure>,
    told: BTreeSet<FindingId>,
}

impl Shared {
    /// Adds a finding. Gives it as it is to be told now, and the ids of those that it stands for from now on.
    pub fn add(
        &mut self,
        number: Number,
        origin: Origin,
        finding: Finding,
        way: &str,
        server: Option<&str>,
    ) -> (Finding, Vec<FindingId>) {
        let bug = Bug::of(&finding.kind, origin.cause(), origin.subject());
        let leaf = origin.id();
        let way = way.to_owned();
        self.failures.push(Failure { number, origin, bug, way, proven: Some(finding) });
        let now = self.findings(server);
        let ids: BTreeSet<FindingId> = now.iter().map(|finding| finding.id.clone()).collect();
        let replaced = self.told.difference(&ids).cloned().collect();
        self.told = ids;
        let holds = |finding: &&Finding| {
            finding.id == leaf || finding.sightings.iter().any(|sighting| sighting.ids.contains(&leaf))
        };
        let told = now.iter().find(holds).cloned();
        (told.expect("what was just added is part of a finding"), replaced)
    }

    /// Whether a finding says this already, so that it need not be proven; it is listed there.
    pub fn explains(&mut self, charge: &Charge, subject: &Subject, server: Option<&str>) -> bool {
        let bug = Bug::of(&charge.kind, &charge.cause, subject);
        let severity = charge.severity.unwrap_or_else(|| charge.kind.default_severity());
        if !self.is_told(&bug, subject, severity) {
            return false;
        }
        let origin = Origin::new(server, &charge.kind, subject, &charge.cause);
        let is_new = self.failures.iter().all(|failure| failure.origin != origin);
        if is_new && self.failures.len() < MAX_FAILURES {
            let number = (usize::MAX, self.failures.len() as u64);
            self.failures.push(Failure { number, origin, bug, way: charge.way.clone(), proven: None });
        }
        true
    }

    fn is_told(&self, bug: &Bug, subject: &Subject, severity: Severity) -> bool {
        if self.is_wide(bug) {
            return true;
        }
        let here = |failure: &&Failure| failure.origin.subject() == subject;
        let as_grave =
            |failure: &Failure| failure.proven.as_ref().is_some_and(|finding| finding.severity >= severity);
        // Another way of the same, in the same tool.
        let same = self.failures.iter().filter(|failure| failure.bug == *bug);
        let tells = |failure: &Failure| bug.is_told_by(&failure.bug) && as_grave(failure);
        bug.has_ways() && same.filter(here).any(as_grave)
            || self
                .failures
                .iter()
                .any(|failure| tells(failure) && (here(&failure) || self.is_wide(&failure.bug)))
    }

    /// Whether it shows in so many tools that it is one of the server.
    fn is_wide(&self, bug: &Bug) -> bool {
        let same = self.failures.iter().filter(|failure| failure.bug == *bug);
        bug.is_of_the_server(same.map(|failure| failure.origin.subject()).collect::<BTreeSet<_>>().len())
    }

    /// One more tool in which a finding of the server shows.
    pub fn shows_in(&mut self, id: &FindingId, tool: &str) {
        let known = self.failures.iter_mut().filter(|failure| failure.origin.id() == *id);
        for finding in known.filter_map(|failure| failure.proven.as_mut()) {
            if !finding.tools.iter().any(|known| known == tool) {
                finding.tools.push(tool.to_owned());
                finding.tools.sort();
            }
        }
    }

    /// Whether the same was proven elsewhere, so that a small case of it is at hand.
    pub fn has(&self, kind: &Kind, cause: &Cause, subject: &Subject) -> bool {
        let bug = Bug::of(kind, cause, subject);
        !kind.is_hang() && self.failures.iter().any(|failure| failure.bug == bug && failure.proven.is_some())
    }

    /// Whether something of this cause was proven, whatever shows it.
    pub fn knows(&self, cause: &Cause) -> bool {
        self.failures.iter().any(|failure| failure.proven.is_some() && failure.origin.cause() == cause)
    }

    /// All findings, each bug once.
    pub fn findings(&self, server: Option<&str>) -> Vec<Finding> {
        let bugs: BTreeSet<&Bug> = self.failures.iter().map(|failure| &failure.bug).collect();
        let wide: BTreeSet<&Bug> = bugs.into_iter().filter(|bug| self.is_wide(bug)).collect();
        let mut groups: BTreeMap<&Bug, Vec<&Failure>> = BTreeMap::new();
        for failure in &self.failures {
            groups.entry(self.host(failure, &wide)).or_default().push(failure);
        }
        let mut findings = Vec::new();
        for (bug, failures) in groups {
            let mut by_subject: BTreeMap<&Subject, Vec<&Failure>> = BTreeMap::new();
            for failure in failures.iter().copied() {
                by_subject.entry(failure.origin.subject()).or_default().push(failure);
            }
            let by_a_tool = by_subject.iter().any(|(subject, failures)| {
                **subject != Subject::Server && failures.iter().any(|failure| failure.proven.is_some())
            });
            // What the calls of one tool spoil explains what many calls spoil.
            if by_a_tool
                && bug.is_of_health()
                && let Some(others) = by_subject.remove(&Subject::Server)
                && let Some(failures) = by_subject.values_mut().next()
            {
                failures.extend(others);
            }
            if bug.is_of_the_server(by_subject.len()) {
                findings.extend(told(bug, &Subject::Server, &failures, server));
                continue;
            }
            findings.extend(
                by_subject.iter().filter_map(|(subject, failures)| told(bug, subject, failures, server)),
            );
        }
        findings
    }

    /// The bug with which a failure is told: its own, or one that says the same and is proven in the same tool or is one of
    /// the server; that one may be told with a third.
    fn host<'a>(&'a self, failure: &'a Failure, wide: &BTreeSet<&Bug>) -> &'a Bug {
        let here = |other: &Failure| other.origin.subject() == failure.origin.subject();
        let telling = |bug: &Bug| {
            let proven = self.failures.iter().filter(|other| other.proven.is_some());
            let telling = proven.filter(|other| bug.is_told_by(&other.bug));
            telling.filter(|other| here(other) || wide.contains(&other.bug)).map(|other| &other.bug).min()
        };
        let hosts = std::iter::successors(Some(&failure.bug), |bug| telling(bug));
        hosts.take(MAX_HOSTS).last().unwrap_or(&failure.bug)
    }
}

/// One finding of all these failures; none where nothing of it is proven.
fn told(bug: &Bug, subject: &Subject, failures: &[&Failure], server: Option<&str>) -> Option<Finding> {
    let own = || failures.iter().filter(|failure| failure.bug == *bug);
    let proven = || own().filter_map(|failure| Some((failure, failure.proven.as_ref()?)));
    let is_foreign = |failure: &Failure| *subject != Subject::Server && failure.origin.subject() != subject;
    // What lists the frames that bring it about says more than one of them.
    let is_bare = |finding: &Finding| finding.evidence.iter().all(|proof| proof.label != FRAMES);
    let (head, first) = proven().min_by_key(|(failure, finding)| {
        (is_foreign(failure), Reverse(finding.severity), is_bare(finding), failure.number)
    })?;
    let mut finding = first.clone();
    finding.severity = proven().map(|(_, finding)| finding.severity).max().unwrap_or(finding.severity);
    let wide = Origin::new(server, &finding.kind, &Subject::Server, bug.cause()).id();
    let is_widened = *subject == Subject::Server && head.origin.subject() != subject;
    finding.id = if is_widened { wide.clone() } else { id_in_tool(head) };
    if is_widened {
        finding.subject = Subject::Server;
        finding.tool = None;
        let tools = failures.iter().filter_map(|failure| failure.origin.subject().tool());
        finding.tools = tools.map(str::to_owned).collect::<BTreeSet<_>>().into_iter().collect();
        if let Repro::Replayable { case, .. } = &mut finding.repro {
            case["subject"] = serde_json::to_value(Subject::Server).expect("a subject is plain data");
        }
    }
    finding.bug = Some(bug.mark());
    let is_shared = !finding.kind.is_hang() && wide != finding.id;
    finding.wider = is_shared.then_some(wide).into_iter().collect();
    let mut sightings: Vec<Sighting> = failures.iter().map(|failure| sighting(failure)).collect();
    sightings.sort();
    sightings.dedup();
    let says_nothing = matches!(&sightings[..], [one] if one.ids == [finding.id.clone()]);
    if !says_nothing {
        describe(&mut finding, &sightings, own().count());
        finding.sightings = sightings;
    }
    Some(finding)
}

/// Says in how many ways and tools it shows, and lists them.
fn describe(finding: &mut Finding, sightings: &[Sighting], ways: usize) {
    let others = match (finding.tools.len(), ways) {
        (tools, _) if finding.subject == Subject::Server && tools > 1 => {
            format!("; the same in {}", counted(tools - 1, "other tool"))
        }
        (_, ways) if ways > 1 => format!("; and in {}", counted(ways - 1, "other way")),
        _ => String::new(),
    };
    finding.message += &others;
    if sightings.len() < 2 {
        return;
    }
    let line = |sighting: &Sighting| match (&sighting.tool, sighting.way.is_empty()) {
        (Some(tool), true) => format!("`{tool}`"),
        (Some(tool), false) => format!("`{tool}`: {}", sighting.way),
        (None, _) => sighting.way.clone(),
    };
    let mut lines: Vec<String> = sightings.iter().map(line).filter(|line| !line.is_empty()).collect();
    lines.dedup();
    let more = lines.len().saturating_sub(MAX_LINES);
    lines.truncate(MAX_LINES);
    lines.extend((more > 0).then(|| format!("and {more} more")));
    finding.evidence.push(Evidence { label: SHOWS_IN.to_owned(), text: lines.join("\n") });
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn sighting(failure: &Failure) -> Sighting {
    let mut ids = vec![failure.origin.id(), id_in_tool(failure)];
    ids.dedup();
    // It may have been accepted or stored under the ids that it had.
    if let Some(former) = failure.origin.cause().former() {
        let former = failure.origin.with_cause(&former);
        ids.extend([former.id(), former.of_the_server().id()]);
        ids.dedup();
    }
    let tool = failure.origin.subject().tool().map(str::to_owned);
    Sighting { tool, way: failure.way.clone(), ids }
}

/// The id of a bug in one tool. That of a rule is the rule's own: it has its tool in its name.
fn id_in_tool(failure: &Failure) -> FindingId {
    let Failure { origin, bug, .. } = failure;
    match bug.is_of_rule() {
        true => origin.id(),
        false => origin.with_cause(bug.cause()).id(),
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{Given, merge};
    use crate::judge::Charge;
    use crate::plan::{Case, Intent};
    use serde_json::json;
    use wallfacer_process::Status;

    fn add(shared: &mut Shared, kind: &Kind, tool: &str, cause: &Cause) -> (Finding, Vec<FindingId>) {
        let case = Case::tool(tool, json!({ "q": tool }), Intent::Valid, 1);
        let origin = Origin::new(Some("demo"), kind, &case.subject, cause);
        let finding = Finding::new(&origin, kind.clone(), "wrong", Repro::new(&case, &case));
        let number = (0, shared.failures.len() as u64);
        shared.add(number, origin, finding, "", Some("demo"))
    }

    fn merged(kind: &Kind, cause: &Cause, tools: &[&str]) -> Vec<Finding> {
        let mut shared = Shared::default();
        tools.iter().for_each(|tool| drop(add(&mut shared, kind, tool, cause)));
        merge(shared.findings(Some("demo")))
    }

    fn charge(cause: &Cause) -> Charge {
        Charge::new("no-internal-error", Kind::InternalError, cause.clone(), "wrong".to_owned())
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

    fn nameless(line: u32, source: &str) -> Cause {
        let at = format!("file:///srv/{line}/index.js:{line}");
        let stderr = format!("{at}\n    {source}\n    ^\n\nTypeError: it failed\n    at {at}:7\n");
        Cause::exit(Some(Status::Exited(1)), &stderr)
    }

    #[test]
    fn crashes_in_functions_without_a_name_are_two_and_go_by_the_id_that_was_one() {
        let mut shared = Shared::default();
        let first = nameless(3, "name.trim();");
        let former = Cause::exit(Some(Status::Exited(1)), "    at file:///srv/index.js:9:7\n");
        let subject = Subject::Tool("search".to_owned());
        let known = |subject: &Subject| Origin::new(Some("demo"), &Kind::Crash, subject, &former).id();
        let (one, _) = add(&mut shared, &Kind::Crash, "search", &first);
        let (moved, _) = add(&mut shared, &Kind::Crash, "search", &nameless(30, "name.trim();"));
        assert_eq!(one.id, moved.id, "the same in another release");
        let (two, _) = add(&mut shared, &Kind::Crash, "search", &nameless(3, "list[0].id;"));
        assert_ne!(one.id, two.id);
        for finding in [&one, &two] {
            assert!(finding.is_known_as(&known(&subject)) && finding.is_known_as(&known(&Subject::Server)));
            assert!(!finding.is_known_as(&known(&Subject::Tool("list".to_owned()))));
        }
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
        let merged = merge(shared.findings(Some("demo")));
        assert_eq!(merged.iter().map(|finding| &finding.id).collect::<Vec<_>>(), [&second.id]);
    }

    #[test]
    fn what_is_known_of_the_server_needs_no_proof_in_a_further_tool() {
        let (mut shared, cause) = (Shared::default(), thrown());
        let other = Subject::Tool("list".to_owned());
        add(&mut shared, &Kind::InternalError, "search", &cause);
        assert!(!shared.explains(&charge(&cause), &other, Some("demo")));
        add(&mut shared, &Kind::InternalError, "fetch", &cause);
        assert!(shared.explains(&charge(&cause), &other, Some("demo")));
        assert_eq!(merge(shared.findings(Some("demo")))[0].tools, ["fetch", "list", "search"]);
    }

    fn injected(shared: &mut Shared, tool: &str, part: &str) -> (Finding, Vec<FindingId>) {
        add(shared, &Kind::Injection, tool, &Cause::rule("no-injection", Some(part)))
    }

    fn broken(shared: &mut Shared, rule: &str, tool: &str) -> (Finding, Vec<FindingId>) {
        let kind = Kind::PropertyFailure { invariant: rule.to_owned() };
        add(shared, &kind, tool, &Cause::rule(rule, None))
    }

    #[test]
    fn one_way_out_through_many_arguments_of_many_tools_is_one_finding_that_lists_them() {
        let mut shared = Shared::default();
        let (first, _) = injected(&mut shared, "read", "path at /a");
        let (second, replaced) = injected(&mut shared, "read", "path at /b");
        assert_eq!((&second.id, replaced), (&first.id, Vec::new()), "two arguments of one tool");
        assert_eq!(second.message, "wrong; and in 1 other way");
        let (third, replaced) = injected(&mut shared, "list", "path at /a");
        assert_eq!((third.sightings.len(), replaced), (3, vec![first.id.clone()]));
        assert_eq!(third.message, "wrong; the same in 1 other tool");
        assert!(third.is_same_as(&first) && third.sightings.iter().any(|seen| seen.ids.contains(&first.id)));
        assert_eq!(shared.findings(Some("demo")).len(), 1);
    }

    #[test]
    fn a_rule_that_says_what_a_check_says_is_told_with_it_whichever_comes_first() {
        let mut shared = Shared::default();
        let (rule, _) = broken(&mut shared, "error.shows_no_stack.read", "read");
        let (check, replaced) = add(&mut shared, &Kind::InternalError, "read", &thrown());
        assert_eq!(replaced, std::slice::from_ref(&rule.id));
        assert!(check.is_known_as(&rule.id));
        let (again, replaced) = broken(&mut shared, "error_quality.error_has_no_stack.read", "read");
        assert_eq!((again.id, replaced), (check.id, Vec::new()));
        assert_eq!(shared.findings(Some("demo")).len(), 1);
        broken(&mut shared, "error.shows_no_stack.list", "list");
        assert_eq!(shared.findings(Some("demo")).len(), 2, "in another tool it is news");
        add(&mut shared, &Kind::InternalError, "find", &thrown());
        assert_eq!(
            shared.findings(Some("demo")).len(),
            1,
            "unless the fault is known to be one of the server"
        );
    }

    #[test]
    fn who_runs_what_he_likes_reads_what_he_likes() {
        let mut shared = Shared::default();
        let (link, _) = injected(&mut shared, "ping", "symlink at /host");
        injected(&mut shared, "ping", "path at /host");
        let (command, _) = injected(&mut shared, "ping", "command at /host");
        let [finding] = &shared.findings(Some("demo"))[..] else { panic!("one finding") };
        assert_eq!((&finding.id, finding.sightings.len()), (&command.id, 3));
        assert!(finding.is_known_as(&link.id));
    }

    #[test]
    fn a_rule_for_every_tool_is_one_finding_from_two_tools_on_and_keeps_its_id_in_one() {
        let mut shared = Shared::default();
        let (one, _) = broken(&mut shared, "quality.is_described.read", "read");
        let leaf = Cause::rule("quality.is_described.read", None);
        let kind = Kind::PropertyFailure { invariant: "quality.is_described.read".to_owned() };
        let subject = Subject::Tool("read".to_owned());
        assert_eq!(one.id, Origin::new(Some("demo"), &kind, &subject, &leaf).id());
        let (both, replaced) = broken(&mut shared, "quality.is_described.list", "list");
        assert_eq!((both.tools.len(), replaced), (2, vec![one.id]));
    }

    #[test]
    fn another_way_of_what_is_proven_is_listed_without_a_proof_unless_it_is_graver() {
        let mut shared = Shared::default();
        let takes = |at: &str| {
            let mut charge =
                Charge::new("c", Kind::AcceptedInvalid, Cause::schema(at, "type"), String::new());
            charge.way = at.to_owned();
            charge
        };
        let subject = Subject::Tool("read".to_owned());
        add(&mut shared, &Kind::AcceptedInvalid, "read", &Cause::schema("/a", "type"));
        assert!(shared.explains(&takes("/b"), &subject, Some("demo")));
        assert!(!shared.explains(&takes("/b"), &Subject::Tool("list".to_owned()), Some("demo")));
        let graver = Charge { severity: Some(Severity::High), ..takes("/c") };
        assert!(!shared.explains(&graver, &subject, Some("demo")));
        let [finding] = &shared.findings(Some("demo"))[..] else { panic!("one finding") };
        assert_eq!(finding.sightings.len(), 2);
    }
}
