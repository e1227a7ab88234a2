//! What checks know beside the case: what the server declared, compiled once.

use std::collections::BTreeMap;

use jsonschema::Validator;

use crate::catalogue::Catalogue;
use crate::target::Version;

/// What was declared.
#[derive(Debug, Default)]
pub struct Context {
    pub tools: BTreeMap<String, ToolFacts>,
}

/// One tool's declarations.
#[derive(Debug)]
pub struct ToolFacts {
    /// None where no output schema is declared, or the spoken version knows none.
    pub output: Option<Output>,
}

/// A declared output schema.
#[derive(Debug)]
pub enum Output {
    Compiled(Box<Validator>),
    /// It cannot be judged by, for this reason.
    Unusable(String),
}

impl Context {
    pub fn new(catalogue: &Catalogue, protocol: Version) -> Context {
        let facts = |tool: &crate::catalogue::Tool| {
            // Output schemas came with 2025-06-18; on an older conversation they bind nobody.
            let declared = tool.output_schema.as_ref().filter(|_| protocol >= Version::V2025_06_18);
            let output = declared.map(|schema| {
                match jsonschema::options().should_validate_formats(false).build(schema) {
                    Ok(validator) => Output::Compiled(Box::new(validator)),
                    Err(error) => Output::Unusable(error.to_string()),
                }
            });
            (tool.name.clone(), ToolFacts { output })
        };
        Context { tools: catalogue.tools.entries.iter().map(facts).collect() }
    }
}
