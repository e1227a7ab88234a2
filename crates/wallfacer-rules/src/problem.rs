//! Tells what is wrong at a place in a rule file, with snippet, caret and help.

use crate::source::{Position, Source, Span};
use std::fmt;
use std::sync::Arc;

/// Problems told at once; more would bury the first.
pub(crate) const MAX_PROBLEMS: usize = 50;

/// One thing wrong at one place of a rule file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub source: Arc<Source>,
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

/// Everything that was found wrong, in the order of the files; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problem {
    pub fn position(&self) -> Position {
        self.source.position(self.span)
    }

    pub(crate) fn new(
        source: &Arc<Source>,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self { source: source.clone(), span, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let position = self.position();
        let number = position.line.to_string();
        let margin = " ".repeat(number.len());
        let indent = " ".repeat(position.caret.start);
        let carets = "^".repeat(position.caret.len());
        writeln!(formatter, "{}:{}:{}: {}", self.source.name, position.line, position.column, self.message)?;
        writeln!(formatter, "{margin} |")?;
        writeln!(formatter, "{number} | {}", position.snippet)?;
        writeln!(formatter, "{margin} | {indent}{carets}")?;
        write!(formatter, "{margin} = help: {}", self.help)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.0.iter().enumerate() {
            let gap = if index == 0 { "" } else { "\n\n" };
            write!(formatter, "{gap}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
