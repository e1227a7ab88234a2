//! Compiles patterns, paths, schemas and expressions, the same text once.

use crate::expr::Expression;
use crate::path::Path;
use crate::schema::Schema;
use regex::{Regex, RegexBuilder};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A pattern that compiles to more than this is a mistake, and would be slow to match.
const MAX_REGEX_BYTES: usize = 4 << 20;

#[derive(Debug, Clone, Default)]
pub(crate) struct Library {
    regexes: BTreeMap<String, Arc<Regex>>,
    paths: BTreeMap<String, Arc<Path>>,
    schemas: BTreeMap<String, Arc<Schema>>,
    expressions: BTreeMap<String, Arc<Expression>>,
}

/// How many things were compiled: each text once, however many rules and tools use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Compiled {
    pub regexes: usize,
    pub paths: usize,
    pub schemas: usize,
    pub expressions: usize,
}

impl Library {
    pub(crate) fn compiled(&self) -> Compiled {
        Compiled {
            regexes: self.regexes.len(),
            paths: self.paths.len(),
            schemas: self.schemas.len(),
            expressions: self.expressions.len(),
        }
    }

    pub(crate) fn regex(&mut self, pattern: &str) -> Result<Arc<Regex>, String> {
        if let Some(regex) = self.regexes.get(pattern) {
            return Ok(regex.clone());
        }
        let built = RegexBuilder::new(pattern).size_limit(MAX_REGEX_BYTES).build();
        let regex = Arc::new(built.map_err(|error| last_line(&error.to_string()))?);
        self.regexes.insert(pattern.to_owned(), regex.clone());
        Ok(regex)
    }

    pub(crate) fn path(&mut self, text: &str) -> Result<Arc<Path>, String> {
        if let Some(path) = self.paths.get(text) {
            return Ok(path.clone());
        }
        let path = Arc::new(Path::parse(text, self)?);
        self.paths.insert(text.to_owned(), path.clone());
        Ok(path)
    }

    pub(crate) fn schema(&mut self, schema: &Value) -> Result<Arc<Schema>, String> {
        let text = schema.to_string();
        if let Some(schema) = self.schemas.get(&text) {
            return Ok(schema.clone());
        }
        let schema = Arc::new(Schema::compile(schema)?);
        self.schemas.insert(text, schema.clone());
        Ok(schema)
    }

    pub(crate) fn expression(&mut self, text: &str) -> Result<Arc<Expression>, String> {
        if let Some(expression) = self.expressions.get(text) {
            return Ok(expression.clone());
        }
        let expression = Arc::new(Expression::parse(text, self)?);
        self.expressions.insert(text.to_owned(), expression.clone());
        Ok(expression)
    }
}

/// The engine draws the pattern over several lines first; the reason stands in the last one.
fn last_line(message: &str) -> String {
    message.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
}
