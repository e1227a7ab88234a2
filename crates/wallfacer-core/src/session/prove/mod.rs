//! Proves what is suspected: each suspicion is seen again on fresh servers, made small, and told once. Proofs run beside
//! everything else.

mod batch;
mod constraint;
mod disturbed;
mod extreme;
mod hang;
mod inquiry;
mod learned;
mod narrow;
mod rounds;
mod sequence;
mod shared;
mod slowness;
mod smaller;
mod spoiled;
mod suspicion;
mod together;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wallfacer_schema::Schema;

pub use constraint::Constraint;
pub use inquiry::{Confirmed, Inquiry};
pub use narrow::Narrow;
pub use sequence::may_leave_out_steps;
pub use suspicion::{Interest, Suspicion};

use self::extreme::Extreme;
use self::learned::LearnedValues;
use self::shared::Shared;
use self::spoiled::Spoiled;
use self::suspicion::Suspicions;
use super::lab::{Failed, Lab};
use crate::catalogue::Catalogue;
use crate::event::{Event, Listener};
use crate::findings::{Bug, Cause, Finding, FindingId, Kind, Origin, Repro, Reproduced, ServerName, merge};
use crate::judge::Charge;
use crate::plan::{Case, Intent, Lesson, Subject, is_extreme};
use crate::run::{Runner, Urgency};
use crate::summary::Note;
use crate::target::{Era, Severity};
use crate::wire::Server;

/// Suspicions that are looked into on the same fresh servers.
const MAX_BATCH: usize = 24;
/// So many wait for no others to share their servers with, and none waits longer than this.
const FULL_BATCH: usize = 8;
const MOST_WAITING: Duration = Duration::from_secs(2);

/// Servers beside the first that one proof may ask at the same time.
const MOST_AT_ONCE: usize = 3;

/// What is suspected of one server, and what is proven.
pub struct Prover {
    server: ServerName,
    protocol: String,
    era: Era,
    seed: u64,
    /// Directories that only the server itself says it keeps to.
    stated: Vec<String>,
    catalogue: Arc<Catalogue>,
    schemas: Arc<BTreeMap<String, Schema>>,
    suspicions: Suspicions,
    /// What there was no time for.
    postponed: Vec<Suspicion>,
    /// What became of suspicions since this was last asked.
    outcomes: Vec<Outcome>,
    raised: u64,
    /// What is being looked into: no two proofs of one cause run at once, for the second may not be needed.
    running: BTreeMap<u64, Vec<Key>>,
    /// Those of them that are of more than little weight.
    grave: BTreeSet<u64>,
    begun: u64,
    findings: Shared,
    spoiled: Spoiled,
    flaky: Vec<Finding>,
    too_much: Vec<TooMuch>,
    notes: BTreeSet<Note>,
    learned: LearnedValues,
}

/// Suspicions with one key may have one proof.
type Key = (&'static str, Option<Cause>);

/// So large or so deep a request does this to the server, whatever it asks for.
#[derive(Debug)]
struct TooMuch {
    kind: &'static str,
    extreme: Extreme,
    finding: FindingId,
}

/// Suspicions that are looked into together, with all that it takes.
pub struct Proof {
    pub number: u64,
    pub suspicions: Vec<Suspicion>,
    /// Whether starts are dear.
    dear: bool,
    server: Option<String>,
    era: Era,
    catalogue: Arc<Catalogue>,
    schemas: Arc<BTreeMap<String, Schema>>,
    minimise: bool,
    until: Option<Instant>,
}

/// What came of a proof, as far as the test that raised it has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub subject: Subject,
    pub was_of_hang: bool,
    /// It takes long, but does answer.
    pub slow: bool,
    /// It is so.
    pub proven: bool,
}

impl Outcome {
    fn of(suspicion: &Suspicion, confirmed: Option<&Confirmed>) -> Outcome {
        let subject = suspicion.case.subject.clone();
        let slow = matches!(confirmed, Some(Confirmed::Slow(_)));
        let proven = matches!(confirmed, Some(Confirmed::Finding { .. }));
        Outcome { subject, was_of_hang: suspicion.is_of_hang(), slow, proven }
    }
}

impl Prover {
    /// Of a server that says by itself which directories it keeps to.
    pub fn of_stated<'p>(self, stated: impl Iterator<Item = &'p Path>) -> Prover {
        Prover { stated: stated.map(|path| path.to_string_lossy().into_owned()).collect(), ..self }
    }

    pub fn new(
        server: &Server,
        catalogue: &Arc<Catalogue>,
        schemas: &Arc<BTreeMap<String, Schema>>,
        seed: u64,
    ) -> Prover {
        Prover {
            server: ServerName { name: server.name.clone(), version: server.version.clone() },
            protocol: server.protocol.to_string(),
            era: server.era(),
            seed,
            stated: Vec::new(),
            catalogue: catalogue.clone(),
            schemas: schemas.clone(),
            suspicions: Suspicions::default(),
            postponed: Vec::new(),
            outcomes: Vec::new(),
            raised: 0,
            running: BTreeMap::new(),
            grave: BTreeSet::new(),
            begun: 0,
            findings: Shared::default(),
            spoiled: Spoiled::default(),
            flaky: Vec::new(),
            too_much: Vec::new(),
            notes: BTreeSet::new(),
            learned: LearnedValues::default(),
        }
    }

    /// Adds a suspicion, unless its bug is suspected already, or a finding says it all.
    pub fn suspect(&mut self, mut suspicion: Suspicion) {
        let name = self.server.name.clone();
        self.raised += 1;
        suspicion.number.1 = self.raised;
        let settled = Outcome::of(&suspicion, None);
        let wanted = suspicion.interest.wants(&suspicion.charge);
        if !wanted || !self.suspicions.add(name.as_deref(), suspicion) {
            self.outcomes.push(settled);
        }
    }

    /// What became of suspicions since this was last asked.
    pub fn take_outcomes(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.outcomes)
    }

    /// A case was performed, and its answer named these values.
    pub fn hear(&mut self, case: &Case, lessons: &[Lesson]) {
        self.learned.send(case);
        self.learned.hear(lessons);
    }

    pub fn note(&mut self, note: Note) {
        self.notes.insert(note);
    }

    /// What waits or is being looked into.
    pub fn open(&self) -> usize {
        self.suspicions.len() + self.running.len()
    }

    /// Whether anything of more than little weight waits or is being looked into: only that may take the time of exploring.
    pub fn has_grave(&self) -> bool {
        let is_grave = |suspicion: &Suspicion| suspicion.severity() > Severity::Low;
        !self.grave.is_empty() || self.suspicions.waiting().any(is_grave)
    }

    /// Each that waits, as a person would name it.
    pub fn in_words(&self) -> Vec<String> {
        self.suspicions.waiting().map(Suspicion::in_words).collect()
    }

    /// The next proof; none where nothing waits that may be looked into now. `least` leaves out what is less severe.
    /// `exploring` where more may still come up that can share the servers of a proof, `dear` where as many as possible are to.
    pub fn next(
        &mut self,
        least: Severity,
        exploring: bool,
        dear: bool,
        until: Option<Instant>,
    ) -> Option<Proof> {
        loop {
            let sharing =
                self.suspicions.waiting().filter(|suspicion| suspicion.shares_servers(dear)).count();
            let is_ready = |suspicion: &Suspicion| {
                !exploring
                    || !suspicion.shares_servers(dear)
                    || sharing >= FULL_BATCH
                    || suspicion.raised.elapsed() >= MOST_WAITING
            };
            let busy: BTreeSet<&Key> = self.running.values().flatten().collect();
            let may = |suspicion: &Suspicion| {
                is_ready(suspicion)
                    && suspicion.severity() >= least
                    && keys(suspicion).iter().all(|key| !busy.contains(key))
            };
            let first = self.suspicions.take(may)?;
            if self.is_explained(&first.case, &first.charge) {
                self.outcomes.push(Outcome::of(&first, None));
                continue;
            }
            let mut suspicions = vec![first];
            if suspicions[0].shares_servers(dear) {
                let first = suspicions[0].clone();
                let mut room = MAX_BATCH - 1;
                let same = self.suspicions.take_all(|other| {
                    other.shares_servers(dear)
                        && other.interest == first.interest
                        && (other.world, &other.case.prelude) == (first.world, &first.case.prelude)
                });
                for other in same {
                    match room {
                        0 => self.suspicions.put_back(other),
                        _ => {
                            room -= 1;
                            suspicions.push(other);
                        }
                    }
                }
            }
            self.begun += 1;
            self.running.insert(self.begun, suspicions.iter().flat_map(keys).collect());
            if suspicions[0].severity() > Severity::Low {
                self.grave.insert(self.begun);
            }
            let charge = &suspicions[0].charge;
            return Some(Proof {
                number: self.begun,
                minimise: !self.findings.has(&charge.kind, &charge.cause, &suspicions[0].case.subject),
                suspicions,
                dear,
                server: self.server.name.clone(),
                era: self.era,
                catalogue: self.catalogue.clone(),
                schemas: self.schemas.clone(),
                until,
            });
        }
    }

    /// Takes what a proof came to.
    pub fn take(&mut self, proof: Proof, confirmed: Vec<Confirmed>, listener: &mut dyn Listener) {
        self.running.remove(&proof.number);
        self.grave.remove(&proof.number);
        for (suspicion, confirmed) in proof.suspicions.into_iter().zip(confirmed) {
            self.outcomes.push(Outcome::of(&suspicion, Some(&confirmed)));
            match confirmed {
                Confirmed::Another(charge) if suspicion.interest.wants(&charge) => {
                    let before = Vec::new();
                    self.suspect(Suspicion { charge: *charge, before, ..suspicion });
                }
                Confirmed::Alone => self.suspicions.put_back(Suspicion { alone: true, ..suspicion }),
                confirmed => self.take_one(confirmed, suspicion, listener),
            }
        }
    }

    /// A proof was broken off.
    pub fn give_back(&mut self, proof: Proof) {
        self.running.remove(&proof.number);
        self.grave.remove(&proof.number);
        self.postponed.extend(proof.suspicions);
    }

    /// Something was proven without a server of its own, or its proof is known.
    pub fn take_one(&mut self, confirmed: Confirmed, suspicion: Suspicion, listener: &mut dyn Listener) {
        let Suspicion { case, charge, .. } = &suspicion;
        let name = case.subject.name().map(str::to_owned);
        match confirmed {
            Confirmed::Finding { charge, case: smallest, reproduced } => {
                if self.is_explained(&smallest, &charge) {
                    return;
                }
                let (origin, finding) = self.finding(&charge, &smallest, case, reproduced);
                if reproduced.always() {
                    self.spoiled.add(&finding, &smallest);
                    self.too_much.extend(Extreme::of_request(&smallest).map(|extreme| TooMuch {
                        kind: charge.kind.name(),
                        extreme,
                        finding: finding.id.clone(),
                    }));
                    let server = self.server.name.clone();
                    let (finding, replaces) =
                        self.findings.add(suspicion.number, origin, finding, &charge.way, server.as_deref());
                    listener.hear(&Event::finding_widened(&finding, &replaces));
                } else {
                    listener.hear(&Event::finding_made(&finding));
                    self.flaky.push(finding);
                }
            }
            Confirmed::Slow(text) => self.note(Note { tool: name, text }),
            // More calls were made to see whether it goes on, and it does not.
            Confirmed::Never if charge.kind == Kind::ResourceGrowth => {}
            Confirmed::Works => {}
            // The server was spoiled before what is suspected here; what did it is told.
            Confirmed::Never if case.intent == Intent::Together && self.findings.knows(&charge.cause) => {}
            Confirmed::Never | Confirmed::Another(_) => {
                let text = format!("seen once, never again: {}", charge.message);
                self.note(Note { tool: name, text });
            }
            Confirmed::OutOfTime | Confirmed::Alone => self.postponed.push(suspicion),
        }
    }

    /// What is left unproven, what was proven each time, what was not, and what is worth knowing.
    pub fn finish(mut self) -> Proven {
        let mut unproven = Vec::new();
        let postponed = std::mem::take(&mut self.postponed);
        for suspicion in self.suspicions.take_all(|_| true).into_iter().chain(postponed) {
            if !self.is_explained(&suspicion.case, &suspicion.charge) {
                unproven.push(suspicion.in_words());
            }
        }
        let findings = merge(self.findings.findings(self.server.name.as_deref()));
        let findings = self.spoiled.without_suffering(findings);
        let learned = &self.learned;
        let notes = std::mem::take(&mut self.notes).into_iter();
        let notes = notes.map(|note| Note { text: learned.taken_from(note.text), ..note }).collect();
        let tokens = self.learned.tokens();
        Proven { findings, flaky: merge(self.flaky), notes, unproven, tokens }
    }

    /// Whether a finding says it all.
    fn is_explained(&mut self, case: &Case, charge: &Charge) -> bool {
        self.findings.explains(charge, &case.subject, self.server.name.as_deref())
            || self.is_of_any_such_request(case, &charge.kind)
    }

    /// Whether any request as large or as deep is known to do the same to the server; then the tool has no part in it.
    fn is_of_any_such_request(&mut self, case: &Case, kind: &Kind) -> bool {
        let same = |too_much: &&TooMuch| too_much.kind == kind.name() && too_much.extreme.is_reached_by(case);
        let Some(known) = self.too_much.iter().find(same) else { return false };
        if let Some(tool) = case.subject.tool() {
            self.findings.shows_in(&known.finding, tool);
        }
        true
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
            Intent::Frame(name) => format!("{} after a malformed message was sent: {name}", charge.message),
            _ => charge.message.clone(),
        };
        let kept = as_stored(case, charge);
        let mut finding = Finding::new(&origin, charge.kind.clone(), &message, Repro::new(&kept, original));
        finding.severity = charge.severity.unwrap_or(finding.severity);
        finding.details = charge.details.clone();
        finding.evidence = charge.evidence.clone();
        finding.references = charge.references.clone();
        finding.reproduced = reproduced;
        finding.seed = self.seed;
        finding.server = self.server.clone();
        finding.protocol = Some(self.protocol.clone());
        finding.stated = self.stated.clone();
        finding.learned = self.learned.of(&kept);
        if case.subject == Subject::Server {
            finding.tools.extend(original.subject.tool().map(str::to_owned));
        }
        (origin, finding)
    }
}

/// All that came of the suspicions of a run.
pub struct Proven {
    pub findings: Vec<Finding>,
    pub flaky: Vec<Finding>,
    pub notes: BTreeSet<Note>,
    /// What there was no time to prove, in words.
    pub unproven: Vec<String>,
    /// Tokens that the server gave.
    pub tokens: Vec<String>,
}

impl Proof {
    /// Looks into it; what each of the suspicions came to. Any thread may do so.
    pub fn perform(&self, lab: &Lab) -> Result<Vec<Confirmed>, Failed> {
        let world = self.suspicions[0].world;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.expect("a thread that just started can wait");
        let shares = self.suspicions[0].shares_servers(self.dear);
        // What shares its servers needs two, and the others as many as it takes to make them small.
        let mut runner = if shares { lab.runner(world) } else { lab.runner(world).needing_more() };
        runner.repeat_until(self.until);
        let urgency = match self.suspicions[0].severity() {
            Severity::Critical | Severity::High => Urgency::Soon,
            Severity::Medium => Urgency::Later,
            Severity::Low => Urgency::Last,
        };
        let purpose = format!("{world:?}, proof {} of {}", self.number, self.suspicions[0].in_words());
        runner.start_for(purpose.clone(), urgency);
        let others = if lab.is_parallel() { MOST_AT_ONCE } else { 0 };
        let mut others: Vec<Runner> = (0..others).map(|_| lab.runner(world)).collect();
        others.iter_mut().for_each(|other| other.start_for(purpose.clone(), urgency));
        let looked = runtime.block_on(lab.stop().unless(async {
            match &self.suspicions[..] {
                [one] if !shares => {
                    let mut inquiry = self.inquiry(one, &mut runner, &mut others);
                    Ok(vec![Box::pin(inquiry.look_into(one)).await?])
                }
                _ => batch::prove(self, &mut runner, others.first_mut()).await,
            }
        }));
        let _or_their_keepers = runtime.block_on(lab.stop().unless(async {
            runner.leave().await;
            for other in &mut others {
                other.leave().await;
            }
        }));
        Ok(looked??)
    }

    fn inquiry<'a>(
        &'a self,
        suspicion: &'a Suspicion,
        runner: &'a mut Runner,
        others: &'a mut [Runner],
    ) -> Inquiry<'a> {
        let name = suspicion.case.subject.tool();
        let tools = &self.catalogue.tools.entries;
        Inquiry {
            runner,
            others,
            context: &suspicion.context,
            server: self.server.as_deref(),
            tool: tools.iter().find(|tool| Some(tool.name.as_str()) == name),
            // A payload is what it is; less of it would be another.
            schema: name.and_then(|name| self.schemas.get(name)).filter(|_| !suspicion.interest.injection),
            era: self.era,
            until: self.until,
            minimise: self.minimise,
        }
    }
}

/// What no other proof that runs at the same time may be about.
fn keys(suspicion: &Suspicion) -> Vec<Key> {
    let Suspicion { case, charge, .. } = suspicion;
    let kind = charge.kind.name();
    let mut keys = Vec::new();
    if !suspicion.is_of_hang() {
        let bug = Bug::of(&charge.kind, &charge.cause, &case.subject);
        keys.push((kind, Some(bug.cause().clone())));
    }
    // A request that is too large or too deep may do the same to any tool.
    if matches!(charge.kind, Kind::Crash | Kind::Hang { .. }) && is_extreme(case) {
        keys.push((kind, None));
    }
    keys
}

/// What goes wrong whatever the rule says is shown without the rule; what is held against something else, with it.
fn as_stored(case: &Case, charge: &Charge) -> Case {
    let about_rule = matches!(charge.kind, Kind::PropertyFailure { .. });
    let plays = case.claim.as_ref().is_some_and(|claim| claim.sequence().is_some());
    let claim = case.claim.clone().filter(|_| about_rule || plays);
    let measure = charge.measure.clone().or_else(|| case.measure.clone());
    Case { claim, measure, ..case.clone() }
}
