//! Parses an expression and decides whether it is true of a call. The language is CEL without its types for time and
//! bytes; `input`, `response`, `tool`, `steps`, `effects`, `canary`, `marker`, and inside `for_each` `item` and
//! `index`, are what the paths of the same names begin with. Every step is counted, so that no expression takes long on
//! any response.

mod functions;
mod lexer;
mod operators;
mod parser;
mod run;
mod syntax;
#[cfg(test)]
mod tests;

use crate::evaluate::{Outcome, Scope, show};
use crate::library::Library;
use crate::path::Root;
use run::Fault;
use serde_json::Value;
use std::fmt;
use syntax::Expr;

/// Longer ones should be several assertions.
const MAX_EXPRESSION_BYTES: usize = 4096;

#[derive(Debug)]
pub struct Expression {
    text: String,
    syntax: Expr,
    roots: Vec<Root>,
    steps: Vec<String>,
}

impl Expression {
    pub(crate) fn parse(text: &str, library: &mut Library) -> Result<Self, String> {
        if text.len() > MAX_EXPRESSION_BYTES {
            return Err(format!("the expression is longer than {MAX_EXPRESSION_BYTES} bytes"));
        }
        let parsed = parser::parse(text, library)?;
        Ok(Self { text: text.to_owned(), syntax: parsed.syntax, roots: parsed.roots, steps: parsed.steps })
    }

    pub(crate) fn roots(&self) -> impl Iterator<Item = Root> + '_ {
        self.roots.iter().copied()
    }

    /// The steps it names: `login` in `steps.login.response`.
    pub(crate) fn steps(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(String::as_str)
    }

    pub(crate) fn judge(&self, scope: &Scope<'_>) -> Outcome {
        match run::run(&self.syntax, scope) {
            Ok(value) => match value.as_ref() {
                Value::Bool(true) => Outcome::Holds,
                Value::Bool(false) => Outcome::Broken(self.explain(scope)),
                other => Outcome::Missing(format!("`{self}` is {}, expected true or false", show(other))),
            },
            Err(Fault::Undefined(why)) => Outcome::Missing(format!("`{self}` cannot be evaluated: {why}")),
            Err(Fault::Unknown(unknown)) => unknown.into(),
        }
    }

    /// What stood on both sides of the comparison that failed.
    fn explain(&self, scope: &Scope<'_>) -> String {
        match run::sides(&self.syntax, scope) {
            Some((left, right)) => {
                format!("`{self}` is false: {} on the left, {} on the right", show(&left), show(&right))
            }
            None => format!("`{self}` is false"),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}
