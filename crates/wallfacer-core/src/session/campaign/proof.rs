//! What is suspected in, what is proven out: each looked into on fresh servers, and kept once.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::{Campaign, Field, TooMuch};
use crate::event::{Event, Listener};
use crate::findings::{Finding, Kind, Origin, Repro, Reproduced};
use crate::judge::{Charge, Context};
use crate::plan::{Case, Intent, Subject};
use crate::run::{Patience, Runner};
use crate::session::confirm::{Confirmed, Inquiry, waits_for_hang};
use crate::session::extreme::Extreme;
use crate::session::suspicion::Suspicion;
use crate::stop::Stopped;
use crate::summary::Note;
use crate::wire::ConnectError;

/// Part of the time left that may be spent on confirming between two rounds: what is suspected goes before what is not tried.
const CONFIRMING_SHARE: f64 = 0.9;
/// Part of that time which a hang may take, whose proof is mostly waiting; one that would take more is looked into last.
const HANG_SHARE: f64 = 0.15;
/// What a hang takes beside the time limits that are waited for: servers are started, and the case is made smaller.
const BESIDE_WAITING: Duration = Duration::from_secs(5);

/// How much of what is suspected is looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Haste {
    /// What takes little of the time that there is.
    BetweenRounds,
    /// All that there is time for.
    AtTheEnd,
}

impl Campaign<'_> {
    /// Looks into all that is still open.
    pub fn confirm_the_rest(
        &mut self,
        field: &Field<'_>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        self.confirm(Haste::AtTheEnd, field, listener)?;
        self.make_up("left over", field, None, listener)
    }

    /// Looks into what is suspected, until the time is up.
    pub(super) fn confirm(
        &mut self,
        haste: Haste,
        field: &Field<'_>,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let mut waiting = VecDeque::from(self.suspicions.take());
        if waiting.is_empty() {
            return Ok(());
        }
        self.idle.rest();
        let mut runner = (field.runner)();
        self.call_time = runner.patience().stretched(1).plain();
        self.hang_time = time_for_hang(runner.patience());
        let until = self.confirming_until(haste);
        runner.repeat_until(until);
        while let Some(suspicion) = waiting.pop_front() {
            let Suspicion { case, charge, .. } = &suspicion;
            if self.is_explained(case, charge) {
                continue;
            }
            let confirmed = match until.filter(|until| !self.has_time(&suspicion, *until, haste)) {
                Some(_) if !self.glanced.insert(case.subject.clone()) => Confirmed::OutOfTime,
                Some(until) => {
                    let glance = self.glance(&suspicion, &mut runner, field.context, until);
                    broken_off(field.runtime.block_on(self.options.stop.unless(glance)))?
                }
                None => {
                    let look = self.look_into(&suspicion, &mut runner, field.context, until);
                    broken_off(field.runtime.block_on(self.options.stop.unless(look)))?
                }
            };
            match confirmed {
                Confirmed::Another(charge) if self.wants(&charge) => {
                    let name = self.server.name.as_deref();
                    waiting.extend(self.suspicions.instead(name, &suspicion.case, *charge));
                }
                confirmed => self.take_confirmed(confirmed, suspicion, listener),
            }
        }
        let _or_its_keeper = field.runtime.block_on(self.options.stop.unless(runner.rest()));
        self.lives += runner.lives;
        Ok(())
    }

    /// Whether a finding says it all.
    pub(super) fn is_explained(&mut self, case: &Case, charge: &Charge) -> bool {
        self.findings.explains(&charge.kind, &charge.cause, &case.subject)
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

    /// The time that is to be left for the hangs that are still to be looked into.
    pub(super) fn kept_for_hangs(&self) -> Duration {
        self.hang_time * self.suspicions.of_hangs().len() as u32
    }

    fn confirming_until(&self, haste: Haste) -> Option<Instant> {
        let end = self.window.end()?;
        let left = end.saturating_duration_since(Instant::now());
        Some(match haste {
            Haste::AtTheEnd => end,
            Haste::BetweenRounds => Instant::now() + left.mul_f64(CONFIRMING_SHARE),
        })
    }

    fn has_time(&self, suspicion: &Suspicion, until: Instant, haste: Haste) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        match (&suspicion.charge.kind, haste) {
            (Kind::Hang { .. }, Haste::BetweenRounds) => self.hang_time < left.mul_f64(HANG_SHARE),
            _ => !left.is_zero(),
        }
    }

    async fn look_into(
        &self,
        suspicion: &Suspicion,
        runner: &mut Runner,
        context: &Context,
        until: Option<Instant>,
    ) -> Result<Confirmed, ConnectError> {
        let Suspicion { case, charge, before } = suspicion;
        let schema = case.subject.tool().and_then(|name| self.schemas.get(name));
        let mut inquiry = self.inquiry(suspicion, runner, context, until);
        inquiry.look_into(case, charge, schema, before).await
    }

    /// What takes little even where there is no time for a proof: one that is seen to be only slow needs none.
    async fn glance(
        &self,
        suspicion: &Suspicion,
        runner: &mut Runner,
        context: &Context,
        until: Instant,
    ) -> Result<Confirmed, ConnectError> {
        let left = until.saturating_duration_since(Instant::now());
        let until = Instant::now() + left.mul_f64(HANG_SHARE);
        let mut inquiry = self.inquiry(suspicion, runner, context, Some(until));
        Ok(inquiry.is_slow(&suspicion.case).await?.unwrap_or(Confirmed::OutOfTime))
    }

    fn inquiry<'b>(
        &'b self,
        Suspicion { case, charge, .. }: &Suspicion,
        runner: &'b mut Runner,
        context: &'b Context,
        until: Option<Instant>,
    ) -> Inquiry<'b> {
        let name = case.subject.tool();
        let tool = self.chosen.iter().copied().find(|chosen| Some(chosen.name.as_str()) == name);
        Inquiry {
            runner,
            context,
            server: self.server.name.as_deref(),
            tool,
            era: self.era,
            until,
            minimise: !self.findings.has(&charge.kind, &charge.cause),
        }
    }

    pub(in crate::session) fn take_confirmed(
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
                    self.too_much.extend(Extreme::of_request(&smallest).map(|extreme| TooMuch {
                        kind: charge.kind.name(),
                        extreme,
                        finding: finding.id.clone(),
                    }));
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
            // More calls were made to see whether it goes on, and it does not.
            Confirmed::Never if charge.kind == Kind::ResourceGrowth => {}
            Confirmed::Never | Confirmed::Another(_) => {
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
        finding.learned = self.learned.of(&kept);
        if case.subject == Subject::Server {
            finding.tools.extend(original.subject.tool().map(str::to_owned));
        }
        (origin, finding)
    }
}

/// What goes wrong whatever the rule says is shown without the rule; what is held against something else, with it.
fn as_stored(case: &Case, charge: &Charge) -> Case {
    let about_rule = matches!(charge.kind, Kind::PropertyFailure { .. });
    let plays = case.claim.as_ref().is_some_and(|claim| claim.sequence().is_some());
    let claim = case.claim.clone().filter(|_| about_rule || plays);
    let measure = charge.measure.clone().or_else(|| case.measure.clone());
    Case { claim, measure, ..case.clone() }
}

fn time_for_hang(patience: &Patience) -> Duration {
    waits_for_hang(patience) + BESIDE_WAITING
}

/// What is broken off is still suspected.
fn broken_off(looked: Result<Result<Confirmed, ConnectError>, Stopped>) -> Result<Confirmed, ConnectError> {
    looked.unwrap_or_else(|Stopped| Ok(Confirmed::OutOfTime))
}
