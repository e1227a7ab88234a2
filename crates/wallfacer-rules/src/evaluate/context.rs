//! What is known about one call, as a path or an expression sees it.

use super::budget::{Budget, Unknown};
use crate::path::Root;
use serde_json::Value;
use std::time::Duration;

/// Everything an assertion can be asked about. What was not observed is `None`, and never an empty value.
/// Values are no deeper than `serde_json` reads them, 128 levels.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    pub input: &'a Value,
    /// The result of the call. A request that the server refused is `{"isError": true, "error": {code, message}, …}`.
    /// A crash or a hang is no response: then nothing is to be evaluated.
    pub response: &'a Value,
    /// The tool as the server lists it.
    pub tool: Option<&'a Value>,
    pub effects: Option<&'a Value>,
    pub latency: Option<Duration>,
    pub known: Known<'a>,
}

/// What placeholders may stand for while rules run.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// Earlier steps by name: `{"login": {"input": …, "response": …}}`.
    pub steps: &'a Value,
    /// Planted values by name.
    pub canary: Option<&'a Value>,
    /// A string that proves an effect to be ours.
    pub marker: Option<&'a Value>,
}

/// A context and the item at hand, with the work that may still be spent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) input: Option<&'a Value>,
    pub(crate) response: Option<&'a Value>,
    pub(crate) tool: Option<&'a Value>,
    pub(crate) effects: Option<&'a Value>,
    pub(crate) known: Known<'a>,
    pub(crate) latency: Option<Duration>,
    pub(crate) item: Option<&'a Value>,
    pub(crate) index: Option<&'a Value>,
    pub(crate) budget: &'a Budget,
}

static NO_STEPS: Value = Value::Null;

impl Default for Known<'_> {
    fn default() -> Self {
        Self { steps: &NO_STEPS, canary: None, marker: None }
    }
}

impl<'a> Context<'a> {
    /// Nothing but a call and its result.
    pub fn new(input: &'a Value, response: &'a Value) -> Self {
        Self { input, response, tool: None, effects: None, latency: None, known: Known::default() }
    }
}

impl<'a> Scope<'a> {
    pub(crate) fn new(context: &Context<'a>, budget: &'a Budget) -> Self {
        Self {
            input: Some(context.input),
            response: Some(context.response),
            tool: context.tool,
            effects: context.effects,
            latency: context.latency,
            ..Self::before_call(context.known, budget)
        }
    }

    /// What is known while the arguments of a call are put together.
    pub(crate) fn before_call(known: Known<'a>, budget: &'a Budget) -> Self {
        Self {
            input: None,
            response: None,
            tool: None,
            effects: None,
            known,
            latency: None,
            item: None,
            index: None,
            budget,
        }
    }

    pub(crate) fn with_item(self, item: &'a Value, index: &'a Value) -> Self {
        Self { item: Some(item), index: Some(index), ..self }
    }

    /// `Ok(None)` is something that is not there; what could not be seen is `Unknown`.
    pub(crate) fn root(&self, root: Root) -> Result<Option<&'a Value>, Unknown> {
        let observed = |value: Option<&'a Value>, what: &str| match value {
            Some(value) => Ok(Some(value)),
            None => Err(Unknown(format!("`$.{}` is not known here: {what}", root.name()))),
        };
        match root {
            Root::Input => Ok(self.input),
            Root::Response => Ok(self.response),
            Root::Steps => Ok(Some(self.known.steps)),
            Root::Item => Ok(self.item),
            Root::Index => Ok(self.index),
            Root::Tool => observed(self.tool, "there is no description of the tool"),
            Root::Effects => observed(self.effects, "the effects of the call were not observed"),
            Root::Canary => observed(self.known.canary, "nothing was planted"),
            Root::Marker => observed(self.known.marker, "there is no marker"),
        }
    }
}
