//! Parses a JSONPath (RFC 9535) as a [`Path`] that selects values. Its first name says what is read: `$.input`,
//! `$.response`, `$.tool`, `$.effects`, `$.steps`, `$.item` …; so nothing is copied into one document, and what a rule
//! reads is known before it runs.

mod cursor;
mod filter;
mod parse;
mod select;
#[cfg(test)]
mod tests;

use crate::library::Library;
use filter::Filter;
use std::fmt;

/// Longer paths are not written by hand.
const MAX_PATH_BYTES: usize = 4096;

#[derive(Debug, Clone)]
pub struct Path {
    text: String,
    pub(crate) root: Root,
    segments: Vec<Segment>,
}

/// What the first name of a path may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Root {
    /// The arguments of the call.
    Input,
    /// The result of the call.
    Response,
    /// The tool as the server lists it.
    Tool,
    /// Files, hosts and programs that the call touched.
    Effects,
    /// Earlier steps of the sequence, by the names they were bound to.
    Steps,
    /// The value at hand inside `for_each` and its like.
    Item,
    /// Its number, from 0.
    Index,
    /// Planted values by their names.
    Canary,
    /// The text that proves an effect to be ours.
    Marker,
}

#[derive(Debug, Clone)]
enum Segment {
    Child(Vec<Selector>),
    Descendant(Vec<Selector>),
}

#[derive(Debug, Clone)]
enum Selector {
    Name(String),
    Wildcard,
    Index(i64),
    Slice { start: Option<i64>, end: Option<i64>, step: i64 },
    Filter(Filter),
}

impl Root {
    pub(crate) const ALL: [Root; 9] = [
        Root::Input,
        Root::Response,
        Root::Tool,
        Root::Effects,
        Root::Steps,
        Root::Item,
        Root::Index,
        Root::Canary,
        Root::Marker,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Root::Input => "input",
            Root::Response => "response",
            Root::Tool => "tool",
            Root::Effects => "effects",
            Root::Steps => "steps",
            Root::Item => "item",
            Root::Index => "index",
            Root::Canary => "canary",
            Root::Marker => "marker",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|root| root.name() == name)
    }
}

impl Path {
    pub(crate) fn parse(text: &str, library: &mut Library) -> Result<Self, String> {
        if text.len() > MAX_PATH_BYTES {
            return Err(format!("the path is longer than {MAX_PATH_BYTES} bytes"));
        }
        parse::parse(text, library)
    }

    /// At most one value can be found: names and indexes only.
    pub(crate) fn is_singular(&self) -> bool {
        is_singular(&self.segments)
    }

    /// Everything this path reads, its filters included.
    pub(crate) fn roots(&self) -> Vec<Root> {
        let mut roots = vec![self.root];
        filter::roots_of(&self.segments, &mut roots);
        roots
    }

    /// The name right after the root: the step in `$.steps.login.response`.
    pub(crate) fn first_name(&self) -> Option<&str> {
        match self.segments.first() {
            Some(Segment::Child(selectors)) => match selectors.as_slice() {
                [Selector::Name(name)] => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// The same path, read from the named step: `$.response.a` becomes `$.steps.NAME.response.a`.
    pub(crate) fn in_step(&self, step: &str) -> Self {
        let name = |name: &str| Segment::Child(vec![Selector::Name(name.to_owned())]);
        let mut segments = vec![name(step), name(self.root.name())];
        segments.extend(self.segments.iter().cloned());
        Self { text: format!("$.steps.{step}{}", &self.text[1..]), root: Root::Steps, segments }
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

fn is_singular(segments: &[Segment]) -> bool {
    segments.iter().all(|segment| match segment {
        Segment::Child(selectors) => matches!(selectors.as_slice(), [Selector::Name(_) | Selector::Index(_)]),
        Segment::Descendant(_) => false,
    })
}
