//! A suspicion in, a proven and small one out: seen again on fresh servers, made smaller, and seen once more.

use std::cmp::Reverse;
use std::time::{Duration, Instant};

use serde_json::Value;
use wallfacer_schema::{Schema, Shrinker};

use super::attempt::attempt;
use super::extreme::{Extreme, depth, params_size};
use super::narrow::Narrow;
use super::nature::Nature;
use crate::catalogue::Tool;
use crate::findings::{FindingId, Kind, Origin, Reproduced};
use crate::judge::{Charge, Context};
use crate::observe::{Answer, observe};
use crate::plan::{Case, Step, Subject};
use crate::run::{Patience, Runner};
use crate::target::Era;
use crate::wire::ConnectError;

/// Tries on fresh servers.
const TRIES: u32 = 2;
/// A hang is only one if twice the time does not help.
const STRETCH: u32 = 2;
/// Proposals that are tried to make a case smaller.
const MAX_PROPOSALS: usize = 200;
/// Time for making one case smaller, at most; less where requests have little time themselves.
const MINIMISING: Duration = Duration::from_secs(15);
const MINIMISING_CALLS: u32 = 8;
/// An answer that takes less is too quick to tell growth from noise.
const MEASURABLE: Duration = Duration::from_millis(150);
/// Numbers and texts of one call that are varied to find out what makes it slow.
const MAX_PLACES: usize = 6;
/// A request as large or as deep as this may be beyond what the server reads at all, whatever it asks for.
const LARGE: usize = 512 << 10;
const DEEP: usize = 64;
/// What grows is looked at again over so many times more calls; files and processes have limits of the machine's own.
const MORE_CALLS: u32 = 2;
const MORE_CALLS_FOR_MEMORY: u32 = 4;

/// What a number that was left out is taken to be at most.
const ASSUMED: u64 = 64;

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
    /// The time was up before anything could be said.
    OutOfTime,
}

/// What it takes at least to say of a hang that it is one: both tries, and whether the server answers anything else.
pub fn waits_for_hang(patience: &Patience) -> Duration {
    patience.stretched(STRETCH).plain() + patience.stretched(1).plain() + patience.plain()
}

/// Looks into suspicions, one at a time, alone on fresh servers.
pub struct Inquiry<'a> {
    pub runner: &'a mut Runner,
    pub context: &'a Context,
    pub server: Option<&'a str>,
    /// The tool that the case calls, where it is listed.
    pub tool: Option<&'a Tool>,
    pub era: Era,
    /// When nothing further is tried.
    pub until: Option<Instant>,
    /// Whether a smaller case is worth the time.
    pub minimise: bool,
}

impl Inquiry<'_> {
    /// What a suspicion comes to.
    pub async fn look_into(
        &mut self,
        case: &Case,
        charge: &Charge,
        schema: Option<&Schema>,
        before: &[Step],
    ) -> Result<Confirmed, ConnectError> {
        if case.claim.as_ref().is_some_and(|claim| claim.sequence().is_some()) {
            return self.look_into_sequence(case, charge).await;
        }
        if let Some(known) = self.of_any_such_request(case, charge).await? {
            return Ok(known);
        }
        let hang = matches!(charge.kind, Kind::Hang { .. });
        // Half a proof is none, and would cost the time of another.
        if hang && self.is_over_in(waits_for_hang(self.runner.patience())) {
            return Ok(Confirmed::OutOfTime);
        }
        let grown = with_more_calls(case, charge);
        let case = grown.as_ref().unwrap_or(case);
        let wanted = self.id(case, charge);
        // Who dies may take his time to do so.
        let patience = match hang || charge.kind == Kind::Crash {
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
        if hang {
            if let Some(place) = self.slows_with(case).await? {
                return Ok(Confirmed::Slow(format!("the time that it takes grows with `{place}`")));
            }
            let wedged = self.runner.is_wedged_by(case).await?;
            let meanwhile =
                if wedged { "answers nothing else meanwhile" } else { "still answers other requests" };
            charge.message = format!("{}; it {meanwhile}", charge.message);
        }
        let narrow = Narrow::of(case, self.context);
        let case = match schema {
            _ if case.claim.is_some() => match narrow.filter(|_| reproduced.always() && self.minimise) {
                Some(narrow) => {
                    let (smallest, again) = self.narrow(case, &wanted, &narrow, &patience).await?;
                    charge = again.map_or(charge, Box::new);
                    smallest
                }
                None => case.clone(),
            },
            Some(schema) if reproduced.always() && self.minimise => {
                self.minimise(case, &wanted, &charge, schema).await?
            }
            _ => case.clone(),
        };
        Ok(Confirmed::Finding { charge, case, reproduced })
    }

    /// Tries a case on fresh servers. A hang that is answered once needs no second try, nor does what stops growing.
    async fn try_often(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
        hang: bool,
    ) -> Result<Tried, ConnectError> {
        let mut reproduced = Reproduced { k: 0, n: TRIES };
        let (mut proven, mut another) = (None, None);
        for attempt in 0..TRIES {
            // Once twice the time did not help, the plain limit is enough to see it again.
            let plain = self.runner.patience().stretched(1);
            let patience = if hang && attempt > 0 { &plain } else { patience };
            if self.is_over_in(if hang { patience.plain() } else { Duration::ZERO }) {
                return Ok(Tried::OutOfTime);
            }
            self.runner.rest().await;
            let (again, others) = self.tried(case, wanted, patience).await?;
            let silent = again.is_some();
            reproduced.k += u32::from(silent);
            proven = again.map(Box::new).or(proven);
            another = another.or(gravest(others).map(Box::new));
            let settled = hang || matches!(case.steps[..], [Step::Many { .. }]);
            if settled && !silent {
                break;
            }
        }
        Ok(Tried::Done { reproduced, proven, another })
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

    /// The same thing with a request that asks for nothing, as small as it goes.
    async fn of_any_request(
        &mut self,
        case: &Case,
        charge: &Charge,
        extreme: Extreme,
        least: usize,
    ) -> Result<Option<Confirmed>, ConnectError> {
        let patience = self.runner.patience().stretched(STRETCH);
        let mut found = None;
        let mut extreme = extreme;
        while extreme.measure() >= least {
            if self.is_over_in(patience.plain()) {
                return Ok(found.is_none().then_some(Confirmed::OutOfTime));
            }
            let probe = extreme.request(self.era, case.seed);
            let wanted = self.id(&probe, charge);
            match self.try_fresh(&probe, &wanted, &patience).await? {
                Some(charge) => found = Some((extreme, probe, wanted, charge)),
                None => break,
            }
            extreme = extreme.halved();
        }
        let Some((extreme, probe, wanted, mut charge)) = found else { return Ok(None) };
        let again = self.try_fresh(&probe, &wanted, &patience).await?;
        let reproduced = Reproduced { k: 1 + u32::from(again.is_some()), n: TRIES };
        charge.message = format!("{} to a request of {extreme}, whatever it asks for", charge.message);
        Ok(Some(Confirmed::Finding { charge: Box::new(charge), case: probe, reproduced }))
    }

    /// Whether the time is up, or will be before this has passed.
    fn is_over_in(&self, needed: Duration) -> bool {
        self.until.is_some_and(|until| Instant::now() + needed >= until)
    }

    /// When the making smaller of a case has to end.
    fn minimising_until(&self) -> Instant {
        let time = MINIMISING.min(self.runner.patience().plain() * MINIMISING_CALLS);
        // Most of what is left is for the other suspicions.
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()) / 6);
        Instant::now() + left.map_or(time, |left| left.min(time))
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
        let steps = before.iter().chain(&case.steps).cloned().collect();
        let script = Case { subject: Subject::Server, steps, claim: None, ..case.clone() };
        let wanted = self.id(&script, charge);
        let patience = self.runner.patience().clone();
        let (reproduced, proven) = match self.try_often(&script, &wanted, &patience, false).await? {
            Tried::OutOfTime => return Ok(Confirmed::OutOfTime),
            Tried::Done { reproduced, proven, .. } => (reproduced, proven),
        };
        let Some(mut charge) = proven else { return Ok(Confirmed::Never) };
        let case = self.shorten(script, &wanted, &patience).await?;
        charge.message = format!("{} after {} requests in a row", charge.message, case.steps.len());
        Ok(Confirmed::Finding { charge, case, reproduced })
    }

    /// Leaves out steps, many at a time and then fewer, as long as the same thing happens.
    async fn shorten(
        &mut self,
        script: Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<Case, ConnectError> {
        let until = self.minimising_until();
        let mut script = script;
        let mut size = script.steps.len() / 2;
        while size > 0 && Instant::now() < until {
            let mut start = 0;
            while start < script.steps.len() && Instant::now() < until {
                let mut shorter = script.clone();
                shorter.steps.drain(start..(start + size).min(script.steps.len()));
                if !shorter.steps.is_empty() && self.try_fresh(&shorter, wanted, patience).await?.is_some() {
                    script = shorter;
                } else {
                    start += size;
                }
            }
            size /= 2;
        }
        Ok(script)
    }

    fn id(&self, case: &Case, charge: &Charge) -> FindingId {
        Origin::new(self.server, &charge.kind, &case.subject, &charge.cause).id()
    }

    /// Performs the case on a fresh server; gives the charge if it is the one that is wanted.
    async fn try_fresh(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<Option<Charge>, ConnectError> {
        self.runner.rest().await;
        self.try_on(case, wanted, patience).await
    }

    /// The same on whatever server there is.
    async fn try_on(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<Option<Charge>, ConnectError> {
        Ok(self.tried(case, wanted, patience).await?.0)
    }

    /// The charge that is wanted, and what is held against the server besides.
    async fn tried(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<(Option<Charge>, Vec<Charge>), ConnectError> {
        let mut charges = attempt(self.runner, case, patience, self.context).await?.judgement.charges;
        let place = charges.iter().position(|charge| self.id(case, charge) == *wanted);
        Ok((place.map(|place| charges.remove(place)), charges))
    }

    /// The smallest case of the same origin that is found within the bounds.
    async fn minimise(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        charge: &Charge,
        schema: &Schema,
    ) -> Result<Case, ConnectError> {
        // What is silent was proven to be so for long; in smaller ones the first look is enough to go on.
        let (glance, whole) = (self.runner.patience().clone(), self.runner.patience().stretched(1));
        let Some(arguments) = case.arguments() else { return Ok(case.clone()) };
        let until = self.minimising_until();
        let nature = Nature::of(&charge.kind, &case.intent, charge.measure.is_some(), arguments, schema);
        let mut shrinker = Shrinker::new(schema, arguments.clone(), nature.class());
        let mut smallest = case.clone();
        for _ in 0..MAX_PROPOSALS {
            let Some(proposal) = shrinker.next() else { break };
            let kept = nature.is_kept_by(&proposal, schema);
            let smaller = with_arguments(case, proposal);
            // A server that lives on is used again; the smallest case is proven on a fresh one at the end.
            let fails = kept && self.try_on(&smaller, wanted, &glance).await?.is_some();
            shrinker.keep(fails);
            if fails {
                smallest = smaller;
            }
            if Instant::now() >= until {
                break;
            }
        }
        // What was found small must hold once more; else the case as it was is the honest one.
        let holds = smallest == *case || self.try_fresh(&smallest, wanted, &whole).await?.is_some();
        Ok(if holds { smallest } else { case.clone() })
    }

    /// The smallest case of a rule that still breaks it, with what is then held against the server.
    async fn narrow(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        narrow: &Narrow,
        patience: &Patience,
    ) -> Result<(Case, Option<Charge>), ConnectError> {
        let Some(mut shrinker) = narrow.shrinker(case) else { return Ok((case.clone(), None)) };
        let until = self.minimising_until();
        let mut smallest = case.clone();
        for _ in 0..MAX_PROPOSALS {
            let Some(proposal) = shrinker.next().filter(|_| Instant::now() < until) else { break };
            let smaller = narrow.case(case, proposal);
            let fails = match &smaller {
                Some(smaller) => self.try_on(smaller, wanted, patience).await?.is_some(),
                None => false,
            };
            shrinker.keep(fails);
            smallest = smaller.filter(|_| fails).unwrap_or(smallest);
        }
        let again = self.try_fresh(&smallest, wanted, patience).await?;
        Ok(if again.is_some() { (smallest, again) } else { (case.clone(), None) })
    }

    /// A sequence is tried again as a whole; then steps are left out that it does not need to fail.
    async fn look_into_sequence(&mut self, case: &Case, charge: &Charge) -> Result<Confirmed, ConnectError> {
        let hang = matches!(charge.kind, Kind::Hang { .. });
        let patience = self.runner.patience().stretched(if hang { STRETCH } else { 1 });
        let wanted = self.id(case, charge);
        let (mut k, mut proven) = (0, None);
        for _ in 0..TRIES {
            if self.is_over_in(if hang { patience.plain() } else { Duration::ZERO }) {
                return Ok(Confirmed::OutOfTime);
            }
            if let Some(again) = self.replay_sequence(case, &wanted, &patience).await? {
                k += 1;
                proven = Some(again);
            }
        }
        let reproduced = Reproduced { k, n: TRIES };
        let Some((charge, mut played)) = proven else { return Ok(Confirmed::Never) };
        if reproduced.always() && self.minimise && may_leave_out_steps(&charge.kind) {
            let until = self.minimising_until();
            let steps = case.claim.as_ref().and_then(|claim| claim.sequence()).map_or(0, |it| it.steps.len());
            for index in 0..steps {
                let mut shorter = played.clone();
                shorter.claim.iter_mut().for_each(|claim| claim.left_out.extend([index]));
                if Instant::now() >= until {
                    break;
                }
                if let Some((_, shorter)) = self.replay_sequence(&shorter, &wanted, &patience).await? {
                    played = shorter;
                }
            }
        }
        Ok(Confirmed::Finding { charge: Box::new(charge), case: played, reproduced })
    }

    /// The charge that is wanted, with the case as it was played.
    async fn replay_sequence(
        &mut self,
        case: &Case,
        wanted: &FindingId,
        patience: &Patience,
    ) -> Result<Option<(Charge, Case)>, ConnectError> {
        let tried = attempt(self.runner, case, patience, self.context).await?;
        let charge = tried.judgement.charges.into_iter().find(|charge| self.id(case, charge) == *wanted);
        Ok(charge.zip(tried.played))
    }

    /// The argument whose size the time of a call grows with, if there is one.
    async fn slows_with(&mut self, case: &Case) -> Result<Option<String>, ConnectError> {
        let Some(arguments) = case.arguments().cloned() else { return Ok(None) };
        let patience = self.runner.patience().plain();
        for (pointer, size) in sizes(&arguments, self.tool).into_iter().take(MAX_PLACES) {
            let mut small = 1;
            while small < size && !self.is_over_in(patience) {
                match self.time(case, &arguments, &pointer, small).await? {
                    Some(time) if time >= MEASURABLE => {
                        let double = self.time(case, &arguments, &pointer, small * 2).await?;
                        let grows =
                            double.is_none_or(|double| double.as_secs_f64() > 1.4 * time.as_secs_f64());
                        if grows {
                            return Ok(Some(pointer));
                        }
                        break;
                    }
                    Some(_) => small *= 4,
                    None => break,
                }
            }
        }
        Ok(None)
    }

    /// How long the call takes with one argument of this size; none without an answer.
    async fn time(
        &mut self,
        case: &Case,
        arguments: &Value,
        pointer: &str,
        size: u64,
    ) -> Result<Option<Duration>, ConnectError> {
        let mut arguments = arguments.clone();
        match arguments.pointer_mut(pointer) {
            Some(place @ Value::String(_)) => {
                let text = place.as_str().unwrap_or_default();
                *place = Value::from(text.chars().take(size as usize).collect::<String>());
            }
            Some(place) => *place = Value::from(size),
            None => arguments[pointer.trim_start_matches('/')] = Value::from(size),
        }
        let patience = self.runner.patience().stretched(STRETCH);
        let recording = self.runner.perform(&with_arguments(case, arguments), &patience).await?;
        let seen = observe(&recording);
        let answered =
            seen.steps.last().filter(|step| !matches!(step.answer, Answer::Silent | Answer::Gone { .. }));
        Ok(answered.map(|step| step.took))
    }
}

/// What came of some tries.
enum Tried {
    OutOfTime,
    Done {
        reproduced: Reproduced,
        proven: Option<Box<Charge>>,
        /// What else happened.
        another: Option<Box<Charge>>,
    },
}

/// The first of the gravest.
fn gravest(charges: Vec<Charge>) -> Option<Charge> {
    charges.into_iter().min_by_key(|charge| Reverse(charge.kind.default_severity()))
}

/// Whether a sequence with fewer steps shows the same. What fails as a sequence may fail for want of a step: a thing that
/// nobody deletes is still there, on a correct server, too.
pub(super) fn may_leave_out_steps(kind: &Kind) -> bool {
    !matches!(kind, Kind::SequenceFailure { .. } | Kind::StateLeak)
}

/// What is said to grow must go on growing over more calls.
fn with_more_calls(case: &Case, charge: &Charge) -> Option<Case> {
    let memory = charge.message.contains("memory");
    let factor = if memory { MORE_CALLS_FOR_MEMORY } else { MORE_CALLS };
    let mut more = case.clone();
    match &mut more.steps[..] {
        [Step::Many { times, .. }] if charge.kind == Kind::ResourceGrowth => *times *= factor,
        _ => return None,
    }
    Some(more)
}

fn with_arguments(case: &Case, arguments: Value) -> Case {
    let mut case = case.clone();
    if let Some(Step::Call { params, .. }) = case.steps.first_mut() {
        params.insert("arguments".to_owned(), arguments);
    }
    case
}

/// Places of numbers and long texts, with their sizes; only the top level and one below. A number that was left out may
/// stand at a default of the tool's own, so those count too.
fn sizes(arguments: &Value, tool: Option<&Tool>) -> Vec<(String, u64)> {
    let size = |value: &Value| match value {
        Value::Number(number) => {
            number.as_f64().map(|number| number.abs().min(1e15) as u64).filter(|size| *size > 1)
        }
        Value::String(text) => Some(text.chars().count() as u64).filter(|size| *size > 64),
        _ => None,
    };
    let mut found = Vec::new();
    for (key, value) in arguments.as_object().into_iter().flatten() {
        let pointer = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
        found.extend(size(value).map(|size| (pointer.clone(), size)));
        for (key, value) in value.as_object().into_iter().flatten() {
            let inner = format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"));
            found.extend(size(value).map(|size| (inner, size)));
        }
    }
    let absent = tool.map(Tool::arguments).unwrap_or_default().into_iter();
    let absent = absent.filter(|argument| matches!(argument.kind, Some("integer" | "number")));
    let absent = absent
        .filter(|argument| arguments.get(argument.name).is_none() && !argument.name.contains(['/', '~']));
    found.extend(absent.map(|argument| (format!("/{}", argument.name), ASSUMED)));
    found
}

fn seconds(patience: &Patience) -> String {
    format!("{}s", patience.plain().as_secs_f64())
}
