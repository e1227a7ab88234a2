//! Points at a place in a file: a [`Problem`] has the line, the column and a snippet for its reader.

use super::secret;
use crate::repository::read_text;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Configuration is typed by people; the client that keeps its history in the same file stays below this too.
const MAX_FILE_BYTES: u64 = 64 << 20;
/// A generated file may be one line; more than this would bury the message.
const SNIPPET_CHARS: usize = 100;

/// A file as read, kept so that later steps can point into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub path: PathBuf,
    pub text: String,
}

/// One thing wrong at one place of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    pub path: PathBuf,
    /// Counted from 1, as editors do.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    pub message: String,
    pub help: Option<String>,
    snippet: Snippet,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Snippet {
    text: String,
    caret: Range<usize>,
}

impl Source {
    pub fn read(path: &Path) -> io::Result<Self> {
        let text = read_text(path, MAX_FILE_BYTES)?;
        // Some Windows editors put a byte order mark in front.
        let text = text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text);
        Ok(Self { path: path.to_owned(), text })
    }

    pub fn problem(&self, span: Range<usize>, message: impl Into<String>) -> Problem {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end.max(start));
        let line_start = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |length| start + length);
        let line = self.text[line_start..line_end].trim_end_matches('\r');
        let column = self.text[line_start..start].chars().count();
        let width = self.text[start..end.min(line_end)].chars().count();
        Problem {
            path: self.path.clone(),
            line: self.text[..start].matches('\n').count() + 1,
            column: column + 1,
            message: message.into(),
            help: None,
            snippet: Snippet::new(line, column..column + width.max(1)),
        }
    }

    /// The nearest place at or before `offset` where a character begins.
    fn boundary(&self, offset: usize) -> usize {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    }
}

impl Snippet {
    fn new(line: &str, caret: Range<usize>) -> Self {
        let hidden = secret::hide_strings(line, &caret);
        let from = caret.start.saturating_sub(SNIPPET_CHARS / 2);
        let text: String = hidden
            .chars()
            .skip(from)
            .take(SNIPPET_CHARS)
            // A tab or an escape sequence would move the caret away from what it points at.
            .map(|character| if wallfacer_text::acts(character) { ' ' } else { character })
            .collect();
        let end = (caret.end - from).min(text.chars().count().max(caret.start - from + 1));
        Self { text: text.trim_end().to_owned(), caret: caret.start - from..end }
    }
}

impl Problem {
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        let indent = " ".repeat(self.snippet.caret.start);
        let carets = "^".repeat(self.snippet.caret.len());
        writeln!(formatter, "{}:{}:{}: {}", self.path.display(), self.line, self.column, self.message)?;
        writeln!(formatter, "{margin} |")?;
        writeln!(formatter, "{number} | {}", self.snippet.text)?;
        write!(formatter, "{margin} | {indent}{carets}")?;
        match &self.help {
            Some(help) => write!(formatter, "\n{margin} = help: {help}"),
            None => Ok(()),
        }
    }
}

/// Several problems, one under the other.
pub(super) fn listed(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Source {
        Source { path: "wallfacer.toml".into(), text: text.into() }
    }

    #[test]
    fn a_column_counts_characters_and_not_bytes() {
        let problem = source("a = 1\n\"äöü\" = 2\n").problem(15..16, "two");
        assert_eq!((problem.line, problem.column), (2, 7));
    }

    #[test]
    fn a_range_past_the_end_or_inside_a_character_still_gives_a_place() {
        let problem = source("ä").problem(1..99, "odd");
        assert_eq!((problem.line, problem.column), (1, 1));
        assert_eq!(source("").problem(5..6, "empty").line, 1);
    }

    #[test]
    fn a_very_long_line_is_shown_around_the_place() {
        let text = format!("{}X{}", "a".repeat(5_000), "b".repeat(5_000));
        let shown = source(&text).problem(5_000..5_001, "here").to_string();
        assert!(shown.len() < 400, "{shown}");
        let mut lines = shown.lines().skip(2);
        let (line, caret) = (lines.next().unwrap(), lines.next().unwrap());
        assert_eq!(line.find('X'), caret.find('^'));
    }

    #[test]
    fn a_secret_beside_the_mistake_is_not_shown() {
        let text = "headers = { Authorization = \"Bearer tell-nobody\", X = 3 }";
        let at = text.find("3").unwrap();
        let shown = source(text).problem(at..at + 1, "must be a string").to_string();
        assert!(!shown.contains("tell-nobody"), "{shown}");
        assert!(shown.contains("X = 3"), "{shown}");
    }

    #[test]
    fn an_unfinished_secret_is_not_shown_either() {
        let shown = source("token = \"tell-nobody\n").problem(8..9, "unterminated").to_string();
        assert!(!shown.contains("nobody"), "{shown}");
    }
}
