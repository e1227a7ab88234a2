//! Looks into one suspicion: seen again on fresh servers, made smaller, and seen once more.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use wallfacer_schema::Schema;

use super::extreme::Extreme;
use super::hang::{self, as_it_says, waits_on_purpose};
use super::narrow::Narrow;
use super::shared::FRAMES;
use super::suspicion::Suspicion;
use crate::catalogue::Tool;
use crate::findings::{Evidence, FindingId, Kind, Origin, Reproduced};
use crate::judge::{Charge, Context};
use crate::plan::{Case, DEEP, Intent, LARGE, Step, Subject, depth, is_extreme, params_size};
use crate::run::{Patience, Runner};
use crate::session::lab::attempt;
use crate::target::{Era, Severity};
use crate::wire::ConnectError;

/// Tries on fresh servers.
pub(super) const TRIES: u32 = 2;
/// A hang is only one if twice the time does not help.
pub(super) const STRETCH: u32 = 2;

/// What is known after a suspicion was looked into.
#[derive(Debug)]
pub enum Confirmed {
    /// It is so, at least once in the tries.
    Finding { charge: Box<Charge>, case: Case, reproduced: Reproduced },
    /// It takes long, but not for ever; in words.
    Slow(String),
    /// It did not happen each time, but this did: a server that takes long to die is taken for one that hangs.
    Another(Box<Charge>),
    /// It did not happen again.
    Never,
    /// It was answered after all, within its time.
    Works,
    /// It did not show among others each time, and is to be looked into alone.
    Alone,
    /// The time was up before anything could be said.
    OutOfTime,
}

/// Looks into suspicions, one at a time, alone on fresh servers.
pub struct Inquiry<'a> {
    pub runner: &'a mut Runner,
    /// For further servers at the same time, where they do not meet.
    pub others: &'a mut [Runner],
    pub context: &'a Context,
    pub server: Option<&'a str>,
    /// The tool that the case calls, where it is listed.
    pub tool: Option<&'a Tool>,
    /// The schema of that tool's arguments, where it can be used.
    pub schema: Option<&'a Schema>,
    pub era: Era,
    /// When nothing further is tried.
    pub until: Option<Instant>,
    /// Whether a smaller case is worth the time.
    pub minimise: bool,
}

impl Inquiry<'_> {
    /// What a suspicion comes to.
    pub async fn look_into(&mut self, suspicion: &Suspicion) -> Result<Confirmed, ConnectError> {
        let mut confirmed = self.find_out(suspicion).await?;
        let frames = &suspicion.charge.frames;
        if let (Confirmed::Finding { charge: proven, .. }, [_, _, ..]) = (&mut confirmed, &frames[..]) {
            let text = frames.join("\n");
            proven.evidence.insert(0, Evidence { label: FRAMES.to_owned(), text });
        }
        Ok(confirmed)
    }

    async fn find_out(&mut self, suspicion: &Suspicion) -> Result<Confirmed, ConnectError> {
        let Suspicion { case, charge, before, .. } = suspicion;
        if case.claim.as_ref().is_some_and(|claim| claim.sequence().is_some()) {
            return self.look_into_sequence(case, charge).await;
        }
        if case.intent == Intent::Together {
            return Box::pin(self.look_into_together(case, charge, before)).await;
        }
        if let Some(schedule) = case.schedule() {
            return self.look_into_rounds(case, schedule, charge).await;
        }
        if case.is_disturbed() || matches!(charge.kind, Kind::Conformance { .. }) {
            return Box::pin(self.look_into_disturbed(case, charge)).await;
        }
        if let Some(known) = self.of_any_such_request(case, charge).await? {
            return Ok(known);
        }
        let hang = charge.kind.is_hang();
        if hang && self.others.len() >= hang::AT_ONCE && case.single_call().is_some() {
            return self.look_into_hang(case, charge).await;
        }
        if hang && let Some(slow) = self.is_slow(case).await? {
            return Ok(slow);
        }
        // Half a proof is none, and would cost the time of another.
        if hang && self.is_over_in(self.runner.patience().stretched(STRETCH).plain()) {
            return Ok(Confirmed::OutOfTime);
        }
        let grown = with_more_calls(case, charge);
        let case = grown.as_ref().unwrap_or(case);
        let wanted = self.id(case, charge);
        // Who dies may take his time to do so; but that the loop died of a frame is seen by how the server ends, not by how
        // long it says nothing.
        let by_its_end = matches!(case.intent, Intent::Frame(_)) && charge.cause.names_its_place();
        let patience = match hang || charge.kind == Kind::Crash && !by_its_end {
            true => self.runner.patience().stretched(STRETCH),
            false => self.runner.patience().clone(),
        };
        let (reproduced, proven, another) = match self.try_often(case, &wanted, &patience, hang).await? {
            Tried::OutOfTime => return Ok(Confirmed::OutOfTime),
            Tried::Done { reproduced, proven, another } => (reproduced, proven, another),
        };
        if let Some(another) = another.filter(|_| proven.is_none() || hang && !reproduced.always()) {
            return Ok(Confirmed::Another(another));
        }
        // What a collector has not yet given back grows too, now and then.
        if charge.kind == Kind::ResourceGrowth && !reproduced.always() {
            return Ok(Confirmed::Never);
        }
        if hang && !reproduced.always() {
            let limit = seconds(self.runner.patience());
            return Ok(Confirmed::Slow(format!("an answer took more than {limit}")));
        }
        let Some(mut charge) = proven else { return self.look_into_history(case, charge, before).await };
        // Behind a frame of ours it is another request already that is not answered.
        if hang && case.single_call().is_some() {
            let wedged = self.runner.is_wedged_by(case).await?;
            if !wedged && self.tool.is_some_and(waits_on_purpose) {
                return Ok(as_it_says(self.runner.patience()));
            }
            let meanwhile =
                if wedged { "answers nothing else meanwhile" } else { "still answers other requests" };
            charge.message = format!("{}; it {meanwhile}", charge.message);
        }
        let narrow = Narrow::of(case, self.context);
        let case = match self.schema {
            _ if case.claim.is_some() => match narrow.filter(|_| reproduced.always() && self.minimise) {
                Some(narrow) => {
                    let (smallest, again) = self.narrow(case, &wanted, &narrow, &patience).await?;
                    charge = again.map_or(charge, Box::new);
                    smallest
                }
                None => case.clone(),
            },
            Some(schema) if reproduced.always() && self.minimise => {
                let (smallest, again) = self.minimise(case, &wanted, &charge, schema, hang).await?;
                charge = again.filter(|_| !hang).map_or(charge, Box::new);
                smallest
            }
            _ => case.clone(),
        };
        if charge.kind == Kind::InternalError && is_extreme(&case) {
            charge.severity = Some(Severity::Low);
        }
        Ok(Confirmed::Finding { charge, case, reproduced })
    }

    /// Tries a case on fresh servers, side by side where they do not meet. Else a hang that is answered once needs no second
    /// try, nor does what stops growing.
    pub(super) async fn try_often(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
        hang: bool,
    ) -> Result<Tried, ConnectError> {
        // Once twice the time did not help, the plain limit is enough to see it again.
        let plain = self.runner.patience().stretched(1);
        let again = if hang { &plain } else { patience };
        if self.is_over_in(if hang { patience.plain() } else { Duration::ZERO }) {
            return Ok(Tried::OutOfTime);
        }
        let (server, context) = (self.server, self.context);
        self.runner.rest().await;
        let mut tries = Vec::new();
        // What is measured is disturbed by another that is measured.
        let measured = case.intent.injection().is_some_and(|injection| injection.aim.is_measured());
        match self.others.first_mut().filter(|_| !measured) {
            Some(second) => {
                second.rest().await;
                let one = tried(self.runner, case, wanted, patience, context, server);
                let other = tried(second, case, wanted, again, context, server);
                let (one, other) = tokio::join!(one, other);
                tries.extend([one?, other?]);
            }
            None => {
                tries.push(tried(self.runner, case, wanted, patience, context, server).await?);
                let settled = hang || matches!(case.steps[..], [Step::Many { .. }]);
                if !settled || tries[0].0.is_some() {
                    if self.is_over_in(if hang { again.plain() } else { Duration::ZERO }) {
                        return Ok(Tried::OutOfTime);
                    }
                    self.runner.rest().await;
                    tries.push(tried(self.runner, case, wanted, again, context, server).await?);
                }
            }
        }
        let k = tries.iter().filter(|(seen, _)| seen.is_some()).count() as u32;
        let (mut proven, mut another) = (None, None);
        for (seen, others) in tries {
            proven = seen.map(Box::new).or(proven);
            another = another.or(gravest(others).map(Box::new));
        }
        Ok(Tried::Done { reproduced: Reproduced { k, n: TRIES }, proven, another })
    }

    /// A huge or deep request that goes wrong may do so whatever it asks for; then it is a fault of the server, not of the
    /// tool.
    async fn of_any_such_request(
        &mut self,
        case: &Case,
        charge: &Charge,
    ) -> Result<Option<Confirmed>, ConnectError> {
        let fatal = matches!(charge.kind, Kind::Crash | Kind::Hang { .. });
        let Some((_, params)) = case.single_call().filter(|_| fatal && case.subject != Subject::Server)
        else {
            return Ok(None);
        };
        for (extreme, least) in
            [(Extreme::Large(params_size(params)), LARGE), (Extreme::Deep(depth(params)), DEEP)]
        {
            if let Some(known) = self.of_any_request(case, charge, extreme, least).await? {
                return Ok(Some(known));
            }
        }
        Ok(None)
    }

    /// The same thing with a request that asks for nothing, as small as it goes. Only the smallest is given all the time.
    async fn of_any_request(
        &mut self,
        case: &Case,
        charge: &Charge,
        extreme: Extreme,
        least: usize,
    ) -> Result<Option<Confirmed>, ConnectError> {
        let hang = matches!(charge.kind, Kind::Hang { .. });
        let patience = self.runner.patience().stretched(STRETCH);
        let hurried = if hang { self.runner.patience().for_smaller() } else { patience.clone() };
        let mut found = None;
        let mut extreme = extreme;
        while extreme.measure() >= least && !self.is_over_in(hurried.plain()) {
            let probe = extreme.request(self.era, case.seed);
            let wanted = self.id(&probe, charge);
            match self.try_fresh(&probe, &wanted, &hurried).await? {
                Some(_) => found = Some((extreme, probe, wanted)),
                None => break,
            }
            extreme = extreme.halved();
        }
        let Some((extreme, probe, wanted)) = found else { return Ok(None) };
        match self.try_often(&probe, &wanted, &patience, hang).await? {
            Tried::OutOfTime => Ok(Some(Confirmed::OutOfTime)),
            Tried::Done { reproduced, proven: Some(mut charge), .. } => {
                charge.message =
                    format!("{} to a request of {extreme}, whatever it asks for", charge.message);
                if hang && !Box::pin(self.runner.is_wedged_by(&probe)).await? {
                    charge.message = format!("{}; it still answers other requests", charge.message);
                    charge.severity = Some(Severity::Low);
                    charge.details = "No client sends such a request by itself. A limit, and an error for what is beyond it, \
                                      would be better than silence."
                        .to_owned();
                }
                Ok(Some(Confirmed::Finding { charge, case: probe, reproduced }))
            }
            Tried::Done { .. } => Ok(None),
        }
    }

    /// Whether the time is up, or will be before this has passed.
    pub(super) fn is_over_in(&self, needed: Duration) -> bool {
        self.until.is_some_and(|until| Instant::now() + needed >= until)
    }

    /// The case alone is innocent; but with all that came before it on the same server it may not be.
    async fn look_into_history(
        &mut self,
        case: &Case,
        charge: &Charge,
        before: &[Step],
    ) -> Result<Confirmed, ConnectError> {
        if before.is_empty() {
            return Ok(Confirmed::Never);
        }
        if charge.kind.may_need_state() {
            return self.look_into_state(case, charge, before).await;
        }
        let steps = before.iter().chain(&case.steps).cloned().collect();
        let script = Case { subject: Subject::Server, steps, claim: None, ..case.clone() };
        let wanted = self.id(&script, charge);
        let patience = self.runner.patience().clone();
        let (reproduced, proven) = match self.try_often(&script, &wanted, &patience, false).await? {
            Tried::OutOfTime => return Ok(Confirmed::OutOfTime),
            Tried::Done { reproduced, proven, .. } => (reproduced, proven),
        };
        let Some(mut charge) = proven else { return Ok(Confirmed::Never) };
        let case = self.shorten(script, &wanted, &patience, (0, 0)).await?;
        charge.message = format!("{} after {} requests in a row", charge.message, case.steps.len());
        Ok(Confirmed::Finding { charge, case, reproduced })
    }

    /// What a tool answers may depend on what is stored: the call is tried behind the calls that came before it.
    async fn look_into_state(
        &mut self,
        case: &Case,
        charge: &Charge,
        before: &[Step],
    ) -> Result<Confirmed, ConnectError> {
        let prelude = before.iter().chain(&case.prelude).cloned().collect();
        let script = Case { prelude, ..case.clone() };
        let wanted = self.id(&script, charge);
        let patience = self.runner.patience().clone();
        let (reproduced, proven) = match self.try_often(&script, &wanted, &patience, false).await? {
            Tried::OutOfTime => return Ok(Confirmed::OutOfTime),
            Tried::Done { reproduced, proven, .. } => (reproduced, proven),
        };
        let Some(mut charge) = proven else { return Ok(Confirmed::Never) };
        let case = Box::pin(self.shorten_prelude(script, &wanted, &patience)).await?;
        charge.message = match &case.prelude[..] {
            [] => charge.message,
            [only] if only.tool().is_some() => {
                format!("{}; after a call of `{}`", charge.message, only.tool().unwrap_or_default())
            }
            more => format!("{}; after {} calls before it", charge.message, more.len()),
        };
        Ok(Confirmed::Finding { charge, case, reproduced })
    }

    pub(super) fn id(&self, case: &Case, charge: &Charge) -> FindingId {
        Origin::new(self.server, &charge.kind, &case.subject, &charge.cause).id()
    }

    /// Performs the case on a fresh server; gives the charge if it is the one that is wanted.
    pub(super) async fn try_fresh(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<Option<Charge>, ConnectError> {
        self.runner.rest().await;
        self.try_on(case, wanted, patience).await
    }

    /// The same on whatever server there is.
    pub(super) async fn try_on(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<Option<Charge>, ConnectError> {
        Ok(tried(self.runner, case, wanted, patience, self.context, self.server).await?.0)
    }
}

/// The charge that is wanted, and what is held against the server besides.
pub(super) async fn tried(
    runner: &mut Runner,
    case: &Case,
    wanted: &FindingId,
    patience: &Patience,
    context: &Context,
    server: Option<&str>,
) -> Result<(Option<Charge>, Vec<Charge>), ConnectError> {
    let mut charges = attempt(runner, case, patience, context).await?.judgement.charges;
    let id = |charge: &Charge| Origin::new(server, &charge.kind, &case.subject, &charge.cause).id();
    let place = charges.iter().position(|charge| id(charge) == *wanted);
    Ok((place.map(|place| charges.remove(place)), charges))
}

/// What came of some tries.
pub(super) enum Tried {
    OutOfTime,
    Done {
        reproduced: Reproduced,
        proven: Option<Box<Charge>>,
        /// What else happened.
        another: Option<Box<Charge>>,
    },
}

/// The first of the gravest.
pub(super) fn gravest(charges: Vec<Charge>) -> Option<Charge> {
    charges.into_iter().min_by_key(|charge| Reverse(charge.kind.default_severity()))
}

/// What is said to grow must go on growing over more calls.
fn with_more_calls(case: &Case, charge: &Charge) -> Option<Case> {
    let calls = charge.calls?;
    let mut more = case.clone();
    let [Step::Many { times, .. }] = &mut more.steps[..] else { return None };
    *times = calls;
    Some(more)
}

pub(super) fn seconds(patience: &Patience) -> String {
    format!("{}s", patience.plain().as_secs_f64())
}
