//! [`Schema`]: compiled once, then asked for values and judgements.

use crate::{
    choices::Choices,
    compile::{self, Ignored, ROOT},
    error::{CompileError, Unable},
    evaluate::{Judge, Judgement},
    generate::{Having, Maker},
    limits::Limits,
    node::Node,
    plan::{GoalId, Planner, Planning, item::Item},
    pool::Pool,
    variants::{self, Adversarial, Boundary, Invalid},
    violation::Violation,
};
use serde_json::Value;

/// Whole values tried again when a finished one does not pass.
const ROOT_TRIES: usize = 8;

/// A compiled JSON Schema.
#[derive(Debug)]
pub struct Schema {
    nodes: Vec<Node>,
    ignored: Vec<Ignored>,
    limits: Limits,
    planner: Planner,
    /// The goal that every plain value starts from, so that it is not looked up each time.
    root: Option<GoalId>,
}

impl Schema {
    /// Reads a schema of draft 4, 6, 7, 2019-09 or 2020-12; without `$schema` it counts as 2020-12.
    pub fn compile(document: &Value) -> Result<Schema, CompileError> {
        Schema::compile_with(document, Limits::default())
    }

    pub fn compile_with(document: &Value, limits: Limits) -> Result<Schema, CompileError> {
        let compiled = compile::compile(document, &limits)?;
        let planner = Planner::default();
        let planning = Planning { nodes: &compiled.nodes, limits: &limits, planner: &planner };
        let root = planning.goal(vec![Item::Must(ROOT)]);
        Ok(Schema { nodes: compiled.nodes, ignored: compiled.ignored, limits, planner, root })
    }

    /// Keywords that had to be left out of account, because no draft gives them a meaning as they are written.
    pub fn ignored(&self) -> &[Ignored] {
        &self.ignored
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// A value that satisfies the schema. Its draws are in `choices` afterwards; who makes several values from the
    /// same choices takes them out in between with [`Choices::take_recorded`].
    pub fn valid(&self, choices: &mut Choices, pool: &Pool) -> Result<Value, Unable> {
        // Guessing is quick and gives varied values; where it fails, negations are taken apart.
        match self.search(false, choices, pool) {
            Err(guessed @ Unable::Unsupported { .. }) => match self.search(true, choices, pool) {
                // Not every way to break a schema is tried, so that this is no proof.
                Err(Unable::Unsatisfiable { .. }) => Err(guessed),
                outcome => outcome,
            },
            outcome => outcome,
        }
    }

    /// The simplest value that has these of the optional parts.
    pub fn simplest_having(&self, having: &Having, pool: &Pool) -> Result<Value, Unable> {
        let mut choices = Choices::simplest();
        let maker = Maker::new(self.planning(), &mut choices, pool).having(having);
        let value = { maker }.make(self.root_goal(false)?)?;
        match self.judge(&value) {
            Judgement::Valid => Ok(value),
            _ => Err(Unable::unsupported("", "search", "no value with these parts passes the test")),
        }
    }

    fn search(&self, hard: bool, choices: &mut Choices, pool: &Pool) -> Result<Value, Unable> {
        let goal = self.root_goal(hard)?;
        for _ in 0..ROOT_TRIES {
            let value = Maker::new(self.planning(), choices, pool).make(goal)?;
            match self.judge(&value) {
                Judgement::Valid => return Ok(value),
                Judgement::Invalid => {}
                Judgement::Undecided => {
                    let why = format!("a value cannot be judged in {} steps", self.limits.judge_steps);
                    return Err(Unable::unsupported("", "search", why));
                }
            }
        }
        Err(Unable::unsupported("", "search", "no value made passes the test"))
    }

    /// Valid values at and just inside each limit, each branch, each enum member, each optional key there and not.
    /// The list depends on the schema and the pool alone.
    pub fn boundary(&self, pool: &Pool) -> Result<Vec<Boundary>, Unable> {
        variants::boundary(self, pool)
    }

    /// Values with one violation each, named and located. The list depends on the schema and the pool alone.
    pub fn invalid(&self, pool: &Pool) -> Result<Vec<Invalid>, Unable> {
        variants::invalid(self, pool)
    }

    /// Values with an attack at one place, those that satisfy the schema first.
    pub fn adversarial(&self, pool: &Pool) -> Result<Vec<Adversarial>, Unable> {
        variants::adversarial(self, pool)
    }

    pub fn judge(&self, value: &Value) -> Judgement {
        self.new_judge().judge(ROOT, value)
    }

    /// What is wrong with a value; empty when nothing is.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        self.new_judge().violations(ROOT, value)
    }

    /// A judge that counts its steps over several values.
    pub(crate) fn new_judge(&self) -> Judge<'_> {
        Judge::new(&self.nodes, self.limits.judge_steps)
    }

    pub(crate) fn planning(&self) -> Planning<'_> {
        Planning { nodes: &self.nodes, limits: &self.limits, planner: &self.planner }
    }

    pub(crate) fn root_goal(&self, hard: bool) -> Result<GoalId, Unable> {
        let goal = if hard { self.planning().goal(vec![Item::Hard, Item::Must(ROOT)]) } else { self.root };
        goal.ok_or_else(|| self.planning().too_intricate())
    }
}
