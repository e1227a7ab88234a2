//! Shrinks a failing value step by step, until none of the simpler ones fails any more. The shrinker proposes and the
//! caller tries, so that it suits synchronous and asynchronous callers alike.

mod cost;
mod draws;
mod edits;

use crate::{
    choices::Choices, evaluate::Judgement, pointer, pool::Pool, schema::Schema, variants::fingerprint,
    violation::Rule, violation::Violation,
};
use cost::Cost;
use edits::Path;
use serde_json::Value;
use std::collections::BTreeSet;

/// Edits looked at for each one proposed: most fall outside the class and cost the caller nothing.
const LOOKS_PER_PROPOSAL: usize = 40;
/// A look at a large value counts as several: one for every so many parts.
const PARTS_PER_LOOK: usize = 100;

/// What every proposal has in common with the value that is shrunk.
#[derive(Clone, Debug, PartialEq)]
pub enum Class {
    /// Satisfies the schema.
    Valid,
    /// Breaks this rule at this place, and no rule that the first value kept. Positions in arrays may move.
    Invalid(Violation),
    /// Anything goes.
    Any,
}

/// A state machine: [`next`](Shrinker::next) proposes, [`keep`](Shrinker::keep) tells whether the proposal
/// still fails. A proposal that is not answered counts as one that does not.
#[derive(Debug)]
pub struct Shrinker<'s> {
    schema: &'s Schema,
    class: Class,
    /// The kinds of violation that the first value had; no other may come in.
    known: BTreeSet<(Rule, String)>,
    best: Value,
    /// The places of `best`, found once for each new best value.
    places: Vec<Path>,
    cost: Cost,
    pool: Pool,
    draws: Vec<u64>,
    phase: Phase,
    proposed: Option<Proposal>,
    tried: BTreeSet<u64>,
    proposals: usize,
    looks: usize,
}

#[derive(Debug)]
enum Phase {
    Draws { position: usize, improved: bool },
    Edits { position: usize, improved: bool },
    Done,
}

#[derive(Debug)]
struct Proposal {
    value: Value,
    cost: Cost,
    draws: Option<Vec<u64>>,
}

impl<'s> Shrinker<'s> {
    /// Shrinks by taking the value itself apart.
    pub fn new(schema: &'s Schema, value: Value, class: Class) -> Shrinker<'s> {
        let known = match class {
            Class::Invalid(_) => ways(&schema.violations(&value)),
            _ => BTreeSet::new(),
        };
        Shrinker {
            schema,
            class,
            known,
            cost: Cost::of(&value),
            places: edits::places(&value),
            best: value,
            pool: Pool::new(),
            draws: Vec::new(),
            phase: Phase::Edits { position: 0, improved: false },
            proposed: None,
            tried: BTreeSet::new(),
            proposals: schema.limits().shrinks,
            looks: schema.limits().shrinks.saturating_mul(LOOKS_PER_PROPOSAL),
        }
    }

    /// Shrinks the draws first that [`Schema::valid`] recorded with this pool, and then the value.
    pub fn from_draws(
        schema: &'s Schema,
        value: Value,
        draws: &[u64],
        pool: &Pool,
        class: Class,
    ) -> Shrinker<'s> {
        let mut shrinker = Shrinker::new(schema, value, class);
        if matches!(shrinker.class, Class::Valid | Class::Any) {
            shrinker.draws = draws.to_vec();
            shrinker.pool = pool.clone();
            shrinker.phase = Phase::Draws { position: 0, improved: false };
        }
        shrinker
    }

    /// The simplest value known to fail.
    pub fn best(&self) -> &Value {
        &self.best
    }

    /// The draws behind [`Shrinker::best`], as long as they tell the whole story.
    pub fn draws(&self) -> &[u64] {
        &self.draws
    }

    pub fn into_best(self) -> Value {
        self.best
    }

    /// A simpler value of the class, to be tried by the caller; nothing when the end is reached.
    #[allow(clippy::should_implement_trait)] // Each proposal depends on the answer to the one before.
    pub fn next(&mut self) -> Option<Value> {
        self.proposed = None;
        if self.proposals == 0 {
            return None;
        }
        let proposal = loop {
            if self.looks == 0 {
                return None;
            }
            self.looks = self.looks.saturating_sub(1 + self.places.len() / PARTS_PER_LOOK);
            match self.phase {
                Phase::Draws { position, improved } => match draws::edit(&self.draws, position) {
                    Some(draws) => {
                        self.phase = Phase::Draws { position: position + 1, improved };
                        if let Some(proposal) = self.replayed(&draws) {
                            break proposal;
                        }
                    }
                    None if improved => self.phase = Phase::Draws { position: 0, improved: false },
                    None => self.phase = Phase::Edits { position: 0, improved: false },
                },
                Phase::Edits { position, improved } => {
                    match edits::edit(&self.best, &self.places, position) {
                        Some(edited) => {
                            self.phase = Phase::Edits { position: position + 1, improved };
                            if let Some(proposal) = edited.and_then(|value| self.acceptable(value, None)) {
                                break proposal;
                            }
                        }
                        None if improved => self.phase = Phase::Edits { position: 0, improved: false },
                        None => self.phase = Phase::Done,
                    }
                }
                Phase::Done => return None,
            }
        };
        self.proposals -= 1;
        let value = proposal.value.clone();
        self.proposed = Some(proposal);
        Some(value)
    }

    /// Whether the last proposal still fails; if so, it is what is shrunk from now on.
    pub fn keep(&mut self, fails: bool) {
        let Some(proposal) = self.proposed.take().filter(|_| fails) else { return };
        self.places = edits::places(&proposal.value);
        self.best = proposal.value;
        self.cost = proposal.cost;
        match &mut self.phase {
            // The edit at the same position is now another one.
            Phase::Draws { position, improved } | Phase::Edits { position, improved } => {
                *position = position.saturating_sub(1);
                *improved = true;
            }
            Phase::Done => {}
        }
        self.draws = proposal.draws.unwrap_or_default();
    }

    fn replayed(&mut self, draws: &[u64]) -> Option<Proposal> {
        let mut choices = Choices::replay(draws);
        let value = self.schema.valid(&mut choices, &self.pool).ok()?;
        let recorded = choices.take_recorded();
        // The same value from fewer draws is progress too, but none that the caller needs to try.
        if value == self.best && recorded.len() < self.draws.len() {
            self.draws = recorded;
            return None;
        }
        self.acceptable(value, Some(recorded))
    }

    /// A proposal must be simpler, new, and of the class.
    fn acceptable(&mut self, value: Value, draws: Option<Vec<u64>>) -> Option<Proposal> {
        let cost = Cost::of(&value);
        if cost >= self.cost || !self.tried.insert(fingerprint(&value)) || !self.is_of_class(&value) {
            return None;
        }
        Some(Proposal { value, cost, draws })
    }

    fn is_of_class(&self, value: &Value) -> bool {
        match &self.class {
            Class::Any => true,
            Class::Valid => self.schema.judge(value) == Judgement::Valid,
            Class::Invalid(violation) => {
                let found = ways(&self.schema.violations(value));
                found.contains(&way(violation)) && found.is_subset(&self.known)
            }
        }
    }
}

fn ways(violations: &[Violation]) -> BTreeSet<(Rule, String)> {
    violations.iter().map(way).collect()
}

/// The rule and its place, whatever the positions in arrays.
fn way(violation: &Violation) -> (Rule, String) {
    let steps = pointer::steps(&violation.at).unwrap_or_default();
    let anywhere = |step: &String| {
        if step.bytes().all(|byte| byte.is_ascii_digit()) { "*".to_owned() } else { step.clone() }
    };
    (violation.rule, steps.iter().map(anywhere).collect::<Vec<_>>().join("/"))
}
