//! Stores each finding when it is made, then tells of it: whoever ends a run loses nothing that they were told of. What
//! was told is remembered, so that there is a report even where the session does not come back.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use wallfacer_core::event::{Event, Listener};
use wallfacer_core::findings::{Baseline, Finding, FindingId, Redaction};
use wallfacer_core::report::Report;
use wallfacer_core::stop::Reason;
use wallfacer_core::summary::{Moment, NotTested, Note, Run, Summary, ToolSummary};
use wallfacer_core::target::{Settings, Severity, Shown};
use wallfacer_core::wire::Server;

use super::conclude::conclude;
use super::output::{Listeners, RunOutput};
use super::selection::SelectionArgs;
use super::settle::tell_ending;
use super::store::Store;
use crate::interruption::{LastWords, Watch};

/// Moments that are written down of one run, and how close two rounds are that count as one.
const MOST_MOMENTS: usize = 2_000;
const CLOSE_MS: u64 = 200;

/// How long a listener that is busy is waited for before the last words are said.
const BUSY: Duration = Duration::from_millis(300);

/// The listener of a session that stores what it hears of.
pub struct RunRecorder {
    store: Arc<Store>,
    settings: Settings,
    heard: Arc<Mutex<Heard>>,
    begun: Instant,
}

/// What a session has said so far.
#[derive(Default)]
struct Heard {
    listeners: Option<Listeners>,
    target: Option<Shown>,
    server: Option<Server>,
    /// As they are stored.
    findings: Vec<Finding>,
    suspected: Vec<String>,
    /// Tools of which a valid call succeeded.
    reached: BTreeSet<String>,
    calls: u64,
    timeline: Vec<Moment>,
}

/// What a report needs that the session does not say.
pub struct ReportContext {
    pub command: &'static str,
    pub started: String,
    pub seed: u64,
    pub budget: Option<Duration>,
    pub threshold: Severity,
    pub source: Option<String>,
    pub baseline: Option<Baseline>,
    pub output: RunOutput,
    pub redaction: Redaction,
}

impl ReportContext {
    /// For a command without a baseline.
    pub fn new(
        command: &'static str,
        started: &str,
        seed: u64,
        selection: &SelectionArgs,
        source: Option<&String>,
        output: &RunOutput,
        redaction: &Redaction,
    ) -> ReportContext {
        ReportContext {
            command,
            started: started.to_owned(),
            seed,
            budget: selection.budget,
            threshold: selection.severity_threshold,
            source: source.cloned(),
            baseline: None,
            output: output.clone(),
            redaction: redaction.clone(),
        }
    }
}

impl RunRecorder {
    /// Begins to listen, and to be able to report what was heard.
    pub fn begin(
        store: &Arc<Store>,
        settings: &Settings,
        listeners: Listeners,
        context: ReportContext,
        watch: &Watch,
    ) -> RunRecorder {
        let heard = Arc::new(Mutex::new(Heard { listeners: Some(listeners), ..Heard::default() }));
        watch.begin(last_words(context, heard.clone(), store.clone(), watch.clone()));
        RunRecorder { store: store.clone(), settings: settings.clone(), heard, begun: Instant::now() }
    }

    /// The session is done.
    pub fn finish(self, watch: &Watch) {
        watch.conclude();
        let (listeners, timeline) = {
            let mut heard = self.heard();
            (heard.listeners.take(), std::mem::take(&mut heard.timeline))
        };
        self.store.remember(timeline);
        listeners.into_iter().for_each(Listeners::finish);
    }

    fn heard(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener for RunRecorder {
    fn hear(&mut self, event: &Event<'_>) {
        let mut heard = self.heard();
        if let Event::FindingMade { finding, replaces, .. } = event {
            let mut finding = (*finding).clone();
            let (kind, rule) = (finding.kind.name(), finding.kind.rule());
            let wanted = self.settings.severity(kind, rule, finding.tool.as_deref());
            finding.severity = wanted.unwrap_or(finding.severity);
            self.store.keep([&mut finding]);
            replaces.iter().for_each(|id| self.store.forget(id));
            heard.remember(finding, replaces);
        }
        heard.take_in(event);
        heard.note(event, self.begun.elapsed());
        heard.listeners.iter_mut().for_each(|listeners| listeners.hear(event));
    }
}

impl Heard {
    fn remember(&mut self, finding: Finding, replaces: &[FindingId]) {
        let told = format!("a suspected {} in {}", finding.kind.name(), finding.place());
        self.suspected.retain(|suspected| *suspected != told);
        self.findings.retain(|known| known.id != finding.id && !replaces.contains(&known.id));
        self.findings.push(finding);
    }

    /// Writes down when it happened. Rounds that follow each other closely are one moment, and so are starts.
    fn note(&mut self, event: &Event<'_>, since: Duration) {
        let (event, text) = match event {
            Event::RoundDone { phase, .. } => ("phase", (*phase).to_owned()),
            Event::FindingMade { kind, place, .. } => ("finding", format!("{kind} in {place}")),
            Event::ServerStarted { took_ms, .. } => {
                ("start", format!("the server was started, in {took_ms} ms"))
            }
            _ => return,
        };
        let ms = since.as_millis() as u64;
        let is_full = match event {
            // They are many, and must leave room for what they led to.
            "start" => self.timeline.len() >= MOST_MOMENTS / 2,
            _ => self.timeline.len() >= MOST_MOMENTS,
        };
        // The last moment stands for all that no room is left for.
        let last = match is_full && event == "phase" {
            true => self.timeline.last_mut().filter(|last| last.event == event),
            false => {
                self.timeline.iter_mut().rev().find(|last| last.event == event && ms < last.ms + CLOSE_MS)
            }
        };
        match last.filter(|_| event != "finding") {
            Some(last) => (last.calls, last.text) = (self.calls, text),
            None if is_full => {}
            None => self.timeline.push(Moment { ms, event: event.to_owned(), text, calls: self.calls }),
        }
    }

    fn take_in(&mut self, event: &Event<'_>) {
        match event {
            Event::Connecting { target } => self.target = Some((*target).clone()),
            Event::Connected { server, .. } => self.server = Some((*server).clone()),
            Event::RoundDone { calls, suspected, .. } => {
                self.calls = self.calls.max(*calls);
                self.suspected = suspected.to_vec();
            }
            Event::ToolReached { tool } => drop(self.reached.insert((*tool).to_owned())),
            _ => {}
        }
    }
}

fn last_words(
    context: ReportContext,
    heard: Arc<Mutex<Heard>>,
    store: Arc<Store>,
    watch: Watch,
) -> LastWords {
    Box::new(move |reason| {
        let Some(mut heard) = patiently(&heard) else { return Err(watch.broken_off()) };
        heard.listeners.take().into_iter().for_each(Listeners::finish);
        let (Some(target), Some(server)) = (heard.target.take(), heard.server.take()) else {
            return Err(watch.broken_off().redacted(&context.redaction));
        };
        let mut run = Run::empty(context.command, context.started.clone(), target, server);
        run.took = watch.elapsed();
        (run.seed, run.budget) = (context.seed, context.budget);
        run.summary.calls = heard.calls;
        let (findings, flaky) =
            std::mem::take(&mut heard.findings).into_iter().partition(|finding| finding.reproduced.always());
        run.add_findings(findings, flaky);
        let why = format!("{} before it could be seen a second time", watch.stop().why());
        let suspected = std::mem::take(&mut heard.suspected).into_iter();
        run.not_tested.extend(suspected.map(|what| NotTested { what, why: why.clone() }));
        if reason == Reason::Overdue {
            run.out_of_time = true;
            run.in_vain = Some("the run did not end within its time limit and was stopped");
            let why = "the run did not end within its time limit and was stopped".to_owned();
            run.not_tested.push(NotTested { what: "the rest of the plan".to_owned(), why });
        }
        // More is not known of them than that one call succeeded.
        let calls = Summary { calls: 1, completed: 1, ..Summary::default() };
        let once = ToolSummary { calls, valid_calls: 1, valid_completed: 1 };
        run.tools = std::mem::take(&mut heard.reached).into_iter().map(|tool| (tool, once.clone())).collect();
        if !run.tools.is_empty() {
            let text =
                "how often each tool was called is not known; of those that are listed a call succeeded";
            run.notes.push(Note { tool: None, text: text.to_owned() });
        }
        run.timeline = std::mem::take(&mut heard.timeline);
        run.keep_in = Some(store.runs().to_owned());
        tell_ending(&mut run, reason, &store);
        if let Some(baseline) = &context.baseline {
            run.hold_against(baseline);
            run.stale.clear();
        }
        conclude(
            &Report::new(&run, context.threshold, context.source.clone()),
            &context.output,
            &context.redaction,
        )
    })
}

/// What was heard, unless whoever listens does not come back either.
fn patiently(heard: &Mutex<Heard>) -> Option<MutexGuard<'_, Heard>> {
    let until = Instant::now() + BUSY;
    loop {
        match heard.try_lock() {
            Ok(heard) => return Some(heard),
            Err(TryLockError::Poisoned(heard)) => return Some(heard.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() >= until => return None,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}
