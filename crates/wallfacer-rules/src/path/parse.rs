//! The grammar of RFC 9535, with a first name that must be one of the [`Root`]s.

use super::cursor::Cursor;
use super::filter::{Comparable, Filter, Query, Relation};
use super::{Path, Root, Segment, Selector, is_singular};
use crate::library::Library;
use crate::nearest::nearest;
use serde_json::Value;

/// The largest number that RFC 9535 allows as an index.
const MAX_INDEX: i64 = (1 << 53) - 1;
/// Brackets, parentheses and filters in each other; recursion over the syntax relies on it.
const MAX_DEPTH: usize = 32;

pub(super) fn parse(text: &str, library: &mut Library) -> Result<Path, String> {
    let mut parser = Parser { cursor: Cursor::new(text), library, depth: 0 };
    parser.cursor.expect("$")?;
    let (root, segments) = parser.rooted()?;
    if !parser.cursor.rest().is_empty() {
        return Err(parser.cursor.wanted("`.` or `[`"));
    }
    Ok(Path { text: text.to_owned(), root, segments })
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    library: &'a mut Library,
    depth: usize,
}

impl Parser<'_> {
    /// What follows `$`: the name of a root, then segments.
    fn rooted(&mut self) -> Result<(Root, Vec<Segment>), String> {
        let mut segments = self.segments()?;
        let known = Root::ALL.map(Root::name);
        let first = match segments.first() {
            Some(Segment::Child(selectors)) => match selectors.as_slice() {
                [Selector::Name(name)] => name,
                _ => {
                    return Err(
                        "it does not say what is read; begin with `$.response`, `$.input` or `$.tool`".into(),
                    );
                }
            },
            _ => {
                return Err(
                    "it does not say what is read; begin with `$.response`, `$.input` or `$.tool`".into()
                );
            }
        };
        let root = Root::named(first).ok_or_else(|| match nearest(first, known) {
            Some(meant) => format!("there is no `$.{first}`; did you mean `$.{meant}`?"),
            None => format!("there is no `$.{first}`; a path begins with one of $.{}", known.join(", $.")),
        })?;
        segments.remove(0);
        Ok((root, segments))
    }

    fn segments(&mut self) -> Result<Vec<Segment>, String> {
        let mut segments = Vec::new();
        loop {
            let before = self.cursor.rest().len();
            self.cursor.skip_blanks();
            if self.cursor.take("..") {
                segments.push(Segment::Descendant(self.after_dots()?));
            } else if self.cursor.take(".") {
                segments.push(Segment::Child(vec![self.dotted()?]));
            } else if self.cursor.peek() == Some('[') {
                segments.push(Segment::Child(self.bracketed()?));
            } else if before == self.cursor.rest().len() || self.depth > 0 {
                return Ok(segments);
            } else {
                return Err("there is a blank at its end".into());
            }
        }
    }

    fn after_dots(&mut self) -> Result<Vec<Selector>, String> {
        if self.cursor.peek() == Some('[') { self.bracketed() } else { Ok(vec![self.dotted()?]) }
    }

    fn dotted(&mut self) -> Result<Selector, String> {
        if self.cursor.take("*") {
            return Ok(Selector::Wildcard);
        }
        match self.cursor.name() {
            Some(name) => Ok(Selector::Name(name.to_owned())),
            None => Err(format!("{}; other names are written as ['name']", self.cursor.wanted("a name"))),
        }
    }

    fn bracketed(&mut self) -> Result<Vec<Selector>, String> {
        self.cursor.expect("[")?;
        let mut selectors = Vec::new();
        loop {
            self.cursor.skip_blanks();
            selectors.push(self.selector()?);
            self.cursor.skip_blanks();
            if self.cursor.take("]") {
                return Ok(selectors);
            }
            self.cursor.expect(",").map_err(|_| self.cursor.wanted("`]`"))?;
        }
    }

    fn selector(&mut self) -> Result<Selector, String> {
        match self.cursor.peek() {
            Some('*') => {
                self.cursor.next();
                Ok(Selector::Wildcard)
            }
            Some('\'' | '"') => self.cursor.string().map(Selector::Name),
            Some('?') => {
                self.cursor.next();
                self.deeper(|parser| parser.logical()).map(Selector::Filter)
            }
            _ => self.index_or_slice(),
        }
    }

    fn index_or_slice(&mut self) -> Result<Selector, String> {
        let start = self.integer()?;
        self.cursor.skip_blanks();
        if !self.cursor.take(":") {
            return start
                .map(Selector::Index)
                .ok_or_else(|| self.cursor.wanted("a name in quotes, a number, `*` or `?`"));
        }
        self.cursor.skip_blanks();
        let end = self.integer()?;
        self.cursor.skip_blanks();
        let mut step = None;
        if self.cursor.take(":") {
            self.cursor.skip_blanks();
            step = self.integer()?;
        }
        Ok(Selector::Slice { start, end, step: step.unwrap_or(1) })
    }

    fn integer(&mut self) -> Result<Option<i64>, String> {
        let minus = self.cursor.take("-");
        let digits = self.cursor.take_while(|letter| letter.is_ascii_digit());
        if digits.is_empty() {
            return if minus { Err("a number is missing after `-`".into()) } else { Ok(None) };
        }
        if (digits.starts_with('0') && digits.len() > 1) || (minus && digits == "0") {
            return Err(format!("`{digits}` is not how an index is written"));
        }
        let number = digits.parse::<i64>().ok().filter(|number| *number <= MAX_INDEX);
        let number = number.ok_or_else(|| format!("the index {digits} is too large"))?;
        Ok(Some(if minus { -number } else { number }))
    }

    fn logical(&mut self) -> Result<Filter, String> {
        let mut choices = vec![self.all()?];
        while self.token("||") {
            choices.push(self.all()?);
        }
        Ok(if choices.len() == 1 { choices.remove(0) } else { Filter::Any(choices) })
    }

    fn all(&mut self) -> Result<Filter, String> {
        let mut parts = vec![self.basic()?];
        while self.token("&&") {
            parts.push(self.basic()?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Filter::All(parts) })
    }

    fn basic(&mut self) -> Result<Filter, String> {
        if self.token("!") {
            let is_enclosed = self.token("(");
            let inner = if is_enclosed { self.parenthesised()? } else { self.test()? };
            if matches!(inner, Filter::Compare(..)) && !is_enclosed {
                return Err("a comparison after `!` needs parentheses".into());
            }
            return Ok(Filter::Not(Box::new(inner)));
        }
        if self.token("(") { self.parenthesised() } else { self.test() }
    }

    fn parenthesised(&mut self) -> Result<Filter, String> {
        let inner = self.deeper(|parser| parser.logical())?;
        if self.token(")") { Ok(inner) } else { Err(self.cursor.wanted("`)`")) }
    }

    /// A comparison, the existence of what a query selects, or a call of `match` or `search`.
    fn test(&mut self) -> Result<Filter, String> {
        self.cursor.skip_blanks();
        for (name, whole) in [("match(", true), ("search(", false)] {
            if self.cursor.take(name) {
                return self.matching(whole);
            }
        }
        if matches!(self.cursor.peek(), Some('@' | '$')) {
            let query = self.query()?;
            return match self.relation() {
                None => Ok(Filter::Exists(query)),
                Some(relation) => {
                    let left = singular(query)?;
                    Ok(Filter::Compare(left, relation, self.comparable()?))
                }
            };
        }
        let left = self.comparable()?;
        let relation = self.relation().ok_or_else(|| self.cursor.wanted("a comparison"))?;
        Ok(Filter::Compare(left, relation, self.comparable()?))
    }

    fn matching(&mut self, whole: bool) -> Result<Filter, String> {
        let value = self.comparable()?;
        if !self.token(",") {
            return Err(self.cursor.wanted("`,`"));
        }
        self.cursor.skip_blanks();
        let pattern = self.cursor.string().map_err(|_| "the pattern must be written in quotes")?;
        if !self.token(")") {
            return Err(self.cursor.wanted("`)`"));
        }
        // `.` leaves out both ends of a line in the regular expressions of the RFC.
        let pattern = if whole { format!("(?R)^(?:{pattern})$") } else { format!("(?R){pattern}") };
        Ok(Filter::Matches { value, pattern: self.library.regex(&pattern)? })
    }

    fn query(&mut self) -> Result<Query, String> {
        if self.cursor.take("@") {
            return self.deeper(|parser| parser.segments()).map(Query::Relative);
        }
        self.cursor.expect("$")?;
        let (root, segments) = self.deeper(|parser| parser.rooted())?;
        Ok(Query::Absolute(root, segments))
    }

    fn comparable(&mut self) -> Result<Comparable, String> {
        self.cursor.skip_blanks();
        match self.cursor.peek() {
            Some('@' | '$') => singular(self.query()?),
            Some('\'' | '"') => Ok(Comparable::Literal(Value::String(self.cursor.string()?))),
            Some('-' | '0'..='9') => self.number(),
            _ => self.word(),
        }
    }

    fn number(&mut self) -> Result<Comparable, String> {
        let written =
            self.cursor.take_while(|letter| matches!(letter, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let number: Value = match written {
            "-0" => Value::from(0),
            _ => serde_json::from_str(written).map_err(|_| format!("`{written}` is not a number"))?,
        };
        Ok(Comparable::Literal(number))
    }

    fn word(&mut self) -> Result<Comparable, String> {
        let word = self.cursor.name().ok_or_else(|| self.cursor.wanted("a value"))?;
        match word {
            "true" => Ok(Comparable::Literal(Value::Bool(true))),
            "false" => Ok(Comparable::Literal(Value::Bool(false))),
            "null" => Ok(Comparable::Literal(Value::Null)),
            "length" => self
                .argument(|parser| parser.deeper(|parser| parser.comparable()))
                .map(|inner| Comparable::Length(Box::new(inner))),
            "count" => self.argument(Parser::query).map(Comparable::Count),
            "value" => self.argument(Parser::query).map(Comparable::Value),
            _ => Err(format!(
                "`{word}` is not known in a filter; there are length, count, value, match and search"
            )),
        }
    }

    fn argument<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.cursor.expect("(")?;
        self.cursor.skip_blanks();
        let argument = read(self)?;
        if self.token(")") { Ok(argument) } else { Err(self.cursor.wanted("`)`")) }
    }

    fn relation(&mut self) -> Option<Relation> {
        const TOKENS: [(&str, Relation); 6] = [
            ("==", Relation::Equal),
            ("!=", Relation::NotEqual),
            ("<=", Relation::AtMost),
            (">=", Relation::AtLeast),
            ("<", Relation::Less),
            (">", Relation::Greater),
        ];
        TOKENS.into_iter().find(|(token, _)| self.token(token)).map(|(_, relation)| relation)
    }

    fn token(&mut self, token: &str) -> bool {
        self.cursor.skip_blanks();
        self.cursor.take(token)
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("it is nested more than {MAX_DEPTH} levels deep"));
        }
        let result = read(self);
        self.depth -= 1;
        result
    }
}

fn singular(query: Query) -> Result<Comparable, String> {
    let (Query::Relative(segments) | Query::Absolute(_, segments)) = &query;
    if is_singular(segments) {
        Ok(Comparable::Query(query))
    } else {
        Err("only a path of names and indexes can be compared; several values can be counted with count(…)"
            .into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        parse(text, &mut Library::default()).expect_err(text)
    }

    #[test]
    fn a_path_must_say_what_it_reads() {
        assert!(refused("$").contains("does not say what is read"));
        assert!(refused("$..text").contains("does not say what is read"));
        assert!(refused("$.respnse.x").contains("did you mean `$.response`?"));
    }

    #[test]
    fn what_the_rfc_forbids_is_refused() {
        for text in [
            "response",
            "$.response.",
            "$.response[01]",
            "$.response[-0]",
            "$.response[",
            "$.response['a]",
            "$.response.1a",
            "$.response[?]",
            "$.response[?@.a == @.*]",
            "$.response[?length(@.*) > 1]",
            "$.response[?1]",
            "$.response[1 2]",
            "$.response ",
            "$.response[9007199254740992]",
            "$.response['\\q']",
            "$.response[?match(@.a, '[')]",
            "$.response[?!@.a == 1]",
            "$.response[?length(@.a)]",
            "$.response[?match(@.a, 'x') == true]",
            "$.response[?count (@.*) == 1]",
            "$.response[?@.a == True]",
            "$.response[?@.a == 01]",
            "$.response. a",
            "$.response[]",
        ] {
            refused(text);
        }
    }

    #[test]
    fn nesting_is_bounded() {
        assert!(
            refused(&format!("$.response[?{}1{}]", "(".repeat(500), ")".repeat(500))).contains("levels deep")
        );
    }
}
