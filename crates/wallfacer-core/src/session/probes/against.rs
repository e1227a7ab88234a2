//! Holds two servers against each other on the same calls. Each round is made twice on fresh servers: what one server answers
//! now so and now so is no disagreement.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use wallfacer_schema::{Class, Schema, Shrinker};

use super::Notebook;
use crate::event::Listener;
use crate::findings::{Cause, Reproduced};
use crate::judge::{Charge, Context, Reply, disagreements};
use crate::observe::Answer;
use crate::place::Pattern;
use crate::plan::{Case, Planner, Step, with_arguments};
use crate::session::agenda::{Budget, Selection};
use crate::session::lab::{Both, Pair, World, teach};
use crate::session::prove::{Confirmed, Interest, Suspicion};
use crate::stop::Stop;
use crate::wire::ConnectError;

/// Tries of one disagreement on fresh servers.
const TRIES: u32 = 2;
/// Proposals and time to make one case smaller.
const MAX_PROPOSALS: usize = 60;
const MINIMISING: Duration = Duration::from_secs(8);
/// Disagreements of one tool that are looked into; further ones are mostly the same thing seen from elsewhere.
const MAX_OF_TOOL: usize = 5;
/// Steps before a case that are tried again with it, where it agrees alone.
const MAX_BEFORE: usize = 200;
/// Silences of one tool after which it is left alone, for each costs a whole time limit.
const MAX_SILENCES: usize = 2;

/// What a comparison writes into.
pub struct Book {
    pub notebook: Notebook,
    pub schemas: Arc<BTreeMap<String, Schema>>,
    pub context: Arc<Context>,
    pub budget: Budget,
    pub stop: Stop,
}

impl Book {
    /// Whether nothing more is to be begun.
    pub fn is_over(&self) -> bool {
        self.stop.is_told() || self.budget.is_exploring_over(false)
    }

    fn count(&mut self, case: &Case, answer: &Answer) {
        self.notebook.count(&case.subject, case.intent.is_valid() == Some(true), answer);
    }

    fn note(&mut self, tool: Option<&str>, text: String) {
        self.notebook.note(tool, text);
    }

    fn count_declaration(&mut self) {
        self.notebook.judged += 1;
    }

    fn schemas(&self) -> Arc<BTreeMap<String, Schema>> {
        self.schemas.clone()
    }
}

/// What is known of the two so far.
pub struct Comparison<'a> {
    pub selection: &'a Selection,
    pub seed: u64,
    pub typed: &'a [Pattern],
    /// Places that differ from call to call on one server, by tool.
    pub volatile: BTreeMap<String, BTreeSet<Pattern>>,
    /// Disagreements that were looked into, by tool.
    pub known: BTreeMap<String, BTreeSet<Cause>>,
    pub silences: BTreeMap<String, usize>,
}

/// A case of a round, as both answered it.
struct Asked<'a> {
    case: &'a Case,
    /// The place of the first case that the same servers had.
    first: usize,
    replies: Option<(Reply, Reply)>,
}

impl Comparison<'_> {
    /// Holds what the two list against each other.
    pub async fn listings(
        &mut self,
        pair: &mut Pair,
        book: &mut Book,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let sides = [&pair.here, &pair.there];
        let names =
            sides.iter().flat_map(|side| side.catalogue.tools.entries.iter().map(|tool| tool.name.clone()));
        for tool in names.collect::<BTreeSet<String>>() {
            if !self.selection.wants(&tool) {
                continue;
            }
            for charge in pair.listed(&tool) {
                let case = Case::listing(&tool, pair.measure(&[]), self.seed);
                let (reproduced, _) = self.prove(&case, &charge, pair).await?;
                keep(book, case, charge, reproduced, listener);
            }
            book.count_declaration();
        }
        Ok(())
    }

    /// Makes all calls of a round on both servers, twice, and looks into where they disagree.
    pub async fn round(
        &mut self,
        cases: &[Case],
        pair: &mut Pair,
        book: &mut Book,
        planner: &mut Planner,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let first = self.pass(cases, pair, book, Some(planner)).await?;
        let second = self.pass(cases, pair, book, None).await?;
        for (one, two) in first.iter().zip(&second) {
            let (Some(before), Some(after)) = (&one.replies, &two.replies) else { continue };
            let differs = before.0.differs(&after.0).into_iter().chain(before.1.differs(&after.1));
            let places: Vec<Pattern> = differs.map(|each| each.place.pattern()).collect();
            self.volatile.entry(tool(one.case).to_owned()).or_default().extend(places);
        }
        for (index, (one, two)) in first.iter().zip(&second).enumerate() {
            let (Some(before), Some(after)) = (&one.replies, &two.replies) else { continue };
            let ignored = self.ignored(tool(one.case));
            let again = disagreements(tool(two.case), &after.0, &after.1, &ignored);
            for charge in disagreements(tool(one.case), &before.0, &before.1, &ignored) {
                let lasting = again.iter().any(|other| other.cause == charge.cause);
                if lasting && self.is_news(tool(one.case), &charge) {
                    let history = cases[one.first..index].iter().flat_map(|case| case.steps.clone());
                    let history: Vec<Step> = history.collect();
                    self.look_into(one.case, charge, &history, pair, book, listener).await?;
                }
            }
        }
        Ok(())
    }

    /// All calls once, on servers that are fresh at the beginning.
    async fn pass<'c>(
        &mut self,
        cases: &'c [Case],
        pair: &mut Pair,
        book: &mut Book,
        mut planner: Option<&mut Planner>,
    ) -> Result<Vec<Asked<'c>>, ConnectError> {
        pair.rest().await;
        let mut asked = Vec::new();
        let mut first = 0;
        for (index, case) in cases.iter().enumerate() {
            let silences = self.silences.get(tool(case)).copied().unwrap_or_default();
            if book.is_over() || silences >= MAX_SILENCES {
                asked.push(Asked { case, first, replies: None });
                continue;
            }
            let Both { here, there, answer, recording } = pair.ask(case).await?;
            book.count(case, &answer);
            book.notebook.hear(case, &answer, &recording);
            if let Some(planner) = planner.as_deref_mut() {
                teach(planner, case, &answer, &recording);
            }
            let fatal = [&here, &there].iter().any(|reply| matches!(reply, Reply::Silent | Reply::Gone));
            asked.push(Asked { case, first, replies: Some((here, there)) });
            if fatal {
                first = index + 1;
                *self.silences.entry(tool(case).to_owned()).or_default() += 1;
            }
        }
        Ok(asked)
    }

    fn is_news(&mut self, tool: &str, charge: &Charge) -> bool {
        let known = self.known.entry(tool.to_owned()).or_default();
        known.len() < MAX_OF_TOOL && known.insert(charge.cause.clone())
    }

    async fn look_into(
        &mut self,
        case: &Case,
        charge: Charge,
        history: &[Step],
        pair: &mut Pair,
        book: &mut Book,
        listener: &mut dyn Listener,
    ) -> Result<(), ConnectError> {
        let (mut reproduced, mut proven) = self.prove(case, &charge, pair).await?;
        let mut case = case.clone();
        if reproduced.k == 0 && !history.is_empty() && history.len() <= MAX_BEFORE {
            let steps = history.iter().chain(&case.steps).cloned().collect();
            let script = Case { steps, ..case.clone() };
            (reproduced, proven) = self.prove(&script, &charge, pair).await?;
            if reproduced.always() {
                case = self.shorten(script, &charge, pair).await?;
            }
        } else if reproduced.always() {
            let schemas = book.schemas();
            case = self.minimise(&case, &charge, schemas.get(tool(&case)), pair).await?;
        }
        let Some(mut charge) = proven else {
            let text = format!("seen in a row with other calls, and not by itself: {}", charge.message);
            book.note(Some(tool(&case)), text);
            return Ok(());
        };
        if case.steps.len() > 1 {
            charge.message = format!("{}, after {} other calls", charge.message, case.steps.len() - 1);
        }
        keep(book, case, charge, reproduced, listener);
        Ok(())
    }

    /// How often the two disagree in the same way on fresh servers.
    async fn prove(
        &self,
        case: &Case,
        charge: &Charge,
        pair: &mut Pair,
    ) -> Result<(Reproduced, Option<Charge>), ConnectError> {
        let (mut k, mut proven) = (0, None);
        for _ in 0..TRIES {
            if let Some(again) = self.try_fresh(case, charge, pair).await? {
                k += 1;
                proven = Some(again);
            }
        }
        Ok((Reproduced { k, n: TRIES }, proven))
    }

    async fn try_fresh(
        &self,
        case: &Case,
        charge: &Charge,
        pair: &mut Pair,
    ) -> Result<Option<Charge>, ConnectError> {
        let ignored = case.tool_name().map(|tool| self.ignored(tool)).unwrap_or_default();
        let charges = pair.charges(case, &ignored).await?;
        Ok(charges.into_iter().find(|again| again.cause == charge.cause))
    }

    /// Leaves out steps, many at a time and then fewer, as long as the two disagree.
    async fn shorten(&self, script: Case, charge: &Charge, pair: &mut Pair) -> Result<Case, ConnectError> {
        let until = Instant::now() + MINIMISING;
        let mut script = script;
        let mut size = script.steps.len() / 2;
        while size > 0 {
            let mut start = 0;
            // The last step is the one that is judged.
            while start + 1 < script.steps.len() && Instant::now() < until {
                let mut shorter = script.clone();
                shorter.steps.drain(start..(start + size).min(script.steps.len() - 1));
                match self.try_fresh(&shorter, charge, pair).await? {
                    Some(_) => script = shorter,
                    None => start += size,
                }
            }
            size /= 2;
        }
        Ok(script)
    }

    /// The smallest valid arguments that are found on which the two still disagree.
    async fn minimise(
        &self,
        case: &Case,
        charge: &Charge,
        schema: Option<&Schema>,
        pair: &mut Pair,
    ) -> Result<Case, ConnectError> {
        let (Some(schema), Some(arguments)) = (schema, case.arguments()) else { return Ok(case.clone()) };
        let until = Instant::now() + MINIMISING;
        let mut shrinker = Shrinker::new(schema, arguments.clone(), Class::Valid);
        let mut smallest = case.clone();
        for _ in 0..MAX_PROPOSALS {
            let Some(proposal) = shrinker.next().filter(|_| Instant::now() < until) else { break };
            let smaller = with_arguments(case, &proposal);
            let Both { here, there, .. } = pair.ask(&smaller).await?;
            let told = disagreements(tool(case), &here, &there, &self.ignored(tool(case)));
            let fails = told.iter().any(|other| other.cause == charge.cause);
            shrinker.keep(fails);
            if fails {
                smallest = smaller;
            }
        }
        let holds = self.try_fresh(&smallest, charge, pair).await?.is_some();
        Ok(if holds { smallest } else { case.clone() })
    }

    fn ignored(&self, tool: &str) -> Vec<Pattern> {
        self.typed.iter().chain(self.volatile.get(tool).into_iter().flatten()).cloned().collect()
    }

    pub fn tell_volatile(&self, book: &mut Book) {
        for (tool, places) in self.volatile.iter().filter(|(_, places)| !places.is_empty()) {
            let places: Vec<String> = places.iter().map(|place| format!("`{place}`")).collect();
            let text = format!("not compared, for it differs from call to call: {}", places.join(", "));
            book.note(Some(tool), text);
        }
    }
}

fn keep(book: &mut Book, case: Case, charge: Charge, reproduced: Reproduced, listener: &mut dyn Listener) {
    if reproduced.k == 0 {
        book.note(case.subject.tool(), format!("seen once, never again: {}", charge.message));
        return;
    }
    let suspicion = Suspicion {
        case: case.clone(),
        charge: charge.clone(),
        before: Vec::new(),
        world: World::Plain,
        context: book.context.clone(),
        interest: Interest::ANSWERS,
        number: (0, 0),

        alone: true,
        raised: std::time::Instant::now(),
    };
    let confirmed = Confirmed::Finding { charge: Box::new(charge), case, reproduced };
    book.notebook.prover.take_one(confirmed, suspicion, listener);
}

fn tool(case: &Case) -> &str {
    case.subject.tool().unwrap_or_default()
}
