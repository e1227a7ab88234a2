//! Cases in, findings out: what has been done so far, what is suspected, and what is proven.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use wallfacer_schema::Schema;

use super::attempt::attempt;
use super::confirm::{Confirmed, Inquiry};
use super::fuzz::{FuzzError, FuzzOptions};
use super::shard::{Judged, Manner, Part, perform_round, shard_size};
use super::shared::Shared;
use super::suspicion::{Suspicion, Suspicions};
use crate::catalogue::{Catalogue, Tool};
use crate::event::{Event, Listener};
use crate::findings::{Finding, Kind, Origin, Repro, Reproduced, ServerName, merge};
use crate::judge::{Charge, Context, weigh};
use crate::learn::Answers;
use crate::observe::{Answer, observe};
use crate::plan::{Case, Intent, Options, Planner, Step, Subject, held_back};
use crate::run::{Recording, Runner};
use crate::summary::{Fuzzed, NotTested, Note, Summary, ToolSummary};
use crate::target::{Era, Shown};
use crate::wire::{ConnectError, Server};

/// Part of the budget that is kept for confirming what was found.
const KEPT_FOR_CONFIRMING: f64 = 0.35;
/// Part of the time left that may be spent on confirming between two rounds: what is suspected goes before what is not tried.
const CONFIRMING_SHARE: f64 = 0.9;
/// Part of the budget for the cases of one round that are known to be slow.
const SLOW_SHARE: f64 = 0.1;
/// Rounds in which a tool may be given up before it is left alone.
const MAX_GIVEN_UP: usize = 3;
/// Calls of one tool in a row that show whether something grows with them.
const GROWTH_CALLS: u32 = 400;
/// With fewer iterations than this nobody wants so many calls.
const GROWTH_ITERATIONS: usize = 100;
/// Fewer valid calls than this say nothing of how many succeed.
const FEW_CALLS: u64 = 10;
/// Where less than this part of the valid calls succeeds, hardly more than the input checks was tested.
const LOW_SUCCESS: f64 = 0.1;

/// Rules that are told by their names when nothing can be said of them.
const FEW_RULES: usize = 3;

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
    chosen: Vec<&'a Tool>,
    schemas: BTreeMap<String, Schema>,
    summary: Summary,
    tools: BTreeMap<String, ToolSummary>,
    /// The first valid call of each tool that succeeded.
    good: BTreeMap<String, Case>,
    suspicions: Suspicions,
    /// Subjects that take long, but do answer.
    slow: BTreeSet<Subject>,
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
    out_of_time: bool,
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
        Campaign {
            options,
            server: ServerName { name: server.name.clone(), version: server.version.clone() },
            protocol: server.protocol.to_string(),
            era: server.era(),
            started,
            chosen,
            schemas: BTreeMap::new(),
            summary: Summary::default(),
            tools: BTreeMap::new(),
            good: BTreeMap::new(),
            suspicions: Suspicions::default(),
            slow: BTreeSet::new(),
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
            out_of_time: false,
        }
    }

    pub fn planner(&mut self) -> Planner {
        let options = Options {
            seed: self.options.seed,
            mode: self.options.mode,
            iterations: self.options.iterations,
            max_bytes: self.options.max_bytes,
        };
        let (planner, refused) = Planner::new(self.chosen.iter().copied(), options);
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

    /// Whether no further rounds are to be begun.
    pub fn is_over(&self) -> bool {
        self.rounds_until().is_some_and(|until| Instant::now() >= until)
    }

    /// Performs a round, looks into what is suspected, and makes up for what was left out without need.
    pub fn play(
        &mut self,
        cases: &[Case],
        phase: &str,
        field: &Field<'_>,
        mut planner: Option<&mut Planner>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        if cases.is_empty() {
            return Ok(());
        }
        self.round(cases, phase, field, planner.as_deref_mut(), listener)?;
        self.confirm(self.confirming_until(), field, listener)?;
        let left = std::mem::take(&mut self.left);
        let (slow, given_up): (Vec<_>, Vec<_>) =
            left.into_iter().partition(|(subject, _)| self.slow.contains(subject));
        for (subject, cases) in given_up {
            self.give_up(&subject, cases.len(), planner.as_deref_mut());
        }
        let slow: Vec<Case> = slow.into_iter().flat_map(|(_, cases)| cases).collect();
        if !slow.is_empty() {
            self.round(&slow, phase, field, planner, listener)?;
            self.confirm(self.confirming_until(), field, listener)?;
        }
        Ok(())
    }

    /// Looks into all that is still open.
    pub fn confirm_the_rest(
        &mut self,
        field: &Field<'_>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        self.confirm(self.end(), field, listener)
    }

    pub fn finish(mut self, target: Shown, server: Server) -> Fuzzed {
        for Suspicion { case, charge, .. } in self.suspicions.take() {
            let what = format!("a suspected {} in {}", charge.kind.name(), place(&case.subject));
            let why = "the budget was used up before it could be seen a second time".to_owned();
            self.not_tested.insert(NotTested { what, why });
        }
        let out_of_time = self.out_of_time || self.is_over();
        if out_of_time {
            let why = "the budget was used up".to_owned();
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
        }
    }

    /// Plays sequences, one after another, each on a fresh server.
    pub fn play_sequences(
        &mut self,
        cases: &[Case],
        field: &Field<'_>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        if cases.is_empty() {
            return Ok(());
        }
        listener.hear(&Event::RoundBegun { phase: "sequences", cases: cases.len() });
        let mut runner = (field.runner)();
        let patience = runner.patience().clone();
        for case in cases {
            if self.is_over() {
                self.out_of_time = true;
                break;
            }
            let tried = field.runtime.block_on(attempt(&mut runner, case, &patience, field.context))?;
            let played = tried.played.as_ref().unwrap_or(case);
            for (seen, tool) in tried.seen.steps.iter().zip(played.called_tools()) {
                self.summary.count(&seen.answer);
                self.tools.entry(tool.to_owned()).or_default().calls.count(&seen.answer);
            }
            self.note_ruling(case, tried.judgement.unknown);
            for charge in tried.judgement.charges.into_iter().filter(|charge| !is_of_watching(charge)) {
                self.suspicions.add(self.server.name.as_deref(), case, charge, Vec::new);
            }
        }
        field.runtime.block_on(runner.rest());
        self.lives += runner.lives;
        let (calls, suspicions) = (self.summary.calls, self.suspicions.len());
        listener.hear(&Event::RoundDone { phase: "sequences", calls, suspicions });
        self.confirm(self.confirming_until(), field, listener)
    }

    /// Judges rules about what the server says of its tools. What breaks one must be there again each time that it is
    /// asked, in each of these contexts.
    pub fn judge_listing(&mut self, cases: &[Case], contexts: &[Context], listener: &mut dyn Listener) {
        let nothing = Recording { steps: Vec::new(), stderr: None };
        let seen = observe(&nothing);
        for case in cases {
            let mut judged = contexts.iter().map(|context| weigh(case, &nothing, &seen, context));
            let Some(first) = judged.next() else { return };
            let again = judged.filter(|again| !again.charges.is_empty()).count();
            self.note_ruling(case, first.unknown);
            let (k, n) = (again as u32, contexts.len() as u32 - 1);
            self.take_listed(case, first.charges, Reproduced { k, n }, listener);
        }
    }

    /// Judges what the server declares. It is asked again only where something is not in order.
    pub fn judge_declarations(
        &mut self,
        cases: &[Case],
        first: &Context,
        again: &dyn Fn() -> Result<Vec<Context>, FuzzError>,
        listener: &mut dyn Listener,
    ) -> Result<(), FuzzError> {
        let nothing = Recording { steps: Vec::new(), stderr: None };
        let seen = observe(&nothing);
        let judge = |case: &Case, context: &Context| weigh(case, &nothing, &seen, context).charges;
        let broken = cases.iter().map(|case| (case, judge(case, first)));
        let broken: Vec<_> = broken.filter(|(_, charges)| !charges.is_empty()).collect();
        self.declarations += cases.len() as u64;
        if broken.is_empty() {
            return Ok(());
        }
        let contexts = again()?;
        self.lives += contexts.len() as u64;
        for (case, charges) in broken {
            let k = contexts.iter().filter(|context| !judge(case, context).is_empty()).count() as u32;
            self.take_listed(case, charges, Reproduced { k, n: contexts.len() as u32 }, listener);
        }
        Ok(())
    }

    fn take_listed(
        &mut self,
        case: &Case,
        charges: Vec<Charge>,
        reproduced: Reproduced,
        listener: &mut dyn Listener,
    ) {
        for charge in charges {
            let made = Box::new(charge.clone());
            let confirmed = Confirmed::Finding { charge: made, case: case.clone(), reproduced };
            let suspicion = Suspicion { case: case.clone(), charge, before: Vec::new() };
            self.take_confirmed(confirmed, suspicion, listener);
        }
    }

    /// A rule that cannot be tried at all.
    pub fn leave_rule(&mut self, rule: &str, why: String) {
        self.unknown.insert(rule.to_owned(), why);
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

    fn note_ruling(&mut self, case: &Case, unknown: Option<String>) {
        let Some(claim) = &case.claim else { return };
        match unknown {
            Some(why) => drop(self.unknown.entry(claim.rule.clone()).or_insert(why)),
            None => drop(self.judged.insert(claim.rule.clone())),
        }
    }

    /// Rules that say nothing, by the reason.
    fn tell_unknown(&mut self) {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (rule, why) in self.unknown.iter().filter(|(rule, _)| !self.judged.contains(*rule)) {
            reasons.entry(why).or_default().push(rule);
        }
        for (why, rules) in reasons {
            let what = match rules.len() {
                few if few <= FEW_RULES => rules.join(", "),
                many => format!("{} and {} other rules", rules[0], many - 1),
            };
            self.not_tested.insert(NotTested { what, why: why.to_owned() });
        }
    }

    fn end(&self) -> Option<Instant> {
        self.options.budget.map(|budget| self.started + budget)
    }

    fn rounds_until(&self) -> Option<Instant> {
        self.options.budget.map(|budget| self.started + budget.mul_f64(1.0 - KEPT_FOR_CONFIRMING))
    }

    fn confirming_until(&self) -> Option<Instant> {
        let left = self.end()?.saturating_duration_since(Instant::now());
        Some(Instant::now() + left.mul_f64(CONFIRMING_SHARE))
    }

    /// Performs the cases of one round, and takes in what was seen in the order of the cases. Those that are known to be
    /// slow come last, by themselves, so that nothing else waits for them.
    fn round(
        &mut self,
        cases: &[Case],
        phase: &str,
        field: &Field<'_>,
        mut planner: Option<&mut Planner>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        listener.hear(&Event::RoundBegun { phase, cases: cases.len() });
        let until = self.rounds_until();
        let slow: Vec<Case> =
            cases.iter().filter(|case| self.slow.contains(&case.subject)).cloned().collect();
        if slow.is_empty() {
            self.perform(cases, until, field, planner.as_deref_mut())?;
        } else {
            let quick = cases.iter().filter(|case| !self.slow.contains(&case.subject));
            let quick: Vec<Case> = quick.cloned().collect();
            self.perform(&quick, until, field, planner.as_deref_mut())?;
        }
        let share = |budget: Duration| Instant::now() + budget.mul_f64(SLOW_SHARE);
        let until = until.zip(self.options.budget).map(|(until, budget)| until.min(share(budget)));
        self.perform(&slow, until, field, planner)?;
        listener.hear(&Event::RoundDone {
            phase,
            calls: self.summary.calls,
            suspicions: self.suspicions.len(),
        });
        Ok(())
    }

    fn perform(
        &mut self,
        cases: &[Case],
        until: Option<Instant>,
        field: &Field<'_>,
        mut planner: Option<&mut Planner>,
    ) -> Result<(), ConnectError> {
        let slow = self.slow.clone();
        let (cases, twins) = paired(cases);
        let manner = Manner {
            context: field.context,
            in_flight: self.options.in_flight,
            workers: self.options.workers,
            until,
            slow: &slow,
            twins: &twins,
            learns: self.answers.is_some(),
        };
        for part in perform_round(&cases, field.runner, &manner)? {
            self.take_part(part, &cases, planner.as_deref_mut());
        }
        Ok(())
    }

    fn take_part(&mut self, part: Part, cases: &[Case], mut planner: Option<&mut Planner>) {
        self.lives += part.lives;
        self.out_of_time |= part.out_of_time;
        for (index, judged) in part.judged {
            self.take_case(cases, index, judged, planner.as_deref_mut());
        }
        for (subject, left) in part.given_up {
            let left = left.into_iter().map(|index| cases[index].clone());
            self.left.entry(subject).or_default().extend(left);
        }
        for unexplained in part.unexplained {
            let names: BTreeSet<_> =
                unexplained.suspects.iter().filter_map(|index| cases[*index].subject.name()).collect();
            let names: Vec<_> = names.into_iter().collect();
            let text = format!(
                "the server once {} with calls of {} in flight, and none of them alone makes it do so again",
                if unexplained.closed.is_some() { "ended" } else { "fell silent" },
                if names.is_empty() { "nothing".to_owned() } else { names.join(", ") },
            );
            self.notes.insert(Note { tool: None, text });
        }
    }

    fn take_case(&mut self, cases: &[Case], index: usize, judged: Judged, planner: Option<&mut Planner>) {
        let case = &cases[index];
        let valid = case.intent.is_valid() == Some(true);
        self.count(case, &judged.answer);
        if let (Some(answers), Some(sight), Some(tool)) =
            (&mut self.answers, judged.sight, case.subject.tool())
        {
            answers.entry(tool.to_owned()).or_default().add(sight);
        }
        if let Some(planner) = planner {
            match judged.answer {
                Answer::Completed if valid => planner.learn_success(case, judged.lessons),
                Answer::Completed => {}
                _ => planner.learn_refusal(case, judged.lessons),
            }
        }
        let tool = case.subject.tool().map(str::to_owned);
        self.notes.extend(judged.notes.into_iter().map(|text| Note { tool: tool.clone(), text }));
        self.note_ruling(case, judged.unknown);
        for (twin, judgement) in judged.twins {
            self.note_ruling(&twin, judgement.unknown);
            let wanted = judgement.charges.into_iter().filter(|charge| self.wants(charge));
            for charge in wanted.collect::<Vec<Charge>>() {
                self.suspicions.add(self.server.name.as_deref(), &twin, charge, Vec::new);
            }
        }
        let performed = judged.case.as_ref().unwrap_or(case);
        let before = || {
            let first = index - index % shard_size(cases.len());
            cases[first..index].iter().flat_map(|case| case.steps.clone()).collect()
        };
        for charge in judged.charges.into_iter().filter(|charge| self.wants(charge)).collect::<Vec<_>>() {
            self.suspicions.add(self.server.name.as_deref(), performed, charge, before);
        }
    }

    /// Counts what became of a case.
    pub fn count(&mut self, case: &Case, answer: &Answer) {
        self.summary.count(answer);
        self.summary.of_offers += u64::from(is_offer(&case.subject));
        let valid = case.intent.is_valid() == Some(true);
        let completed = *answer == Answer::Completed;
        if let Some(tool) = case.subject.tool() {
            let counts = self.tools.entry(tool.to_owned()).or_default();
            counts.calls.count(answer);
            counts.valid_calls += u64::from(valid);
            counts.valid_completed += u64::from(valid && completed);
            if valid && completed && case.single_call().is_some() {
                self.good.entry(tool.to_owned()).or_insert_with(|| case.clone());
            }
        }
    }

    fn wants(&self, charge: &Charge) -> bool {
        charge.kind.rule().is_some() || !self.only_rules && !is_of_watching(charge)
    }

    fn give_up(&mut self, subject: &Subject, cases: usize, planner: Option<&mut Planner>) {
        let times = self.given_up.entry(subject.clone()).or_default();
        *times += 1;
        if let (Some(planner), Some(tool)) = (planner, subject.tool())
            && *times >= MAX_GIVEN_UP
        {
            planner.stop(tool);
        }
        let text = format!("{cases} cases were left out because it kept ending or silencing the server");
        self.notes.insert(Note { tool: subject.name().map(str::to_owned), text });
    }

    /// Looks into what is suspected, until the time is up.
    fn confirm(
        &mut self,
        until: Option<Instant>,
        field: &Field<'_>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let suspicions = self.suspicions.take();
        if suspicions.is_empty() {
            return Ok(());
        }
        let mut runner = (field.runner)();
        for suspicion in suspicions {
            if until.is_some_and(|until| Instant::now() >= until) {
                self.suspicions.put_back(suspicion);
                continue;
            }
            let Suspicion { case, charge, .. } = &suspicion;
            if self.findings.explains(&charge.kind, &charge.cause, &case.subject) {
                continue;
            }
            let confirmed =
                field.runtime.block_on(self.look_into(&suspicion, &mut runner, field.context, until))?;
            self.take_confirmed(confirmed, suspicion, listener);
        }
        field.runtime.block_on(runner.rest());
        self.lives += runner.lives;
        Ok(())
    }

    async fn look_into(
        &self,
        suspicion: &Suspicion,
        runner: &mut Runner,
        context: &Context,
        until: Option<Instant>,
    ) -> Result<Confirmed, ConnectError> {
        let Suspicion { case, charge, before } = suspicion;
        let name = case.subject.tool();
        let tool = self.chosen.iter().copied().find(|chosen| Some(chosen.name.as_str()) == name);
        let schema = name.and_then(|name| self.schemas.get(name));
        let mut inquiry = Inquiry {
            runner,
            context,
            server: self.server.name.as_deref(),
            tool,
            era: self.era,
            until,
            minimise: !self.findings.has(&charge.kind, &charge.cause),
        };
        inquiry.look_into(case, charge, schema, before).await
    }

    pub(super) fn take_confirmed(
        &mut self,
        confirmed: Confirmed,
        suspicion: Suspicion,
        listener: &mut dyn Listener,
    ) {
        let Suspicion { case, charge, .. } = &suspicion;
        let name = case.subject.name().map(str::to_owned);
        match confirmed {
            Confirmed::Finding { charge, case: smallest, reproduced } => {
                let (origin, finding) = self.finding(&charge, &smallest, case, reproduced);
                if reproduced.always() {
                    let (finding, replaces) = self.findings.add(origin, finding, self.server.name.as_deref());
                    listener.hear(&Event::finding_widened(&finding, &replaces));
                } else {
                    listener.hear(&Event::finding_made(&finding));
                    self.flaky.push(finding);
                }
            }
            Confirmed::Slow(text) => {
                self.slow.insert(case.subject.clone());
                self.notes.insert(Note { tool: name, text });
            }
            Confirmed::Never => {
                let text = format!("seen once, never again: {}", charge.message);
                self.notes.insert(Note { tool: name, text });
            }
            Confirmed::OutOfTime => self.suspicions.put_back(suspicion),
        }
    }

    fn finding(
        &self,
        charge: &Charge,
        case: &Case,
        original: &Case,
        reproduced: Reproduced,
    ) -> (Origin, Finding) {
        let origin = Origin::new(self.server.name.as_deref(), &charge.kind, &case.subject, &charge.cause);
        let message = match &original.intent {
            Intent::Frame(name) => format!("{} after a frame of ours: {name}", charge.message),
            _ => charge.message.clone(),
        };
        let kept = as_stored(case, charge);
        let mut finding = Finding::new(&origin, charge.kind.clone(), &message, Repro::new(&kept, original));
        finding.severity = charge.severity.unwrap_or(finding.severity);
        finding.details = charge.details.clone();
        finding.evidence = charge.evidence.clone();
        finding.references = charge.references.clone();
        finding.reproduced = reproduced;
        finding.seed = self.options.seed;
        finding.server = self.server.clone();
        finding.protocol = Some(self.protocol.clone());
        if case.subject == Subject::Server {
            finding.tools.extend(original.subject.tool().map(str::to_owned));
        }
        (origin, finding)
    }

    /// Says of each tool of which hardly more than the input checks was tested.
    fn tell_low_success(&mut self) {
        for tool in &self.chosen {
            let counts = self.tools.get(&tool.name).cloned().unwrap_or_default();
            let (valid, good) = (counts.valid_calls, counts.valid_completed);
            let low = valid >= FEW_CALLS && (good as f64) < LOW_SUCCESS * valid as f64;
            let why = match good {
                0 if valid > 0 => "none of its valid calls succeeded".to_owned(),
                _ if low => format!("only {good} of its {valid} valid calls succeeded"),
                _ => continue,
            };
            let why = format!("{why}, so its input checks were tested more than the tool");
            self.not_tested.insert(NotTested { what: tool.name.clone(), why });
        }
    }
}

/// Cases that differ only in the rule that they are tried for, as one case with its twins: each call is made once.
fn paired(cases: &[Case]) -> (Vec<Case>, BTreeMap<usize, Vec<Case>>) {
    let mut firsts: Vec<Case> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut twins: BTreeMap<usize, Vec<Case>> = BTreeMap::new();
    for case in cases {
        let calls = case.claim.as_ref().and_then(|_| serde_json::to_string(&case.steps).ok());
        match calls.as_ref().and_then(|calls| places.get(calls)) {
            Some(first) => twins.entry(*first).or_default().push(case.clone()),
            None => {
                places.extend(calls.map(|calls| (calls, firsts.len())));
                firsts.push(case.clone());
            }
        }
    }
    (firsts, twins)
}

/// What goes wrong whatever the rule says is shown without the rule; what is held against something else, with it.
fn as_stored(case: &Case, charge: &Charge) -> Case {
    let about_rule = matches!(charge.kind, Kind::PropertyFailure { .. });
    let plays = case.claim.as_ref().is_some_and(|claim| claim.sequence().is_some());
    let claim = case.claim.clone().filter(|_| about_rule || plays);
    let measure = charge.measure.clone().or_else(|| case.measure.clone());
    Case { claim, measure, ..case.clone() }
}

/// What calls do is held against what is said of them where that is looked for.
fn is_of_watching(charge: &Charge) -> bool {
    matches!(charge.kind, Kind::UndeclaredBehaviour)
}

fn is_offer(subject: &Subject) -> bool {
    matches!(subject, Subject::Resource(_) | Subject::Prompt(_) | Subject::Completion(_))
}

fn place(subject: &Subject) -> &str {
    subject.name().unwrap_or("the server")
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
