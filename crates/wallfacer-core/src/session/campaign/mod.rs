//! Cases in, findings out: what has been done so far, what is suspected, and what is proven.

mod proof;
mod round;
mod rulings;

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use wallfacer_schema::Schema;

use super::crew::Idle;
use super::extreme::Extreme;
use super::fuzz::{Feedback, FuzzOptions};
use super::learned::LearnedValues;
use super::shared::Shared;
use super::suspicion::Suspicions;
use super::window::Window;
use crate::catalogue::{Catalogue, Tool};
use crate::findings::{Finding, FindingId, ServerName, merge};
use crate::judge::Context;
use crate::learn::Answers;
use crate::plan::{Case, Options, Planner, Step, Subject, held_back};
use crate::run::Runner;
use crate::summary::{Fuzzed, NotTested, Note, Summary, ToolSummary};
use crate::target::{Era, Shown};
use crate::wire::Server;

/// Calls of one tool in a row that show whether something grows with them.
const GROWTH_CALLS: u32 = 400;
/// With fewer iterations than this nobody wants so many calls.
const GROWTH_ITERATIONS: usize = 100;
/// Fewer valid calls than this say nothing of how many succeed.
const FEW_CALLS: u64 = 10;
/// Where less than this part of the valid calls succeeds, hardly more than the input checks was tested.
const LOW_SUCCESS: f64 = 0.1;

/// What a campaign works with.
pub struct Field<'a> {
    pub runner: &'a (dyn Fn() -> Runner + Sync),
    pub context: &'a Context,
    pub runtime: &'a tokio::runtime::Runtime,
}

/// What has been done and found so far.
pub struct Campaign<'a> {
    options: &'a FuzzOptions,
    server: ServerName,
    protocol: String,
    era: Era,
    started: Instant,
    window: Window,
    chosen: Vec<&'a Tool>,
    schemas: BTreeMap<String, Schema>,
    summary: Summary,
    tools: BTreeMap<String, ToolSummary>,
    /// The first valid call of each tool that succeeded.
    good: BTreeMap<String, Case>,
    suspicions: Suspicions,
    /// Subjects that take long, but do answer.
    slow: BTreeSet<Subject>,
    /// Subjects whose silence was glanced at before there was time to look into it.
    glanced: BTreeSet<Subject>,
    /// Cases that were left out in this round because of what their subject did.
    left: BTreeMap<Subject, Vec<Case>>,
    /// In how many rounds each subject was given up.
    given_up: BTreeMap<Subject, usize>,
    findings: Shared,
    flaky: Vec<Finding>,
    notes: BTreeSet<Note>,
    not_tested: BTreeSet<NotTested>,
    /// Whether nothing but what rules say is looked into.
    pub only_rules: bool,
    /// Rules of which nothing can be said, and why.
    unknown: BTreeMap<String, String>,
    /// Rules and sequences that something was said of.
    judged: BTreeSet<String>,
    /// What the answers of each tool have in common, where that is wanted.
    pub answers: Option<BTreeMap<String, Answers>>,
    /// Declarations that were held against earlier ones.
    declarations: u64,
    lives: u64,
    /// Servers that go on with the next round.
    idle: Idle,
    out_of_time: bool,
    /// Cases that there was no time for.
    undone: Vec<Case>,
    /// The most that one call takes, as far as any was slow.
    call_time: Duration,
    /// What it takes to look into one hang; nothing as long as none was suspected.
    hang_time: Duration,
    /// What no request of this server may be.
    too_much: Vec<TooMuch>,
    learned: LearnedValues,
}

/// So large or so deep a request does this to the server, whatever it asks for.
#[derive(Debug)]
struct TooMuch {
    kind: &'static str,
    extreme: Extreme,
    finding: FindingId,
}

impl<'a> Campaign<'a> {
    pub fn new(
        options: &'a FuzzOptions,
        catalogue: &'a Catalogue,
        server: &Server,
        started: Instant,
    ) -> Campaign<'a> {
        let mut not_tested = BTreeSet::new();
        let mut chosen = Vec::new();
        for tool in &catalogue.tools.entries {
            match left_out(tool, options, server) {
                Some(why) => drop(not_tested.insert(NotTested { what: tool.name.clone(), why })),
                None => chosen.push(tool),
            }
        }
        for tool in chosen.drain(options.max_tools.unwrap_or(usize::MAX).min(chosen.len())..) {
            not_tested
                .insert(NotTested { what: tool.name.clone(), why: "it is beyond --max-tools".to_owned() });
        }
        for broken in &catalogue.tools.broken {
            let what = broken.name.clone().unwrap_or_else(|| format!("tool number {}", broken.index + 1));
            not_tested.insert(NotTested { what, why: broken.why.clone() });
        }
        not_tested.extend(NotTested::cut(catalogue));
        Campaign {
            options,
            server: ServerName { name: server.name.clone(), version: server.version.clone() },
            protocol: server.protocol.to_string(),
            era: server.era(),
            started,
            window: Window::new(started, options.budget, options.overtime),
            chosen,
            schemas: BTreeMap::new(),
            summary: Summary::default(),
            tools: BTreeMap::new(),
            good: BTreeMap::new(),
            suspicions: Suspicions::default(),
            slow: BTreeSet::new(),
            glanced: BTreeSet::new(),
            left: BTreeMap::new(),
            given_up: BTreeMap::new(),
            findings: Shared::default(),
            flaky: Vec::new(),
            notes: BTreeSet::new(),
            not_tested,
            only_rules: false,
            unknown: BTreeMap::new(),
            judged: BTreeSet::new(),
            answers: None,
            declarations: 0,
            lives: 1,
            idle: Idle::default(),
            out_of_time: false,
            undone: Vec::new(),
            call_time: Duration::ZERO,
            hang_time: Duration::ZERO,
            too_much: Vec::new(),
            learned: LearnedValues::default(),
        }
    }

    pub fn planner(&mut self) -> Planner {
        let options = Options {
            seed: self.options.seed,
            mode: self.options.mode,
            iterations: self.options.iterations,
            max_bytes: self.options.max_bytes,
        };
        let (mut planner, refused) = Planner::new(self.chosen.iter().copied(), options);
        if let Some(Feedback { ratio, known }) = &self.options.feedback {
            planner.follow_news(*ratio, known);
        }
        for (what, why) in refused {
            self.not_tested
                .insert(NotTested { what, why: format!("its input schema cannot be used: {why}") });
        }
        for tool in &self.chosen {
            let document = serde_json::Value::Object(tool.input_schema.clone());
            if let Ok(schema) = Schema::compile(&document) {
                self.schemas.insert(tool.name.clone(), schema);
            }
        }
        planner
    }

    /// What is left out so far, and why.
    pub fn not_tested(&self) -> impl Iterator<Item = &NotTested> {
        self.not_tested.iter()
    }

    /// The stored failures that may be tried: one that calls a tool which is left out stays away.
    pub fn stored(&mut self, catalogue: &Catalogue) -> Vec<Case> {
        // Rules are tried where rules are given.
        let unclaimed =
            self.options.stored.iter().filter(|case| case.claim.is_none() && !case.steps.is_empty());
        let (tried, left): (Vec<&Case>, Vec<&Case>) = unclaimed.partition(|case| {
            let mut called = case.called_tools();
            called.all(|name| {
                let listed = catalogue.tools.entries.iter().any(|tool| tool.name == name);
                !listed || self.chosen.iter().any(|tool| tool.name == name)
            })
        });
        if !left.is_empty() {
            let what = format!("{} stored failures", left.len());
            let why = "they call tools that are left out".to_owned();
            self.not_tested.insert(NotTested { what, why });
        }
        tried.into_iter().cloned().collect()
    }

    /// Whether there is more to do than there was time for.
    pub fn has_more(&self) -> bool {
        self.out_of_time || self.suspicions.len() > 0
    }

    /// Stops the clock; `complete` where all that was planned was begun in time.
    pub fn pause(&mut self, complete: bool) {
        self.idle.rest();
        self.out_of_time |= !complete;
        self.window = Window::new(Instant::now(), None, Duration::ZERO);
    }

    /// Goes on for this long; gives what there was no time for.
    pub fn go_on(&mut self, time: Duration) -> Vec<Case> {
        self.window = Window::new(Instant::now(), Some(time), Duration::ZERO);
        self.out_of_time = false;
        std::mem::take(&mut self.undone)
    }

    /// One good call of each tool, again and again, to see whether anything grows with them.
    pub fn growth_cases(&self) -> Vec<Case> {
        if self.options.iterations < GROWTH_ITERATIONS {
            return Vec::new();
        }
        let quick = self.good.values().filter(|case| !self.slow.contains(&case.subject));
        let many = quick.filter_map(|case| {
            let (method, params) = case.single_call()?;
            let (method, params) = (method.to_owned(), params.clone());
            Some(Case { steps: vec![Step::Many { times: GROWTH_CALLS, method, params }], ..case.clone() })
        });
        many.collect()
    }

    /// The tools that may be called.
    pub fn may_call(&self, tool: &str) -> bool {
        self.chosen.iter().any(|chosen| chosen.name == tool)
    }

    pub fn may_call_none(&self) -> bool {
        self.chosen.is_empty()
    }

    /// The names of the tools that are tried.
    pub fn chosen_names(&self) -> Vec<String> {
        self.chosen.iter().map(|tool| tool.name.clone()).collect()
    }

    /// What became of all calls so far.
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// All calls of the run so far.
    pub fn calls(&self) -> u64 {
        self.summary.calls
    }

    pub fn add_lives(&mut self, lives: u64) {
        self.lives += lives;
    }

    /// What is declared of one more tool was held against something.
    pub fn count_declaration(&mut self) {
        self.declarations += 1;
    }

    /// A tool is not tried after all.
    pub fn do_without(&mut self, tool: &str, why: &str) {
        self.chosen.retain(|chosen| chosen.name != tool);
        self.leave_out(tool, why);
    }

    /// Nothing can be said of this, and why.
    pub fn leave_out(&mut self, what: &str, why: &str) {
        self.not_tested.insert(NotTested { what: what.to_owned(), why: why.to_owned() });
    }

    pub fn note(&mut self, tool: Option<&str>, text: String) {
        self.notes.insert(Note { tool: tool.map(str::to_owned), text });
    }

    pub fn schemas(&self) -> &BTreeMap<String, Schema> {
        &self.schemas
    }

    pub fn finish(mut self, target: Shown, server: Server) -> Fuzzed {
        self.idle.rest();
        for (subject, cases) in std::mem::take(&mut self.left) {
            self.give_up(&subject, cases.len(), None);
        }
        for suspicion in self.suspicions.take() {
            if self.is_explained(&suspicion.case, &suspicion.charge) {
                continue;
            }
            let what = suspicion.in_words();
            let why = format!("{} before it could be seen a second time", self.options.stop.why());
            self.not_tested.insert(NotTested { what, why });
        }
        let out_of_time = self.out_of_time || self.is_over();
        if out_of_time {
            let why = self.options.stop.why().to_owned();
            self.not_tested.insert(NotTested { what: "the rest of the plan".to_owned(), why });
        }
        self.tell_low_success();
        self.tell_unknown();
        let findings = merge(self.findings.into_findings(self.server.name.as_deref()));
        Fuzzed {
            target,
            server,
            seed: self.options.seed,
            took: self.started.elapsed(),
            lives: self.lives,
            summary: self.summary,
            tools: self.tools,
            findings,
            flaky: merge(self.flaky),
            notes: self.notes.into_iter().collect(),
            not_tested: self.not_tested.into_iter().collect(),
            out_of_time,
            rules_judged: self.judged.len() as u64 + self.declarations,
            news: Vec::new(),
        }
    }

    /// Says of each tool of which hardly more than the input checks was tested.
    fn tell_low_success(&mut self) {
        for tool in &self.chosen {
            let counts = self.tools.get(&tool.name).cloned().unwrap_or_default();
            let (valid, good) = (counts.valid_calls, counts.valid_completed);
            let low = valid >= FEW_CALLS && (good as f64) < LOW_SUCCESS * valid as f64;
            let why = match good {
                0 if valid > 0 && tool.is_a_task() => {
                    self.not_tested.insert(NotTested::only_as_task(&tool.name));
                    continue;
                }
                0 if valid > 0 => "none of its valid calls succeeded".to_owned(),
                _ if low => format!("only {good} of its {valid} valid calls succeeded"),
                _ => continue,
            };
            let why = format!("{why}, so its input checks were tested more than the tool");
            self.not_tested.insert(NotTested { what: tool.name.clone(), why });
        }
    }
}

/// Why a tool is not called; none where it is.
fn left_out(tool: &Tool, options: &FuzzOptions, server: &Server) -> Option<String> {
    if options.include.as_ref().is_some_and(|include| !include.is_match(&tool.name)) {
        return Some("it is not among --include".to_owned());
    }
    if options.exclude.as_ref().is_some_and(|exclude| exclude.is_match(&tool.name)) {
        return Some("it is among --exclude".to_owned());
    }
    if server.standing.is_harmless() {
        return None;
    }
    let held = held_back(tool, &options.destructive)?;
    Some(format!("{held}, and its effects would be real; [allow_destructive] tools lifts this"))
}
