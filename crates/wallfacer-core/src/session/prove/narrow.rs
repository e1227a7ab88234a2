//! Makes the arguments of a rule's call smaller, within what the rule itself could have sent.

use serde_json::{Value, json};
use wallfacer_rules::{Generate, Input};
use wallfacer_schema::{Class, Schema, Shrinker};

use crate::judge::Context;
use crate::plan::{Case, common_arguments, put_over, with_arguments};

/// The arguments of a rule's calls, as far as they are free.
#[derive(Debug)]
pub struct Narrow {
    schema: Schema,
    over: Value,
}

impl Narrow {
    /// None where the rule leaves nothing open.
    pub fn of(case: &Case, context: &Context) -> Option<Narrow> {
        let rule = case.claim.as_ref()?.rule()?;
        let (document, over) = match &rule.input {
            Input::Fixed(_) => return None,
            Input::Generated(generate) => (generate.schema(), Value::Null),
            Input::SchemaValid { over, made } => {
                let declared = context.tools.get(&rule.tool).map(|facts| facts.listed["inputSchema"].clone());
                let over = over.resolve(&context.known(&Value::Null)).ok()?;
                // What the rule has generated is what it is about, and stays.
                let kept = made.as_ref().map_or(Value::Null, |made| members(case, made));
                (declared.unwrap_or_else(|| json!({})), put_over(put_over(json!({}), &kept), &over))
            }
        };
        Some(Narrow { schema: Schema::compile(&document).ok()?, over })
    }

    /// Proposes smaller arguments for a case, as long as there are any.
    pub fn shrinker(&self, case: &Case) -> Option<Shrinker<'_>> {
        let arguments = common_arguments(case)?.clone();
        let valid = self.schema.violations(&arguments).is_empty();
        Some(Shrinker::new(&self.schema, arguments, if valid { Class::Valid } else { Class::Any }))
    }

    /// The case with proposed arguments; none where they are not of the kind that the rule sends.
    pub fn case(&self, case: &Case, proposal: Value) -> Option<Case> {
        proposal.is_object().then(|| with_arguments(case, &put_over(proposal, &self.over)))
    }
}

/// The members of the case's arguments that a rule has generated.
fn members(case: &Case, made: &Generate) -> Value {
    let arguments = common_arguments(case).and_then(Value::as_object);
    let names = made.schema()["properties"].as_object().cloned().unwrap_or_default();
    let kept = arguments.into_iter().flatten().filter(|(name, _)| names.contains_key(*name));
    kept.map(|(name, value)| (name.clone(), value.clone())).collect()
}
