//! What all probes of a run write down: calls by what became of them, what is suspected, and what was not tested.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::judge::{Charge, Context};
use crate::latency::Latency;
use crate::observe::Answer;
use crate::plan::{Case, Step, Subject};
use crate::run::Recording;
use crate::session::lab::{World, named};
use crate::session::prove::{Interest, Prover, Suspicion};
use crate::summary::{NotTested, Note, RulesTried, Summary, ToolSummary};

pub struct Notebook {
    pub prover: Prover,
    pub summary: Summary,
    pub tools: BTreeMap<String, ToolSummary>,
    /// How long the answers of each tool took.
    pub latencies: BTreeMap<String, Latency>,
    pub not_tested: BTreeSet<NotTested>,
    /// Tools of which a valid call succeeded, and those of them that nobody was told of yet.
    pub reached: BTreeSet<String>,
    pub newly_reached: Vec<String>,
    /// Rules, sequences and declarations that something was said of.
    pub judged: u64,
    /// Which rules were tried, and which were not.
    pub rules: RulesTried,
    /// Whether time ran out before a plan did.
    pub out_of_time: bool,
    /// The probe that is writing.
    pub probe: usize,
}

/// Where and how something was seen that is held against the server.
#[derive(Debug, Clone)]
pub struct Seen {
    pub world: World,
    pub context: Arc<Context>,
    pub interest: Interest,
}

impl Notebook {
    pub fn new(prover: Prover) -> Notebook {
        Notebook {
            prover,
            summary: Summary::default(),
            tools: BTreeMap::new(),
            latencies: BTreeMap::new(),
            not_tested: BTreeSet::new(),
            reached: BTreeSet::new(),
            newly_reached: Vec::new(),
            judged: 0,
            rules: RulesTried::default(),
            out_of_time: false,
            probe: 0,
        }
    }

    /// Counts what became of a call.
    pub fn count(&mut self, subject: &Subject, valid: bool, answer: &Answer) {
        self.summary.count(answer);
        let of_offer = matches!(subject, Subject::Resource(_) | Subject::Prompt(_) | Subject::Completion(_));
        self.summary.of_offers += u64::from(of_offer);
        if let Some(tool) = subject.tool() {
            let counts = self.tools.entry(tool.to_owned()).or_default();
            counts.calls.count(answer);
            counts.valid_calls += u64::from(valid);
            counts.valid_completed += u64::from(valid && *answer == Answer::Completed);
            self.reach(tool, valid, answer);
        }
    }

    /// An answer took so long. That none came is told elsewhere.
    pub fn time(&mut self, subject: &Subject, answer: &Answer, took: Duration) {
        let answered = !matches!(answer, Answer::Silent | Answer::Gone { .. } | Answer::NotAwaited);
        if let Some(tool) = subject.tool().filter(|_| answered) {
            self.latencies.entry(tool.to_owned()).or_default().add(took);
        }
    }

    /// A tool was called; the first valid call of it that succeeds is news.
    pub fn reach(&mut self, tool: &str, valid: bool, answer: &Answer) {
        if valid && *answer == Answer::Completed && self.reached.insert(tool.to_owned()) {
            self.newly_reached.push(tool.to_owned());
        }
    }

    /// Remembers which values a reply named, so that a payload made of them is known to hold what is the server's.
    pub fn hear(&mut self, case: &Case, answer: &Answer, recording: &Recording) {
        self.prover.hear(case, &named(answer, recording));
    }

    /// Holds something against the server, to be proven.
    pub fn suspect(&mut self, seen: &Seen, case: &Case, charge: Charge, before: Vec<Step>) {
        self.prover.suspect(Suspicion {
            case: case.clone(),
            charge,
            before,
            world: seen.world,
            context: seen.context.clone(),
            interest: seen.interest,
            number: (self.probe, 0),
            alone: false,
            raised: std::time::Instant::now(),
        });
    }

    /// What this tool called a success were refusals in words: no call of it worked.
    pub fn none_worked(&mut self, tool: &str) {
        if let Some(counts) = self.tools.get_mut(tool) {
            counts.valid_completed = 0;
        }
    }

    pub fn note(&mut self, tool: Option<&str>, text: String) {
        self.prover.note(Note { tool: tool.map(str::to_owned), text });
    }

    /// Nothing can be said of this, and why.
    pub fn leave_out(&mut self, what: &str, why: &str) {
        self.not_tested.insert(NotTested { what: what.to_owned(), why: why.to_owned() });
    }
}
