//! Exercise every tool, decide what is a bug, and keep each bug once, small, and proven.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use globset::GlobSet;

use super::confirm::{Confirmed, Inquiry};
use super::shard::{Judged, Part, SHARD, perform_round};
use crate::catalogue::{Catalogue, Tool, discover};
use crate::event::{Event, Listener};
use crate::findings::{Finding, FindingId, Kind, Origin, Repro, ServerName, merge};
use crate::judge::{Charge, Context};
use crate::observe::Answer;
use crate::plan::{Case, Intent, Mode, Options, Planner, Step, held_back, protocol_cases};
use crate::run::{Patience, Runner};
use crate::summary::{Fuzzed, NotTested, Note, Summary, ToolSummary};
use crate::target::Destructive;
use crate::wire::{ConnectError, Connector, Server};
use wallfacer_schema::Schema;

/// Part of the budget that is kept for confirming what was found.
const KEPT_FOR_CONFIRMING: f64 = 0.35;
const GRACE: Duration = Duration::from_secs(2);

/// How to fuzz.
#[derive(Debug, Clone)]
pub struct FuzzOptions {
    pub seed: u64,
    pub mode: Mode,
    pub iterations: usize,
    pub max_bytes: usize,
    pub include: Option<GlobSet>,
    pub exclude: Option<GlobSet>,
    pub max_tools: Option<usize>,
    pub in_flight: usize,
    pub workers: usize,
    pub budget: Option<Duration>,
    pub protocol_frames: bool,
    pub destructive: Destructive,
    /// Failures of earlier runs, which are tried before all else.
    pub stored: Vec<Case>,
}

impl Default for FuzzOptions {
    fn default() -> FuzzOptions {
        FuzzOptions {
            seed: 0,
            mode: Mode::Mixed,
            iterations: 200,
            max_bytes: 1 << 20,
            include: None,
            exclude: None,
            max_tools: None,
            in_flight: 16,
            workers: 1,
            budget: None,
            protocol_frames: false,
            destructive: Destructive::default(),
            stored: Vec::new(),
        }
    }
}

/// Why nothing could be fuzzed.
#[derive(Debug, thiserror::Error)]
pub enum FuzzError {
    #[error(transparent)]
    Connect(#[from] ConnectError),
    #[error("cannot set up what wallfacer waits with: {0}")]
    Runtime(#[from] std::io::Error),
}

/// Fuzzes one target.
pub fn fuzz(
    mut connector: Connector,
    options: &FuzzOptions,
    listener: &mut dyn Listener,
) -> Result<Fuzzed, FuzzError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let started = Instant::now();
    let target = connector.target().shown();
    listener.hear(&Event::Connecting { target: &target });
    let (server, catalogue) = runtime.block_on(look(&mut connector))?;
    let context = Context::new(&catalogue, server.protocol);
    let patience = Patience::new(connector.target().timeouts.clone());
    let runner = || Runner::new(connector.clone(), &catalogue, patience.clone());
    let mut campaign = Campaign::new(options, &catalogue, &server, started);
    let mut planner = campaign.planner();
    let stored = campaign.stored(&catalogue);
    if !stored.is_empty() {
        campaign.round(&stored, "stored", &runner, &context, None, listener)?;
        runtime.block_on(campaign.confirm(&mut runner(), &context, listener))?;
    }
    if options.protocol_frames {
        let cases = protocol_cases(server.protocol, options.max_bytes, options.seed);
        campaign.round(&cases, "protocol frames", &runner, &context, None, listener)?;
        runtime.block_on(campaign.confirm(&mut runner(), &context, listener))?;
    }
    while !campaign.is_over()
        && let Some(round) = planner.next_round()
    {
        let phase = format!("{:?}", round.phase).to_lowercase();
        campaign.round(&round.cases, &phase, &runner, &context, Some(&mut planner), listener)?;
        runtime.block_on(campaign.confirm(&mut runner(), &context, listener))?;
    }
    Ok(campaign.finish(target, server, started))
}

async fn look(connector: &mut Connector) -> Result<(Server, Catalogue), ConnectError> {
    let (mut connection, server) = connector.open().await?;
    let timeouts = connector.target().timeouts.clone();
    let catalogue = discover(&mut connection, &server, &timeouts).await;
    connection.close(GRACE).await;
    Ok((server, catalogue))
}

/// A charge that waits to be confirmed.
struct Suspicion {
    case: Case,
    charge: Charge,
    /// The steps of the cases that the same server had before, where it may be they that did it.
    before: Vec<Step>,
}

/// What has been done and found so far.
struct Campaign<'a> {
    options: &'a FuzzOptions,
    server: ServerName,
    protocol: String,
    /// When no further rounds are begun.
    until: Option<Instant>,
    chosen: Vec<&'a Tool>,
    schemas: BTreeMap<String, Schema>,
    summary: Summary,
    tools: BTreeMap<String, ToolSummary>,
    /// The first case of each suspected bug, in the order of cases.
    suspicions: Vec<(FindingId, Suspicion)>,
    looked_into: BTreeSet<FindingId>,
    findings: Vec<Finding>,
    flaky: Vec<Finding>,
    notes: BTreeSet<Note>,
    not_tested: BTreeSet<NotTested>,
    lives: u64,
    out_of_time: usize,
}

impl<'a> Campaign<'a> {
    fn new(
        options: &'a FuzzOptions,
        catalogue: &'a Catalogue,
        server: &Server,
        started: Instant,
    ) -> Campaign<'a> {
        let mut not_tested = BTreeSet::new();
        let mut chosen = Vec::new();
        for tool in &catalogue.tools.entries {
            match left_out(tool, options) {
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
            until: options.budget.map(|budget| started + budget.mul_f64(1.0 - KEPT_FOR_CONFIRMING)),
            chosen,
            schemas: BTreeMap::new(),
            summary: Summary::default(),
            tools: BTreeMap::new(),
            suspicions: Vec::new(),
            looked_into: BTreeSet::new(),
            findings: Vec::new(),
            flaky: Vec::new(),
            notes: BTreeSet::new(),
            not_tested,
            lives: 1,
            out_of_time: 0,
        }
    }

    fn planner(&mut self) -> Planner {
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

    /// The stored failures that may be tried: one that calls a tool which is left out stays away.
    fn stored(&mut self, catalogue: &Catalogue) -> Vec<Case> {
        let (tried, left): (Vec<&Case>, Vec<&Case>) = self.options.stored.iter().partition(|case| {
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

    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    /// Performs the cases of one round, and takes in what was seen in the order of the cases.
    fn round(
        &mut self,
        cases: &[Case],
        phase: &str,
        runner: &(dyn Fn() -> Runner + Sync),
        context: &Context,
        mut planner: Option<&mut Planner>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        listener.hear(&Event::RoundBegun { phase, cases: cases.len() });
        let FuzzOptions { in_flight, workers, .. } = *self.options;
        let parts = perform_round(cases, runner, context, in_flight, workers, self.until)?;
        for part in parts {
            self.take_part(part, cases, &mut planner);
        }
        listener.hear(&Event::RoundDone {
            phase,
            calls: self.summary.calls,
            suspicions: self.suspicions.len(),
        });
        Ok(())
    }

    fn take_part(&mut self, part: Part, cases: &[Case], planner: &mut Option<&mut Planner>) {
        self.lives += part.lives;
        self.out_of_time += part.out_of_time;
        for (index, judged) in part.judged {
            self.take_case(cases, index, judged, planner);
        }
        for (subject, left_out) in part.given_up {
            let text =
                format!("{left_out} cases were left out because it kept ending or silencing the server");
            self.notes.insert(Note { tool: subject.tool().map(str::to_owned), text });
            if let (Some(planner), Some(tool)) = (planner.as_deref_mut(), subject.tool()) {
                planner.stop(tool);
            }
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

    fn take_case(
        &mut self,
        cases: &[Case],
        index: usize,
        judged: Judged,
        planner: &mut Option<&mut Planner>,
    ) {
        let case = &cases[index];
        self.summary.count(&judged.answer);
        if let Some(tool) = case.subject.tool() {
            let counts = self.tools.entry(tool.to_owned()).or_default();
            counts.calls.count(&judged.answer);
            if case.intent.is_valid() == Some(true) {
                counts.valid_calls += 1;
                counts.valid_completed += u64::from(judged.answer == Answer::Completed);
            }
        }
        if let Some(planner) = planner.as_deref_mut() {
            match judged.answer {
                Answer::Completed if case.intent.is_valid() == Some(true) => {
                    planner.learn_success(case, judged.lessons)
                }
                Answer::Completed => {}
                _ => planner.learn_refusal(case, judged.lessons),
            }
        }
        for charge in judged.charges {
            let origin = Origin::new(self.server.name.as_deref(), &charge.kind, &case.subject, &charge.cause);
            if self.looked_into.insert(origin.id()) {
                let case = judged.case.clone().unwrap_or_else(|| case.clone());
                let fatal = matches!(charge.kind, Kind::Crash | Kind::Hang { .. });
                let first = if fatal { index - index % SHARD } else { index };
                let before = cases[first..index].iter().flat_map(|case| case.steps.clone()).collect();
                self.suspicions.push((origin.id(), Suspicion { case, charge, before }));
            }
        }
    }

    /// Looks into what is suspected.
    async fn confirm(
        &mut self,
        runner: &mut Runner,
        context: &Context,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        for (_, Suspicion { case, charge, before }) in std::mem::take(&mut self.suspicions) {
            let schema = case.subject.tool().and_then(|tool| self.schemas.get(tool));
            let server = self.server.name.clone();
            let tool = case.subject.tool();
            let tool = self.chosen.iter().copied().find(|chosen| Some(chosen.name.as_str()) == tool);
            let mut inquiry = Inquiry { runner: &mut *runner, context, server: server.as_deref(), tool };
            match inquiry.look_into(&case, &charge, schema, &before).await? {
                Confirmed::Finding { charge, case: smallest, reproduced } => {
                    let finding = self.finding(&charge, &smallest, &case, reproduced);
                    listener.hear(&Event::FindingMade {
                        id: finding.id.as_str(),
                        kind: finding.kind.name(),
                        place: finding.place(),
                    });
                    if reproduced.always() { self.findings.push(finding) } else { self.flaky.push(finding) }
                }
                Confirmed::Slow(text) => {
                    self.notes.insert(Note { tool: case.subject.tool().map(str::to_owned), text });
                }
                Confirmed::Never => {
                    let text = format!("seen once, never again: {}", charge.message);
                    self.notes.insert(Note { tool: case.subject.tool().map(str::to_owned), text });
                }
            }
        }
        runner.rest().await;
        self.lives += std::mem::take(&mut runner.lives);
        Ok(())
    }

    fn finding(
        &self,
        charge: &Charge,
        case: &Case,
        original: &Case,
        reproduced: crate::findings::Reproduced,
    ) -> Finding {
        let origin = Origin::new(self.server.name.as_deref(), &charge.kind, &case.subject, &charge.cause);
        let message = match &original.intent {
            Intent::Frame(name) => format!("{} after a frame of ours: {name}", charge.message),
            _ => charge.message.clone(),
        };
        let repro = Repro::new(case, original);
        let mut finding = Finding::new(&origin, charge.kind.clone(), &message, repro);
        finding.details = charge.details.clone();
        finding.evidence = charge.evidence.clone();
        finding.references = charge.references.clone();
        finding.reproduced = reproduced;
        finding.seed = self.options.seed;
        finding.server = self.server.clone();
        finding.protocol = Some(self.protocol.clone());
        finding
    }

    fn finish(mut self, target: crate::target::Shown, server: Server, started: Instant) -> Fuzzed {
        let out_of_time = self.out_of_time > 0 || self.is_over();
        if out_of_time {
            let why = "the budget was used up".to_owned();
            self.not_tested.insert(NotTested { what: "the rest of the plan".to_owned(), why });
        }
        for tool in &self.chosen {
            let counts = self.tools.get(&tool.name).cloned().unwrap_or_default();
            if counts.valid_calls > 0 && counts.valid_completed == 0 {
                let why = "none of its valid calls succeeded, so its input checks were tested, not the tool"
                    .to_owned();
                self.not_tested.insert(NotTested { what: tool.name.clone(), why });
            }
        }
        self.findings = merge(std::mem::take(&mut self.findings));
        self.flaky = merge(std::mem::take(&mut self.flaky));
        self.findings
            .sort_by(|one, other| other.severity.cmp(&one.severity).then_with(|| one.id.cmp(&other.id)));
        Fuzzed {
            target,
            server,
            seed: self.options.seed,
            took: started.elapsed(),
            lives: self.lives,
            summary: self.summary,
            tools: self.tools,
            findings: self.findings,
            flaky: self.flaky,
            notes: self.notes.into_iter().collect(),
            not_tested: self.not_tested.into_iter().collect(),
            out_of_time,
        }
    }
}

/// Why a tool is not called; none where it is.
fn left_out(tool: &Tool, options: &FuzzOptions) -> Option<String> {
    if options.include.as_ref().is_some_and(|include| !include.is_match(&tool.name)) {
        return Some("it is not among --include".to_owned());
    }
    if options.exclude.as_ref().is_some_and(|exclude| exclude.is_match(&tool.name)) {
        return Some("it is among --exclude".to_owned());
    }
    let held = held_back(tool, &options.destructive)?;
    Some(format!("{held}, and its effects would be real; [allow_destructive] tools lifts this"))
}
