//! Finds the line, the column and the snippet of a place in a file.

use std::ops::Range;

/// A generated file may be one line; more than this would bury the message.
const SNIPPET_CHARS: usize = 100;

/// Where something stands in its file, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

/// A file as read, kept so that every later step can point into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub text: String,
    /// Where each line begins, for a large file has many places to tell.
    lines: Vec<usize>,
}

/// A place as a reader sees it: line and column count from 1, the column in characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    pub line: usize,
    pub column: usize,
    pub(crate) snippet: String,
    pub(crate) caret: Range<usize>,
}

impl Source {
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        let text = text.into();
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        Self { name: name.into(), text, lines }
    }

    /// The line on which something begins, counted from 1.
    pub fn line(&self, span: Span) -> usize {
        self.lines.partition_point(|start| *start <= span.start)
    }

    pub fn position(&self, span: Span) -> Position {
        let start = self.boundary(span.start);
        let end = self.boundary(span.end.max(start));
        let number = self.line(Span { start, end });
        let line_start = self.lines[number - 1];
        let line_end = self.text[start..].find('\n').map_or(self.text.len(), |length| start + length);
        let column = self.text[line_start..start].chars().count();
        let width = self.text[start..end.min(line_end)].trim_end().chars().count().max(1);
        let line = &self.text[line_start..line_end];
        let is_short = line.chars().count() <= SNIPPET_CHARS;
        let from = if is_short { 0 } else { column.saturating_sub(SNIPPET_CHARS / 2) };
        let snippet: String = line
            .chars()
            .skip(from)
            .take(SNIPPET_CHARS)
            // A tab or an escape sequence would move the caret away from what it points at.
            .map(|character| if wallfacer_text::acts(character) { ' ' } else { character })
            .collect();
        let caret_end = (column - from + width).min(snippet.chars().count().max(column - from + 1));
        Position {
            line: number,
            column: column + 1,
            snippet: snippet.trim_end().to_owned(),
            caret: column - from..caret_end,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn position(text: &str, start: usize, end: usize) -> Position {
        Source::new("rules.yaml", text).position(Span { start, end })
    }

    #[test]
    fn a_column_counts_characters_and_not_bytes() {
        let place = position("a: 1\näöü: 2\n", 13, 14);
        assert_eq!((place.line, place.column), (2, 6));
    }

    #[test]
    fn a_place_beyond_the_end_is_the_end() {
        let place = position("a: ü", 99, 120);
        assert_eq!((place.line, place.column, place.caret), (1, 5, 4..5));
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let place = position(&"x".repeat(1000), 500, 900);
        assert_eq!(place.snippet.len(), SNIPPET_CHARS);
        assert_eq!(place.caret, 50..100);
    }
}
