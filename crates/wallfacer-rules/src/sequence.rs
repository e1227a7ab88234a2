//! Several calls in a row, each with what must hold after it.

use crate::assertion::Assertion;
use crate::draft::Draft;
use crate::evaluate::{self, Context, Verdict, show};
use crate::fixture::SequenceFixture;
use crate::path::Root;
use crate::rule::Origin;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Clone)]
pub struct Sequence {
    pub name: String,
    pub description: Option<String>,
    pub steps: Vec<Step>,
    /// Run after the steps, also after a failure; nothing is judged in them.
    pub cleanup: Vec<Step>,
    pub fixtures: Vec<SequenceFixture>,
    pub origin: Origin,
    /// A failure means that one client sees what belongs to another.
    pub leak: bool,
    /// A file with nothing but this sequence.
    pub written: Arc<str>,
}

#[derive(Debug, Clone)]
pub struct Step {
    pub call: String,
    pub with: Draft,
    pub bind: Option<String>,
    pub expect: Outcome,
    pub assertions: Vec<Assertion>,
    pub client: Client,
    /// How often the call is made; each answer is judged.
    pub repeat: u32,
    pub timeout: Option<Duration>,
    /// It only prepares: where it does not succeed, the sequence has nothing to say.
    pub precondition: bool,
}

/// What a step must come to. A crash or a hang is neither: then there is no response to judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Outcome {
    #[default]
    Ok,
    Error,
    /// The assertions alone decide.
    Any,
}

/// Who makes the call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Client {
    #[default]
    Main,
    /// A second session with the same server.
    Other,
}

/// What earlier steps sent and received, by the names they were bound to.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps(Value);

impl Sequence {
    /// Every tool it calls: a sequence runs as a whole or not at all.
    pub fn tools(&self) -> BTreeSet<&str> {
        self.steps.iter().chain(&self.cleanup).map(|step| step.call.as_str()).collect()
    }

    /// Whether what it sends or claims depends on this.
    pub fn refers_to(&self, root: Root) -> bool {
        let claims = |step: &Step| step.assertions.iter().any(|claim| claim.roots().contains(&root));
        let mut steps = self.steps.iter().chain(&self.cleanup);
        steps.any(|step| step.with.roots().contains(&root) || claims(step))
    }
}

impl Step {
    pub fn judge(&self, context: &Context<'_>) -> Verdict {
        match self.decide(context) {
            Verdict::Broken(why) if self.precondition => {
                Verdict::Unknown(format!("a step that it builds on does not give what it needs: {why}"))
            }
            verdict => verdict,
        }
    }

    fn decide(&self, context: &Context<'_>) -> Verdict {
        let is_error = context.response.get("isError").and_then(Value::as_bool).unwrap_or(false);
        match (self.expect, is_error) {
            (Outcome::Ok, true) => {
                let found = context.response.get("content").map_or_else(|| "no content".into(), show);
                Verdict::Broken(format!("`{}` answered with an error, expected success: {found}", self.call))
            }
            (Outcome::Error, false) => {
                Verdict::Broken(format!("`{}` succeeded, expected an error", self.call))
            }
            _ => evaluate::judge_all(&self.assertions, context),
        }
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self(Value::Object(Map::new()))
    }
}

impl Steps {
    /// A name bound again, as by a repeated step, stands for the latest call.
    pub fn bind(&mut self, name: &str, input: Value, response: Value) {
        self.0[name] = json!({ "input": input, "response": response });
    }

    pub fn value(&self) -> &Value {
        &self.0
    }
}
