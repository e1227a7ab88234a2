//! One claim about one tool, ready to be run: what is sent, how often, and what must hold.

use crate::assertion::Assertion;
use crate::draft::{self, Draft};
use crate::evaluate::{self, Context, Verdict};
use crate::fixture::Fixture;
use crate::generate::Generate;
use crate::path::Root;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub struct Rule {
    pub name: String,
    pub description: Option<String>,
    pub tool: String,
    /// The tool is one that the server does not have, and is called all the same.
    pub unlisted: bool,
    pub input: Input,
    /// How many inputs are tried, if the rule says so.
    pub cases: Option<u32>,
    /// How often each input is sent. From the second time on, the first call is known as the step `first`,
    /// and the claims are about the latest one.
    pub repeat: u32,
    pub assertions: Vec<Assertion>,
    pub fixtures: Vec<Fixture>,
    pub origin: Origin,
    /// A file with nothing but this rule, or the one about every tool that it was made from.
    pub written: Arc<str>,
}

/// Where a rule was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    pub file: String,
    pub line: usize,
}

/// The arguments a rule sends.
#[derive(Debug, Clone)]
pub enum Input {
    Fixed(Draft),
    /// Anything that fits [`Generate::schema`].
    Generated(Generate),
    /// Anything that the tool's own schema allows, with these members put over it.
    SchemaValid {
        over: Draft,
        /// Members that are generated, and put over them as well.
        made: Option<Generate>,
    },
}

impl Input {
    /// Adds each value that is written out, with the nearest name above it.
    pub(crate) fn written(&self, found: &mut Vec<(String, String)>) {
        let (draft, generate) = match self {
            Input::Fixed(draft) => (Some(draft), None),
            Input::Generated(generate) => (None, Some(generate)),
            Input::SchemaValid { over, made } => (Some(over), made.as_ref()),
        };
        draft.into_iter().for_each(|draft| draft.written(found));
        generate.into_iter().for_each(|generate| written_choices(&generate.schema(), "", found));
    }
}

/// Values that a schema lists under the name of a property.
fn written_choices(schema: &Value, name: &str, found: &mut Vec<(String, String)>) {
    for word in ["enum", "const", "default", "examples"] {
        schema.get(word).into_iter().for_each(|listed| draft::written_value(listed, name, found));
    }
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        written_choices(property, name, found);
    }
    schema.get("items").into_iter().for_each(|items| written_choices(items, name, found));
    let choices = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    choices.for_each(|choice| written_choices(choice, name, found));
}

impl Rule {
    /// The name that a repeated call gives to the first one.
    pub const FIRST: &'static str = "first";

    pub fn judge(&self, context: &Context<'_>) -> Verdict {
        evaluate::judge_all(&self.assertions, context)
    }

    /// Everything its claims look at.
    pub fn reads(&self) -> BTreeSet<Root> {
        self.assertions.iter().flat_map(Assertion::roots).collect()
    }

    /// Whether what it sends or claims depends on this.
    pub fn refers_to(&self, root: Root) -> bool {
        let sends = match &self.input {
            Input::Fixed(draft) | Input::SchemaValid { over: draft, .. } => draft.roots().contains(&root),
            Input::Generated(_) => false,
        };
        sends || self.reads().contains(&root)
    }

    /// It is only about how the tool describes itself: no call is needed.
    pub fn is_static(&self) -> bool {
        let reads = self.reads();
        let is_timed = self.assertions.iter().any(Assertion::reads_latency);
        !reads.is_empty() && !is_timed && reads.iter().all(|root| *root == Root::Tool)
    }

    /// How many inputs are to be tried: a fixed one is the same each time, and is sent once.
    pub fn inputs(&self, default: u32) -> u32 {
        match &self.input {
            _ if self.is_static() => 0,
            Input::Fixed(_) => 1,
            Input::Generated(_) | Input::SchemaValid { .. } => self.cases.unwrap_or(default),
        }
    }
}
