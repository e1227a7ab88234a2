//! Where in a value something stands, and patterns of such places: the part of JSONPath that names places and not values.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Longer patterns are not written by hand.
const MAX_PATTERN_BYTES: usize = 4_096;

/// The way from the root to one value.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Key(String),
    Index(usize),
}

/// Places that are alike, and all that lies below them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Part(Part),
    Any,
    /// Anything in between, or nothing.
    Deep,
}

/// A text that is no pattern.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no path; write it as `$.structuredContent.time`, `$.items[*].id` or `$..time`")]
pub struct BadPattern(String);

impl Place {
    pub fn key(&self, key: &str) -> Place {
        self.with(Part::Key(key.to_owned()))
    }

    pub fn index(&self, index: usize) -> Place {
        self.with(Part::Index(index))
    }

    /// The place whichever item of a list it lies in.
    pub fn pattern(&self) -> Pattern {
        let step = |part: &Part| match part {
            Part::Key(_) => Step::Part(part.clone()),
            Part::Index(_) => Step::Any,
        };
        let steps: Vec<Step> = self.0.iter().map(step).collect();
        let text = steps.iter().fold("$".to_owned(), |text, step| text + &step.to_string());
        Pattern { text, steps }
    }

    fn with(&self, part: Part) -> Place {
        Place(self.0.iter().cloned().chain([part]).collect())
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("$")?;
        self.0.iter().try_for_each(|part| part.fmt(formatter))
    }
}

impl fmt::Display for Part {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |key: &str| {
            let mut letters = key.chars();
            letters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
                && letters.all(|letter| letter.is_alphanumeric() || letter == '_')
        };
        match self {
            Part::Key(key) if is_plain(key) => write!(formatter, ".{key}"),
            Part::Key(key) => write!(formatter, "['{}']", key.replace('\\', r"\\").replace('\'', r"\'")),
            Part::Index(index) => write!(formatter, "[{index}]"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Part(part) => part.fmt(formatter),
            Step::Any => formatter.write_str("[*]"),
            Step::Deep => formatter.write_str("."),
        }
    }
}

impl Pattern {
    /// Reads names, indexes, `*` and `..`; a filter names values, and is refused.
    pub fn parse(text: &str) -> Result<Pattern, BadPattern> {
        let wrong = || BadPattern(text.chars().take(80).collect());
        let mut rest =
            text.strip_prefix('$').filter(|_| text.len() <= MAX_PATTERN_BYTES).ok_or_else(wrong)?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if let Some(after) = rest.strip_prefix("..") {
                steps.push(Step::Deep);
                rest = after;
                if rest.starts_with('[') {
                    continue;
                }
            } else if let Some(after) = rest.strip_prefix('.') {
                rest = after;
            } else {
                let (step, after) = bracket(rest).ok_or_else(wrong)?;
                steps.push(step);
                rest = after;
                continue;
            }
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (name, after) = rest.split_at(end);
            match name {
                "" => return Err(wrong()),
                "*" => steps.push(Step::Any),
                name => steps.push(Step::Part(Part::Key(name.to_owned()))),
            }
            rest = after;
        }
        Ok(Pattern { text: text.to_owned(), steps })
    }

    /// Whether the place is one of these, or lies below one.
    pub fn covers(&self, place: &Place) -> bool {
        covers(&self.steps, &place.0)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.text
    }
}

impl TryFrom<String> for Pattern {
    type Error = BadPattern;

    fn try_from(text: String) -> Result<Pattern, BadPattern> {
        Pattern::parse(&text)
    }
}

/// `[3]`, `[*]` or `['name']`, and what follows it.
fn bracket(text: &str) -> Option<(Step, &str)> {
    let inner = text.strip_prefix('[')?;
    if let Some(quote) = inner.chars().next().filter(|first| matches!(first, '\'' | '"')) {
        let mut name = String::new();
        let mut letters = inner.char_indices().skip(1);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => name.push(letters.next()?.1),
                end if end == quote => {
                    let rest = inner[at + 1..].strip_prefix(']')?;
                    return Some((Step::Part(Part::Key(name)), rest));
                }
                other => name.push(other),
            }
        }
        return None;
    }
    let (word, rest) = inner.split_once(']')?;
    match word {
        "*" => Some((Step::Any, rest)),
        index => Some((Step::Part(Part::Index(index.parse().ok()?)), rest)),
    }
}

fn covers(steps: &[Step], parts: &[Part]) -> bool {
    match (steps.split_first(), parts.split_first()) {
        (None, _) => true,
        (Some((Step::Deep, later)), _) => (0..=parts.len()).any(|skipped| covers(later, &parts[skipped..])),
        (Some((Step::Any, steps)), Some((_, parts))) => covers(steps, parts),
        (Some((Step::Part(wanted), steps)), Some((part, parts))) => wanted == part && covers(steps, parts),
        (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place::default().key("structuredContent").key("items").index(3).key("made at")
    }

    #[test]
    fn a_place_is_shown_as_a_path_and_its_pattern_reads_back() {
        assert_eq!(place().to_string(), "$.structuredContent.items[3]['made at']");
        let pattern = place().pattern();
        assert_eq!(pattern.to_string(), "$.structuredContent.items[*]['made at']");
        assert_eq!(Pattern::parse(&pattern.to_string()).unwrap(), pattern);
    }

    #[test]
    fn a_pattern_covers_its_places_and_what_lies_below() {
        let covering = [
            "$",
            "$.structuredContent",
            "$..items",
            "$.structuredContent.items[3]",
            "$.*.items[*]",
            "$..['made at']",
        ];
        for text in covering {
            assert!(Pattern::parse(text).unwrap().covers(&place()), "{text}");
        }
        for text in ["$.content", "$.structuredContent.items[2]", "$..time", "$.structuredContent.items[3].x"]
        {
            assert!(!Pattern::parse(text).unwrap().covers(&place()), "{text}");
        }
    }

    #[test]
    fn what_names_values_or_nothing_is_refused_with_an_example() {
        for text in ["", "time", "$.", "$[?@.a]", "$.a[", "$['a]", "$[-1]", "$..", "$x"] {
            assert!(Pattern::parse(text).is_err(), "{text}");
        }
        insta::assert_snapshot!(Pattern::parse("time").unwrap_err(), @"`time` is no path; write it as `$.structuredContent.time`, `$.items[*].id` or `$..time`");
    }
}
