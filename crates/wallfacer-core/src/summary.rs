//! What the steps of a run come to: one [`Run`], which is all that a report needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::catalogue::Catalogue;
use crate::findings::{Baseline, Finding, merge};
use crate::latency::Latency;
use crate::lock::{Direction, Lock, compare, drift};
use crate::observe::{Answer, Examination};
use crate::plan::Input;
use crate::shard::Shard;
use crate::target::{Settings, Severity, Shown};
use crate::wire::Server;

/// One run of a command.
#[derive(Debug)]
pub struct Run {
    pub command: &'static str,
    /// RFC 3339, in UTC.
    pub started: String,
    pub took: Duration,
    pub seed: u64,
    pub budget: Option<Duration>,
    pub target: Shown,
    pub server: Server,
    /// What was done, in order.
    pub steps: Vec<StepDone>,
    /// Servers that were started.
    pub lives: u64,
    pub summary: Summary,
    pub tools: BTreeMap<String, ToolSummary>,
    /// How long the answers of each tool took.
    pub latencies: BTreeMap<String, Latency>,
    /// Reproduced each time, the gravest first.
    pub findings: Vec<Finding>,
    /// Reproduced not each time.
    pub flaky: Vec<Finding>,
    /// Reproduced each time, and accepted in the baseline.
    pub accepted: Vec<Accepted>,
    /// Accepted in the baseline, and not found any more.
    pub stale: Vec<Stale>,
    pub notes: Vec<Note>,
    pub not_tested: Vec<NotTested>,
    /// Whether time ran out before the plan did.
    pub out_of_time: bool,
    /// Whether a signal ended it before that.
    pub interrupted: bool,
    /// Rules and sequences that something was said of.
    pub rules_judged: u64,
    /// Which rules were tried, and which were not.
    pub rules: RulesTried,
    /// What became of the findings that were stored before.
    pub stored: Vec<StoredFinding>,
    /// Why nothing is known although calls were made.
    pub in_vain: Option<&'static str>,
    /// What the server declares and was seen to do, for a lock file; none where that was not looked at.
    pub locked: Option<Lock>,
    /// When what happened, where somebody listened.
    pub timeline: Vec<Moment>,
    /// The directory in which the run is kept for later reports, where it is.
    pub keep_in: Option<PathBuf>,
    /// Tokens that the server gave, which are kept out of all that is written.
    pub tokens: Vec<String>,
    /// The part of a plan that this run did, where others do the rest.
    pub part: Option<Part>,
}

/// The part of a plan that one run of several did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Part {
    #[serde(flatten)]
    pub shard: Shard,
    /// What was asked for, as a hash: only parts of one plan belong together.
    pub plan: String,
}

impl Part {
    /// `asked` is what all parts of a plan have in common.
    pub fn new(shard: Shard, asked: &str) -> Part {
        Part { shard, plan: blake3::hash(asked.as_bytes()).to_hex()[..16].to_owned() }
    }
}

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepDone {
    pub name: &'static str,
    pub took: Duration,
}

/// Which rules a run tried.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RulesTried {
    /// The rule files of the project.
    pub files: BTreeSet<String>,
    /// The packs that fit the server, or were asked for.
    pub packs: BTreeSet<String>,
    /// Sequences that went as they are written.
    pub sequences_passed: BTreeSet<String>,
    /// Rules of these packs that are about a tool which the server does not have.
    pub fit_no_tool: u64,
}

impl RulesTried {
    pub fn add(&mut self, other: RulesTried) {
        self.files.extend(other.files);
        self.packs.extend(other.packs);
        self.sequences_passed.extend(other.sequences_passed);
        self.fit_no_tool += other.fit_no_tool;
    }
}

/// A finding of an earlier run, and what this run can say of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StoredFinding {
    pub id: String,
    /// What it is, in a few words.
    pub about: String,
    pub became: Became,
    /// Why it was not tried, where it was not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// What became of a stored finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Became {
    StillThere,
    /// It was tried, and did not show.
    Gone,
    NotTried,
}

/// A finding that someone accepted, and why.
#[derive(Debug, Clone)]
pub struct Accepted {
    pub finding: Finding,
    pub reason: String,
}

/// An entry of the baseline that nothing answers to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Stale {
    pub id: String,
    pub about: String,
}

/// What a run means for whoever waits for its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum Conclusion {
    /// Findings at or above the threshold.
    #[serde(rename = "failed")]
    Broken,
    /// Nothing grave, but the baseline accepts what is not there any more.
    Stale,
    /// Nothing grave so far, and a signal ended the run before it was done.
    Interrupted,
    /// Nothing that the server offers was called, so nothing is known.
    NotTested,
    /// Nothing at or above the threshold in what was tested.
    #[serde(rename = "passed")]
    Clean,
}

/// What a step of fuzzing comes to.
#[derive(Debug)]
pub struct Fuzzed {
    pub target: Shown,
    pub server: Server,
    pub seed: u64,
    pub took: Duration,
    /// Servers that were started.
    pub lives: u64,
    pub summary: Summary,
    pub tools: BTreeMap<String, ToolSummary>,
    pub latencies: BTreeMap<String, Latency>,
    /// Reproduced each time.
    pub findings: Vec<Finding>,
    /// Reproduced not each time.
    pub flaky: Vec<Finding>,
    pub notes: Vec<Note>,
    pub not_tested: Vec<NotTested>,
    /// Whether the budget was used up before the plan was.
    pub out_of_time: bool,
    /// Rules and sequences that something was said of.
    pub rules_judged: u64,
    pub rules: RulesTried,
    /// Inputs whose answer was new in kind.
    pub news: Vec<Input>,
    /// Tokens that the server gave, which are kept out of all that is written.
    pub tokens: Vec<String>,
}

/// Calls by what became of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Summary {
    pub calls: u64,
    pub completed: u64,
    pub tool_errors: u64,
    pub rejected: u64,
    pub failed: u64,
    pub malformed: u64,
    pub silent: u64,
    pub gone: u64,
    /// Those of resources, prompts and completion, which stand under no tool.
    #[serde(skip)]
    pub of_offers: u64,
}

/// The same for one tool, with how often what should work did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolSummary {
    #[serde(flatten)]
    pub calls: Summary,
    pub valid_calls: u64,
    pub valid_completed: u64,
}

/// Observations that are not defects.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Note {
    pub tool: Option<String>,
    pub text: String,
}

/// Something that happened while the run was going on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Moment {
    /// Since the run began.
    pub ms: u64,
    /// `phase`, `finding` or `start`, of a server.
    pub event: String,
    pub text: String,
    /// Calls that were made by then.
    pub calls: u64,
}

/// What was not tested, and why.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct NotTested {
    pub what: String,
    pub why: String,
}

impl NotTested {
    /// The tools that are beyond what is taken in of a list.
    pub fn cut(catalogue: &Catalogue) -> Option<NotTested> {
        let why = catalogue.tools.cut("tools")?;
        Some(NotTested { what: "the other tools".to_owned(), why })
    }

    /// What other runs of the same plan do.
    pub fn of_other_shards(shard: Shard) -> NotTested {
        let what = match shard.count.saturating_sub(1) {
            1 => "the other half of the plan".to_owned(),
            others => format!("the other {others} parts of the plan"),
        };
        let why = format!("this is shard {shard}; `wallfacer merge` joins the reports of all");
        NotTested { what, why }
    }

    /// A tool that takes no plain call.
    pub fn only_as_task(tool: &str) -> NotTested {
        let why = "it works only as a task (`taskSupport: required`), and only plain calls are made: they \
                   show how it refuses them, not what it does";
        NotTested { what: tool.to_owned(), why: why.to_owned() }
    }
}

/// What a step of injections comes to.
#[derive(Debug, Default)]
pub struct Injected {
    pub calls: u64,
    pub lives: u64,
    pub findings: Vec<Finding>,
    pub flaky: Vec<Finding>,
    pub notes: Vec<Note>,
    pub not_tested: Vec<NotTested>,
    pub out_of_time: bool,
}

impl Injected {
    /// Nothing was tried, for this reason.
    pub fn not_tested(why: &str) -> Injected {
        let what = "injections proven by their effect".to_owned();
        Injected { not_tested: vec![NotTested { what, why: why.to_owned() }], ..Injected::default() }
    }
}

impl Run {
    /// Adds what a step of injections came to.
    pub fn add_injections(&mut self, injected: Injected) {
        self.lives += injected.lives;
        self.findings.extend(referenced(injected.findings));
        self.flaky.extend(referenced(injected.flaky));
        self.notes.extend(injected.notes);
        self.not_tested.extend(injected.not_tested);
        self.out_of_time |= injected.out_of_time;
    }

    /// A run that has only looked at the server so far.
    pub fn begun(command: &'static str, started: String, seen: &Examination) -> Run {
        Run::empty(command, started, seen.target.clone(), seen.server.clone())
    }

    /// A run that has only begun.
    pub fn empty(command: &'static str, started: String, target: Shown, server: Server) -> Run {
        Run {
            command,
            started,
            took: Duration::ZERO,
            seed: 0,
            budget: None,
            target,
            server,
            steps: Vec::new(),
            lives: 1,
            summary: Summary::default(),
            tools: BTreeMap::new(),
            latencies: BTreeMap::new(),
            findings: Vec::new(),
            flaky: Vec::new(),
            accepted: Vec::new(),
            stale: Vec::new(),
            notes: Vec::new(),
            not_tested: Vec::new(),
            out_of_time: false,
            interrupted: false,
            rules_judged: 0,
            rules: RulesTried::default(),
            stored: Vec::new(),
            in_vain: None,
            locked: None,
            timeline: Vec::new(),
            keep_in: None,
            tokens: Vec::new(),
            part: None,
        }
    }

    /// A run of nothing but fuzzing.
    pub fn of_fuzzing(started: String, fuzzed: Fuzzed) -> Run {
        Run::of_step("fuzz", started, fuzzed)
    }

    /// A run of one step that makes calls.
    pub fn of_step(command: &'static str, started: String, fuzzed: Fuzzed) -> Run {
        Run {
            command,
            started,
            took: fuzzed.took,
            seed: fuzzed.seed,
            budget: None,
            target: fuzzed.target,
            server: fuzzed.server,
            steps: vec![StepDone { name: command, took: fuzzed.took }],
            lives: fuzzed.lives,
            summary: fuzzed.summary,
            tools: fuzzed.tools,
            latencies: fuzzed.latencies,
            findings: referenced(fuzzed.findings),
            flaky: referenced(fuzzed.flaky),
            accepted: Vec::new(),
            stale: Vec::new(),
            notes: fuzzed.notes,
            not_tested: fuzzed.not_tested,
            out_of_time: fuzzed.out_of_time,
            interrupted: false,
            rules_judged: fuzzed.rules_judged,
            rules: fuzzed.rules,
            stored: Vec::new(),
            in_vain: None,
            locked: None,
            timeline: Vec::new(),
            keep_in: None,
            tokens: fuzzed.tokens,
            part: None,
        }
    }

    /// Adds what a step that makes calls came to.
    pub fn add_fuzzing(&mut self, fuzzed: Fuzzed) {
        self.seed = fuzzed.seed;
        self.lives += fuzzed.lives;
        self.summary.add(&fuzzed.summary);
        for (tool, counts) in fuzzed.tools {
            self.tools.entry(tool).or_default().add(&counts);
        }
        for (tool, latency) in &fuzzed.latencies {
            self.latencies.entry(tool.clone()).or_default().join(latency);
        }
        // Two steps may come upon one bug.
        self.findings.extend(referenced(fuzzed.findings));
        self.findings = merge(std::mem::take(&mut self.findings));
        self.flaky.extend(referenced(fuzzed.flaky));
        self.flaky = merge(std::mem::take(&mut self.flaky));
        self.flaky.retain(|flaky| self.findings.iter().all(|finding| finding.id != flaky.id));
        self.notes.extend(fuzzed.notes);
        self.not_tested.extend(fuzzed.not_tested);
        self.out_of_time |= fuzzed.out_of_time;
        self.rules_judged += fuzzed.rules_judged;
        self.rules.add(fuzzed.rules);
        self.tokens.extend(fuzzed.tokens);
    }

    /// Says what became of findings that were stored before, for people: what still fails is among the findings.
    pub fn tell_stored(&mut self, stored: Vec<StoredFinding>) {
        for StoredFinding { id, about, became, why } in &stored {
            let text = match became {
                Became::StillThere => continue,
                Became::Gone => format!("the stored finding {id} ({about}) was tried again, and is gone"),
                Became::NotTried => format!("the stored finding {id} ({about}) was not tried again: {why}"),
            };
            self.notes.push(Note { tool: None, text });
        }
        self.stored = stored;
    }

    /// Adds what was proven, each time and not each time.
    pub fn add_findings(&mut self, findings: Vec<Finding>, flaky: Vec<Finding>) {
        self.findings.extend(referenced(findings));
        self.flaky.extend(referenced(flaky));
    }

    /// Adds what a step of watching came to. That a tool never succeeded is told by the steps that try harder.
    pub fn add_watching(&mut self, watched: Run) {
        self.lives += watched.lives;
        self.server.standing = watched.server.standing;
        self.findings.extend(watched.findings);
        self.flaky.extend(watched.flaky);
        self.notes.extend(watched.notes);
        self.locked = watched.locked;
        let of_tool = |not: &NotTested| watched.tools.contains_key(&not.what);
        self.not_tested.extend(watched.not_tested.into_iter().filter(|not| !of_tool(not)));
    }

    /// Weighs every finding as the user wants it, and puts the gravest first.
    pub fn weigh(&mut self, settings: &Settings) {
        for finding in self.findings.iter_mut().chain(&mut self.flaky) {
            let wanted = settings.severity(finding.kind.name(), finding.kind.rule(), finding.tool.as_deref());
            finding.severity = wanted.unwrap_or(finding.severity);
        }
        for findings in [&mut self.findings, &mut self.flaky] {
            // What a call of a tool brings about comes before what takes a message that no client sends.
            let is_of_no_tool = |finding: &Finding| finding.tool.is_none() && finding.tools.is_empty();
            findings.sort_by(|one, other| {
                let by_severity = other.severity.cmp(&one.severity);
                let by_tool = || is_of_no_tool(one).cmp(&is_of_no_tool(other));
                by_severity.then_with(by_tool).then_with(|| one.id.cmp(&other.id))
            });
        }
    }

    /// Tells what is other than in the lock file: what is `failing` as findings, the rest as worth knowing.
    pub fn compare_with(&mut self, lock: &Lock, failing: &BTreeSet<Direction>) {
        let Some(now) = &self.locked else { return };
        for difference in compare(lock, now) {
            if failing.contains(&difference.direction) {
                self.findings.push(drift(now.server.as_deref(), &difference));
                continue;
            }
            let tool = difference.subject.name().map(str::to_owned);
            let text = format!("{} since it was locked: {}", difference.direction.as_str(), difference.what);
            self.notes.push(Note { tool, text });
        }
    }

    /// Puts aside what the baseline accepts, and tells what it accepts in vain.
    pub fn hold_against(&mut self, baseline: &Baseline) {
        let seen: Vec<Finding> = self.findings.iter().chain(&self.flaky).cloned().collect();
        let day = self.day().to_owned();
        let (accepted, rest) = std::mem::take(&mut self.findings)
            .into_iter()
            .partition(|finding| baseline.accepts(finding, &day));
        self.findings = rest;
        for finding in &self.findings {
            let over = baseline.accepted.get(&finding.id).and_then(|entry| entry.expires.as_ref());
            self.notes.extend(over.map(|last| Note {
                tool: finding.tool.clone(),
                text: format!("the baseline accepted {} until {last}, and does no more", finding.id),
            }));
        }
        let reason = |finding: &Finding| {
            baseline.accepted.get(&finding.id).map(|entry| entry.reason.clone()).unwrap_or_default()
        };
        let accepted: Vec<Finding> = accepted;
        self.accepted
            .extend(accepted.into_iter().map(|finding| Accepted { reason: reason(&finding), finding }));
        let stale = baseline.stale(&seen).into_iter();
        self.stale.extend(stale.map(|(id, entry)| Stale { id: id.to_string(), about: entry.about.clone() }));
    }

    /// Says which part of a plan this is: what the other parts do is not tested here.
    pub fn belong_to(&mut self, part: Option<Part>) {
        let shard = part.as_ref().map(|part| part.shard).filter(|shard| !shard.is_whole());
        self.not_tested.extend(shard.map(NotTested::of_other_shards));
        self.part = part;
    }

    /// Says that a signal ended the run; what it left undone is not tested, whatever else was told of it.
    pub fn interrupt(&mut self) {
        self.interrupted = true;
        let why = "the run was interrupted".to_owned();
        let rest = NotTested { what: "the rest of the plan".to_owned(), why };
        if !self.not_tested.contains(&rest) {
            self.not_tested.push(rest);
        }
    }

    /// The day on which the run began.
    pub fn day(&self) -> &str {
        self.started.split('T').next().unwrap_or_default()
    }

    /// Whether anything that the server offers was called, or judged by what it says of itself.
    pub fn has_tested(&self) -> bool {
        let called = self.tools.values().any(|tool| tool.calls.calls > 0);
        let made = called || self.summary.of_offers > 0 || self.rules_judged > 0;
        made && self.in_vain.is_none()
    }

    pub fn conclusion(&self, threshold: Severity) -> Conclusion {
        if self.findings.iter().any(|finding| finding.severity >= threshold) {
            Conclusion::Broken
        } else if self.interrupted {
            Conclusion::Interrupted
        } else if !self.has_tested() {
            Conclusion::NotTested
        // What was not looked for may still be there.
        } else if !self.stale.is_empty() && !self.out_of_time {
            Conclusion::Stale
        } else {
            Conclusion::Clean
        }
    }
}

/// Where a check names no reference of its own, those of the kind hold.
fn referenced(mut findings: Vec<Finding>) -> Vec<Finding> {
    for finding in findings.iter_mut().filter(|finding| finding.references.is_empty()) {
        finding.references = finding.kind.about().references();
    }
    findings
}

impl ToolSummary {
    fn add(&mut self, other: &ToolSummary) {
        self.calls.add(&other.calls);
        self.valid_calls += other.valid_calls;
        self.valid_completed += other.valid_completed;
    }
}

impl Summary {
    pub fn add(&mut self, other: &Summary) {
        self.calls += other.calls;
        self.of_offers += other.of_offers;
        self.completed += other.completed;
        self.tool_errors += other.tool_errors;
        self.rejected += other.rejected;
        self.failed += other.failed;
        self.malformed += other.malformed;
        self.silent += other.silent;
        self.gone += other.gone;
    }

    pub fn count(&mut self, answer: &Answer) {
        self.calls += 1;
        let place = match answer {
            Answer::Completed => &mut self.completed,
            Answer::ToolError => &mut self.tool_errors,
            Answer::Rejected { .. } => &mut self.rejected,
            Answer::Failed { .. } => &mut self.failed,
            Answer::Malformed => &mut self.malformed,
            Answer::Silent => &mut self.silent,
            Answer::Gone { .. } => &mut self.gone,
            Answer::NotAwaited => return,
        };
        *place += 1;
    }
}
