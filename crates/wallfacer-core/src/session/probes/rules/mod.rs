//! Tries rules on a running server. What a server says of its tools is judged without a call, fixed arguments are sent once,
//! and sequences are played.

mod tasks;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use wallfacer_rules::{Rules, ToolShape};

use super::differential::Listing;
use super::fuzz::Fuzz;
use super::notebook::Seen;
use super::{Notebook, Probe};
use crate::event::{Event, Listener};
use crate::findings::Kind;
use crate::judge::Context;
use crate::plan::{Case, Input, Intent, Step};
use crate::run::Taken;
use crate::session::agenda::Selection;
use crate::session::lab::{Done, Job, Started, Tried, Work, World, learn_noise, observer, said};
use crate::session::look::Known;
use crate::session::options::FuzzOptions;
use crate::session::prove::{Interest, Outcome};
use crate::summary::RulesTried;
use crate::wire::Connector;

use self::tasks::Tasks;
pub use self::tasks::needs;

/// Rules that are told by their names when nothing can be said of them.
const FEW_RULES: usize = 3;
/// Jobs of the two probes within are told apart by their numbers.
const OWN: u64 = 1 << 32;
const LISTS: u64 = 1 << 33;

/// How to try rules.
#[derive(Debug, Clone)]
pub struct PropertyOptions {
    /// Which tools, with which seed, and for how long.
    pub effort: FuzzOptions,
    /// Inputs of a rule that names no number.
    pub cases: u32,
    /// Whether crashes, hangs and broken answers are looked into here, and not left to another test.
    pub looks_further: bool,
    /// Further lines of noise, for rules that judge by effect.
    pub noise: Vec<String>,
}

/// Rules that belong together, by the name of their file or pack.
#[derive(Debug, Clone)]
pub struct RuleSet {
    pub name: String,
    pub rules: Rules,
    /// Whether they were written for this server: then a tool that it does not have is told.
    pub own: bool,
}

/// Which rules are tried on a server with these tools.
pub type Choose<'a> = &'a dyn Fn(&[ToolShape]) -> Vec<RuleSet>;

/// What rules have come to so far.
pub struct RulesProbe {
    /// Where effects are to be seen: how to watch, until it is known what the server does by itself.
    watching: Option<Watching>,
    asked_to_start: bool,
    seen: Seen,
    listing: Listing,
    sequences: VecDeque<Case>,
    /// Sequences that are being played.
    playing: usize,
    told_sequences: bool,
    calls: Fuzz,
    left_out: Vec<(String, String)>,
    /// What is told of all rules together.
    told: RulesTried,
    next: u64,
}

struct Watching {
    context: Context,
    connector: Connector,
    noise: Vec<String>,
}

impl RulesProbe {
    /// `context` knows what rules may name; the connector starts servers of the world that the rules need.
    pub fn new(
        (sets, shapes): (Vec<RuleSet>, &[ToolShape]),
        context: Context,
        (world, connector): (World, &Connector),
        known: &Known,
        selection: &Selection,
        options: &PropertyOptions,
    ) -> RulesProbe {
        let interest = match options.looks_further {
            true => Interest::ANSWERS,
            false => Interest::RULES,
        };
        let named = |own: bool| {
            sets.iter().filter(move |set| set.own == own).map(|set| set.name.clone()).collect::<BTreeSet<_>>()
        };
        let (files, packs) = (named(true), named(false));
        let tasks =
            Tasks::new((sets, shapes), &context, &known.catalogue, &known.schemas, options, selection);
        let Tasks { listing, calls, sequences, left_out, fit_no_tool } = tasks;
        let told = RulesTried { files, packs, fit_no_tool, ..RulesTried::default() };
        let watched = connector.world().is_watched();
        // Without an observer nothing is said of effects, and that is told by the rules themselves.
        let noise = options.noise.clone();
        let (watching, context) = match watched {
            true => {
                let plain = Context::new(&known.catalogue, known.server.protocol);
                (Some(Watching { context, connector: connector.clone(), noise }), plain)
            }
            false => (None, context),
        };
        let context = Arc::new(context);
        let marked = watching.as_ref().map(|watching| watching.context.marker.clone());
        let for_listing = match marked {
            Some(marker) => {
                Arc::new(Context { marker, ..Context::new(&known.catalogue, known.server.protocol) })
            }
            None => context.clone(),
        };
        let seen = Seen { world, context: context.clone(), interest };
        let calls = Fuzz::new(&options.effort, context, selection.clone())
            .with_cases("rules", calls)
            .seeing(world, interest);
        RulesProbe {
            watching,
            asked_to_start: false,
            listing: Listing::new(listing, &for_listing, known.server.protocol, interest),
            seen,
            sequences: sequences.into(),
            playing: 0,
            told_sequences: false,
            calls,
            left_out,
            told,
            next: OWN,
        }
    }

    /// Inputs whose answer was new in kind.
    pub fn news(&self) -> Vec<Input> {
        self.calls.news()
    }

    fn start(&mut self, started: &Started) {
        let Some(Watching { context, connector, noise }) = self.watching.take() else { return };
        let mut context = context;
        context.server_said = said(&started.server);
        if let Ok(mut watched) = observer(&connector, &started.server, &noise)
            && started.server.standing.observed.calls
        {
            learn_noise(&mut watched, &started.recording);
            context = context.with_watched(watched);
        }
        self.seen.context = Arc::new(context);
        self.calls.judge_by(self.seen.context.clone());
    }

    fn take_sequence(&mut self, tried: Tried, notebook: &mut Notebook) {
        self.playing -= 1;
        let played = tried.played.as_ref().unwrap_or(&tried.case);
        let tools: Vec<String> = played.called_tools().map(str::to_owned).collect();
        for (seen, tool) in tried.seen.steps.iter().zip(tools) {
            notebook.count(&crate::plan::Subject::Tool(tool), false, &seen.answer);
        }
        let passed = tried.judgement.unknown.is_none() && tried.judgement.charges.is_empty();
        if let Some(claim) = tried.case.claim.as_ref().filter(|_| passed) {
            self.told.sequences_passed.insert(claim.rule.clone());
        }
        self.calls.note_ruling(&tried.case, tried.judgement.unknown.clone());
        let deadly = deadly_call(&tried);
        for charge in tried.judgement.charges {
            let seen = self.seen.clone();
            match deadly.clone().filter(|_| charge.kind == Kind::Crash) {
                Some((case, before)) => notebook.suspect(&seen, &case, charge, before),
                None => notebook.suspect(&seen, &tried.case, charge, Vec::new()),
            }
        }
    }

    /// Rules that say nothing, by the reason.
    fn tell_unknown(&mut self, notebook: &mut Notebook) {
        for (case, unknown) in std::mem::take(&mut self.listing.rulings) {
            self.calls.note_ruling(&case, unknown);
        }
        let rulings = &self.calls.rulings;
        notebook.judged += rulings.values().filter(|unknown| unknown.is_none()).count() as u64;
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        let unknown = rulings.iter().filter_map(|(rule, why)| Some((rule.as_str(), why.as_deref()?)));
        let left_out = self.left_out.iter().map(|(rule, why)| (rule.as_str(), why.as_str()));
        let said = |rule: &str| rulings.get(rule).is_some_and(Option::is_none);
        let mut all: BTreeMap<&str, &str> = left_out.filter(|(rule, _)| !said(rule)).collect();
        for (rule, why) in unknown {
            all.entry(rule).or_insert(why);
        }
        for (rule, why) in all {
            reasons.entry(why).or_default().push(rule);
        }
        for (why, rules) in reasons {
            let what = match rules.len() {
                few if few <= FEW_RULES => rules.join(", "),
                many => format!("{} and {} other rules", rules[0], many - 1),
            };
            notebook.leave_out(&what, why);
        }
    }
}

/// The call of a sequence that ended the server, and the steps before it: the crash is that of its tool, not of the sequence.
fn deadly_call(tried: &Tried) -> Option<(Case, Vec<Step>)> {
    let played = tried.played.as_ref()?;
    let place = tried.recording.steps.iter().position(Taken::is_fatal)?;
    let Step::Call { params, .. } = played.steps.get(place)? else { return None };
    let (name, arguments) = (params.get("name")?.as_str()?, params.get("arguments")?.clone());
    let case = Case::tool(name, arguments, Intent::Rule, played.seed);
    Some((case, played.steps[..place].to_vec()))
}

impl Probe for RulesProbe {
    fn name(&self) -> &'static str {
        "rules"
    }

    fn propose(&mut self, computes: bool, listener: &mut dyn Listener) -> Option<(u64, Job)> {
        if let Some((number, job)) = self.listing.propose(computes, listener) {
            return Some((LISTS + number, job));
        }
        let nothing = self.sequences.is_empty() && self.calls.is_done();
        if self.watching.is_some() && !nothing {
            let asked = self.asked_to_start;
            self.asked_to_start = true;
            let Seen { world, context, .. } = self.seen.clone();
            let job = Job { world, context, work: Work::Start, waits: true };
            return (!asked).then_some((OWN, job));
        }
        if computes && let Some(case) = self.sequences.pop_front() {
            if !std::mem::replace(&mut self.told_sequences, true) {
                let cases = self.sequences.len() + 1;
                listener.hear(&Event::RoundBegun { phase: "sequences", cases });
            }
            self.next += 1;
            self.playing += 1;
            let Seen { world, context, .. } = self.seen.clone();
            let work = Work::OneByOne { cases: vec![case], patient: true };
            return Some((self.next, Job { world, context, work, waits: false }));
        }
        self.calls.propose(computes, listener)
    }

    fn read(&mut self, number: u64, done: Done, notebook: &mut Notebook, listener: &mut dyn Listener) {
        match done {
            done if number >= LISTS => self.listing.read(number - LISTS, done, notebook, listener),
            Done::Started(started) => self.start(&started),
            Done::OneByOne(tried) if number > OWN => {
                // One that there was no time for is not back.
                if tried.is_empty() {
                    self.playing -= 1;
                }
                tried.into_iter().for_each(|tried| self.take_sequence(tried, notebook));
            }
            done => self.calls.read(number, done, notebook, listener),
        }
    }

    fn hear(&mut self, outcome: &Outcome, notebook: &mut Notebook) {
        self.calls.hear(outcome, notebook);
    }

    fn is_done(&self) -> bool {
        self.listing.is_done() && self.sequences.is_empty() && self.playing == 0 && self.calls.is_done()
    }

    fn finish(&mut self, why: Option<&str>, notebook: &mut Notebook) {
        if let Some(why) = why.filter(|_| !self.is_done()) {
            notebook.leave_out("some rules", why);
        }
        self.listing.finish(why, notebook);
        self.calls.finish(None, notebook);
        self.tell_unknown(notebook);
        notebook.rules.add(std::mem::take(&mut self.told));
    }
}
