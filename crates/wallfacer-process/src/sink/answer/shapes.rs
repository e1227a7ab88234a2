//! What a server was seen to miss in the answers of a service: learned from its own errors, by request, for the run.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::asked::Asked;
use super::form::Form;

/// Requests that something is learned of.
const MAX_PATTERNS: usize = 512;
/// Members that are learned of one request.
const MAX_MEMBERS: usize = 256;
/// The deepest member.
const MAX_DEPTH: usize = 12;
/// In how many ways an answer is tried where nobody says what is missing.
const MAX_VARIANT: u8 = 6;

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Type {
    Text,
    Number,
    Flag,
    List,
    Object,
    /// This and nothing else.
    Is(Value),
}

/// A step on the way to a member.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    Member(String),
    /// Each element of a list.
    Each,
}

/// What one error tells of the answer that was expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// What is there is of this type.
    At(Vec<Part>, Type),
    /// There is a member of this name; nobody says where.
    Named(String, Option<Type>),
    Form(Form),
    /// Something is missing, and nobody says what.
    More,
}

/// What is known of the answer to one request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Shape {
    form: Option<Form>,
    pub(super) at: BTreeMap<Vec<Part>, Type>,
    pub(super) named: BTreeMap<String, Option<Type>>,
    pub(super) variant: u8,
    /// All ways have been tried, and none was better than the first.
    exhausted: bool,
}

/// Requests that are answered alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Pattern {
    host: String,
    method: String,
    segments: Vec<String>,
}

/// All that was learned. The sinks of all lives of a run share it.
#[derive(Debug, Default)]
pub struct Shapes {
    known: Mutex<BTreeMap<Pattern, Shape>>,
}

impl Shapes {
    /// Learns what the answer to a request should have had; whether any of that is news.
    pub fn learn(&self, method: &str, host: &str, target: &str, hints: &[Hint]) -> bool {
        let pattern = Pattern::of(&Asked::new(method, Some(host), target));
        let mut known = self.known();
        if known.len() >= MAX_PATTERNS && !known.contains_key(&pattern) {
            return false;
        }
        let shape = known.entry(pattern).or_default();
        let before = shape.clone();
        let definite = hints.iter().any(|hint| !matches!(hint, Hint::More));
        for hint in hints {
            shape.learn(hint);
        }
        // What was said has been heeded already, and was not enough.
        if definite && *shape == before {
            shape.learn(&Hint::More);
        }
        *shape != before
    }

    /// What is known of the request, or of the one most like it.
    pub(super) fn of(&self, asked: &Asked) -> Shape {
        let pattern = Pattern::of(asked);
        let known = self.known();
        let likeness = |(other, shape): (&Pattern, &Shape)| {
            pattern.likeness(other).map(|likeness| (likeness, shape.clone()))
        };
        // The last of the most alike; the order is that of the patterns, not of the lessons.
        known
            .iter()
            .filter_map(likeness)
            .max_by_key(|(likeness, _)| *likeness)
            .map(|(_, shape)| shape)
            .unwrap_or_default()
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Pattern, Shape>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pattern {
    fn of(asked: &Asked) -> Pattern {
        let (host, method) = (asked.host.clone(), asked.method.to_ascii_uppercase());
        Pattern { host, method, segments: asked.segments() }
    }

    /// How much two requests have in common; none where one says nothing of the other.
    fn likeness(&self, other: &Pattern) -> Option<usize> {
        let same_place = self.host == other.host && self.segments.len() == other.segments.len();
        let same = self.segments.iter().zip(&other.segments).filter(|(one, other)| one == other).count();
        // What differs are names and numbers of things, if anything is the same.
        let alike = same_place && self.method == other.method && (same > 0 || self.segments.len() <= 1);
        alike.then_some(same)
    }
}

impl Shape {
    /// The kind of document that is known or tried; none where the request decides.
    pub(super) fn form(&self) -> Option<Form> {
        self.form.or(match self.variant {
            5 => Some(Form::Atom),
            6 => Some(Form::Page),
            _ => None,
        })
    }

    /// The type of a member of this name, wherever it is, as far as that is known.
    pub(super) fn type_of(&self, name: &str) -> Option<&Type> {
        let ends_so = |path: &[Part]| matches!(path.last(), Some(Part::Member(last)) if last == name);
        let placed = self.at.iter().find(|(path, _)| ends_so(path)).map(|(_, is)| is);
        placed.or_else(|| self.named.get(name)?.as_ref())
    }

    fn learn(&mut self, hint: &Hint) {
        match hint {
            Hint::At(path, _) if path.len() > MAX_DEPTH || self.at.len() >= MAX_MEMBERS => {}
            Hint::At(path, is) => drop(self.at.insert(path.clone(), is.clone())),
            Hint::Named(name, is) if self.named.len() < MAX_MEMBERS => {
                let known = self.named.entry(name.clone()).or_default();
                if is.is_some() {
                    known.clone_from(is);
                }
            }
            Hint::Named(..) => {}
            Hint::Form(form) => self.form = Some(*form),
            Hint::More if self.exhausted => {}
            Hint::More if self.variant == MAX_VARIANT => (self.variant, self.exhausted) = (0, true),
            Hint::More => self.variant += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(shapes: &Shapes, method: &str, target: &str) -> Shape {
        shapes.of(&Asked::new(method, Some("a.example"), target))
    }

    #[test]
    fn what_was_missing_is_known_for_requests_alike_and_no_others() {
        let shapes = Shapes::default();
        let hint = [Hint::Named("choices".into(), Some(Type::List))];
        assert!(shapes.learn("GET", "a.example", "/users/7/notes?x=1", &hint));
        assert_eq!(shape(&shapes, "GET", "/users/9/notes").named.len(), 1);
        for (method, target) in [("POST", "/users/7/notes"), ("GET", "/users/7"), ("GET", "/a/b/c")] {
            assert_eq!(shape(&shapes, method, target), Shape::default(), "{method} {target}");
        }
    }

    #[test]
    fn what_is_said_twice_is_tried_another_way_until_there_is_none_left() {
        let shapes = Shapes::default();
        let hint = [Hint::Named("a".into(), None)];
        let learned = (0..20).filter(|_| shapes.learn("GET", "a.example", "/x", &hint)).count();
        assert_eq!(learned, 1 + usize::from(MAX_VARIANT) + 1);
        assert_eq!(shape(&shapes, "GET", "/x").variant, 0);
    }
}
