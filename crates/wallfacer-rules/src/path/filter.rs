//! Decides whether a value passes `[?…]`, by the comparison rules of RFC 9535.

use super::select;
use super::{Root, Segment, Selector};
use crate::evaluate::{Scope, Unknown, compare, equal};
use regex::Regex;
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;

#[derive(Debug, Clone)]
pub(super) enum Filter {
    Any(Vec<Filter>),
    All(Vec<Filter>),
    Not(Box<Filter>),
    Exists(Query),
    Compare(Comparable, Relation, Comparable),
    Matches { value: Comparable, pattern: Arc<Regex> },
}

#[derive(Debug, Clone)]
pub(super) enum Query {
    Relative(Vec<Segment>),
    Absolute(Root, Vec<Segment>),
}

#[derive(Debug, Clone)]
pub(super) enum Comparable {
    Literal(Value),
    Query(Query),
    Length(Box<Comparable>),
    Count(Query),
    Value(Query),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

impl Filter {
    pub(super) fn passes<'a>(&'a self, at: &'a Value, scope: &Scope<'a>) -> Result<bool, Unknown> {
        match self {
            Filter::Any(choices) => {
                for choice in choices {
                    if choice.passes(at, scope)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Filter::All(parts) => {
                for part in parts {
                    if !part.passes(at, scope)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            Filter::Not(inner) => Ok(!inner.passes(at, scope)?),
            Filter::Exists(query) => Ok(!query.select(at, scope)?.is_empty()),
            Filter::Compare(left, relation, right) => {
                let (left, right) = (left.value(at, scope)?, right.value(at, scope)?);
                relation.holds(left.as_deref(), right.as_deref(), scope)
            }
            Filter::Matches { value, pattern } => {
                let value = value.value(at, scope)?;
                Ok(value.as_deref().and_then(Value::as_str).is_some_and(|text| pattern.is_match(text)))
            }
        }
    }
}

impl Query {
    fn select<'a>(&self, at: &'a Value, scope: &Scope<'a>) -> Result<Vec<&'a Value>, Unknown> {
        match self {
            Query::Relative(segments) => select::follow(at, segments, scope),
            Query::Absolute(root, segments) => match scope.root(*root)? {
                Some(value) => select::follow(value, segments, scope),
                None => Ok(Vec::new()),
            },
        }
    }
}

impl Comparable {
    /// `None` is the RFC's *Nothing*: what a query selects when it selects no value.
    fn value<'a>(&'a self, at: &'a Value, scope: &Scope<'a>) -> Result<Option<Cow<'a, Value>>, Unknown> {
        Ok(match self {
            Comparable::Literal(value) => Some(Cow::Borrowed(value)),
            Comparable::Query(query) => query.select(at, scope)?.first().copied().map(Cow::Borrowed),
            Comparable::Length(inner) => {
                let length = inner.value(at, scope)?.and_then(|value| match value.as_ref() {
                    Value::String(text) => Some(text.chars().count()),
                    Value::Array(items) => Some(items.len()),
                    Value::Object(members) => Some(members.len()),
                    _ => None,
                });
                length.map(|length| Cow::Owned(Value::from(length)))
            }
            Comparable::Count(query) => Some(Cow::Owned(Value::from(query.select(at, scope)?.len()))),
            Comparable::Value(query) => match query.select(at, scope)?.as_slice() {
                [one] => Some(Cow::Borrowed(*one)),
                _ => None,
            },
        })
    }
}

impl Relation {
    fn holds(self, left: Option<&Value>, right: Option<&Value>, scope: &Scope<'_>) -> Result<bool, Unknown> {
        let same = || match (left, right) {
            (None, None) => Ok(true),
            (Some(left), Some(right)) => equal(left, right, scope.budget),
            _ => Ok(false),
        };
        let order = left.zip(right).and_then(|(left, right)| compare(left, right));
        Ok(match self {
            Relation::Equal => same()?,
            Relation::NotEqual => !same()?,
            Relation::Less => order == Some(Ordering::Less),
            Relation::Greater => order == Some(Ordering::Greater),
            Relation::AtMost => order == Some(Ordering::Less) || same()?,
            Relation::AtLeast => order == Some(Ordering::Greater) || same()?,
        })
    }
}

/// Adds what the filters in these segments read by `$`.
pub(super) fn roots_of(segments: &[Segment], roots: &mut Vec<Root>) {
    for segment in segments {
        let (Segment::Child(selectors) | Segment::Descendant(selectors)) = segment;
        for selector in selectors {
            if let Selector::Filter(filter) = selector {
                filter_roots(filter, roots);
            }
        }
    }
}

fn filter_roots(filter: &Filter, roots: &mut Vec<Root>) {
    match filter {
        Filter::Any(parts) | Filter::All(parts) => parts.iter().for_each(|part| filter_roots(part, roots)),
        Filter::Not(inner) => filter_roots(inner, roots),
        Filter::Exists(query) => query_roots(query, roots),
        Filter::Compare(left, _, right) => {
            comparable_roots(left, roots);
            comparable_roots(right, roots);
        }
        Filter::Matches { value, .. } => comparable_roots(value, roots),
    }
}

fn comparable_roots(comparable: &Comparable, roots: &mut Vec<Root>) {
    match comparable {
        Comparable::Literal(_) => {}
        Comparable::Query(query) | Comparable::Count(query) | Comparable::Value(query) => {
            query_roots(query, roots)
        }
        Comparable::Length(inner) => comparable_roots(inner, roots),
    }
}

fn query_roots(query: &Query, roots: &mut Vec<Root>) {
    let (Query::Relative(segments) | Query::Absolute(_, segments)) = query;
    if let Query::Absolute(root, _) = query {
        roots.push(*root);
    }
    roots_of(segments, roots);
}
