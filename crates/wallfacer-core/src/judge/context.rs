//! What checks know beside the case: what the server declared, compiled once.

use std::collections::BTreeMap;
use std::sync::Arc;

use jsonschema::Validator;
use serde_json::Value;
use wallfacer_rules::{Known, ToolShape};

use super::secrets::Secrets;
use super::upstream::registered;
use super::watched::Watched;
use crate::catalogue::{Catalogue, Tool};
use crate::learn::{Form, Learned};
use crate::observe::Whose;
use crate::plan::{Declared, Measure, words};
use crate::run::Taken;
use crate::target::Version;

/// Shorter names stand in texts by chance.
const LEAST_NAME: usize = 3;

/// What was declared, and what was entrusted.
#[derive(Debug, Default)]
pub struct Context {
    pub tools: BTreeMap<String, ToolFacts>,
    /// What the server must keep to itself.
    pub secrets: Secrets,
    /// The world that the server is watched in; none where nobody watches.
    pub watched: Option<Watched>,
    /// What the server says of itself, in small letters.
    pub server_said: String,
    /// A text of this run, for rules to recognise what they sent.
    pub marker: Value,
    /// What is planted, by the names that rules have for it; none where nothing can be.
    pub canary: Option<Value>,
    /// The forms that answers had when they were learned, by tool.
    pub habits: BTreeMap<String, Habit>,
    /// Whether the spoken version has output schemas at all.
    pub knows_output_schemas: bool,
}

/// One tool's declarations.
#[derive(Debug)]
pub struct ToolFacts {
    /// None where no output schema is declared, or the spoken version knows none.
    pub output: Option<Output>,
    /// Whether it says that showing the environment or the configuration is its job.
    pub shows_environment: bool,
    /// What it says that it does not do.
    pub declared: Declared,
    /// The entry as it was received.
    pub listed: Arc<Value>,
}

/// A form that answers had, compiled.
#[derive(Debug)]
pub struct Habit {
    pub form: Form,
    pub validator: Output,
}

/// An output schema, declared or learned.
#[derive(Debug)]
pub enum Output {
    Compiled(Box<Validator>),
    /// It cannot be judged by, for this reason.
    Unusable(String),
}

impl Context {
    pub fn new(catalogue: &Catalogue, protocol: Version) -> Context {
        // Output schemas came with 2025-06-18; on an older conversation they bind nobody.
        let knows_output_schemas = protocol >= Version::V2025_06_18;
        let facts = |tool: &Tool| {
            let declared = tool.output_schema().filter(|_| knows_output_schemas);
            let output = declared.map(Output::compile);
            (
                tool.name.clone(),
                ToolFacts {
                    output,
                    shows_environment: shows_environment(tool),
                    declared: Declared::of(tool),
                    listed: tool.listed.clone(),
                },
            )
        };
        let tools = catalogue.tools.entries.iter().map(facts).collect();
        Context { tools, knows_output_schemas, ..Context::default() }
    }

    /// With the forms that answers had when they were learned.
    pub fn with_learned(mut self, learned: &Learned) -> Context {
        let forms = learned.tools.iter().filter_map(|(tool, entry)| Some((tool, entry.learned.clone()?)));
        forms.for_each(|(tool, form)| self.learn(tool, form));
        self
    }

    /// With what a stored case is held against.
    pub fn with_measure(mut self, tool: &str, measure: &Measure) -> Context {
        if let Measure::Learned { carrier, schema } = measure {
            self.learn(tool, Form { carrier: *carrier, schema: schema.clone() });
        }
        self
    }

    fn learn(&mut self, tool: &str, form: Form) {
        let validator = Output::compile(&form.schema);
        self.habits.insert(tool.to_owned(), Habit { form, validator });
    }

    pub fn with_watched(self, watched: Watched) -> Context {
        Context { watched: Some(watched), ..self }
    }

    pub fn with_secrets(self, secrets: Secrets) -> Context {
        Context { secrets, ..self }
    }

    pub fn with_marker(self, marker: String) -> Context {
        Context { marker: Value::from(marker), ..self }
    }

    pub fn with_canary(self, canary: Option<Value>) -> Context {
        Context { canary, ..self }
    }

    /// What placeholders of rules may stand for.
    pub fn known<'a>(&'a self, steps: &'a Value) -> Known<'a> {
        let marker = Some(&self.marker).filter(|marker| marker.is_string());
        Known { steps, canary: self.canary.as_ref(), marker }
    }

    /// The tools as rules see them.
    pub fn shapes(&self) -> Vec<ToolShape> {
        self.tools.values().map(|facts| ToolShape::new(facts.listed.clone())).collect()
    }

    /// What a step did to the world, as rules see it; none where that was not observed.
    pub fn effects(&self, taken: &Taken) -> Option<Value> {
        let watched = self.watched.as_ref()?;
        let mut effects = watched.effects(taken, Whose::Call)?;
        effects.connects.retain(|contact| !watched.by_itself.contains(&contact.host));
        effects.names.retain(|name| !watched.by_itself.contains(name));
        let mut shown = effects.shown();
        for host in shown["hosts"].as_array_mut().into_iter().flatten() {
            let name = host["host"].as_str().unwrap_or_default();
            let named = !name.is_empty() && watched.named.iter().any(|text| text.contains(name));
            let own = named || self.is_own_service(name);
            host["own"] = Value::from(own);
        }
        Some(shown)
    }

    /// Whether a host is that of the service which the server says it is for: such a world is closed, though it is elsewhere.
    pub fn is_own_service(&self, host: &str) -> bool {
        let name = registered(host).to_ascii_lowercase();
        let mut said = self.server_said.split(|letter: char| !letter.is_alphanumeric());
        name.len() >= LEAST_NAME && said.any(|word| word == name)
    }

    pub fn shows_environment(&self, tool: &str) -> bool {
        self.tools.get(tool).is_some_and(|facts| facts.shows_environment)
    }
}

impl Output {
    fn compile(schema: &Value) -> Output {
        match jsonschema::options().should_validate_formats(false).build(schema) {
            Ok(validator) => Output::Compiled(Box::new(validator)),
            Err(error) => Output::Unusable(error.to_string()),
        }
    }
}

fn shows_environment(tool: &Tool) -> bool {
    let said = [Some(tool.name.as_str()), tool.title.as_deref(), tool.description.as_deref()];
    let mut words = said.into_iter().flatten().flat_map(words);
    words.any(|word| matches!(word.as_str(), "env" | "environ" | "environment" | "getenv" | "printenv"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_the_servers_own_where_it_bears_its_name() {
        let context =
            Context { server_said: "beetles-server for the beetles service".into(), ..Context::default() };
        assert!(context.is_own_service("api.beetles.example"));
        for host in ["collect.example", "beetles.collect.example", "10.0.0.1"] {
            assert!(!context.is_own_service(host), "{host}");
        }
    }
}
