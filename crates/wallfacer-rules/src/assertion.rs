//! What a rule claims, ready to be evaluated: paths, patterns, schemas and expressions are compiled.

use crate::draft::Sketch;
use crate::expr::Expression;
use crate::path::{Path, Root};
use crate::schema::Schema;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// One claim about a call.
#[derive(Debug, Clone)]
pub struct Assertion(pub(crate) Claim);

#[derive(Debug, Clone)]
pub(crate) enum Claim {
    Equals {
        left: Operand,
        right: Operand,
    },
    NotEquals {
        left: Operand,
        right: Operand,
    },
    Compare {
        path: Arc<Path>,
        relation: Relation,
        bound: Operand,
    },
    Length {
        path: Arc<Path>,
        relation: Relation,
        bound: Operand,
    },
    IsType {
        path: Arc<Path>,
        wanted: Type,
    },
    MatchesRegex {
        path: Arc<Path>,
        pattern: Arc<Regex>,
        /// What may stand in the text, and is taken out of it before the pattern is looked for.
        except: Option<Arc<Regex>>,
    },
    MatchesSchema {
        path: Arc<Path>,
        schema: Arc<Schema>,
    },
    AllOf(Vec<Assertion>),
    AnyOf(Vec<Assertion>),
    /// With `or_missing`, it also holds when what it speaks of is not there.
    Not {
        claim: Box<Assertion>,
        or_missing: bool,
    },
    ForEach {
        path: Arc<Path>,
        claims: Vec<Assertion>,
    },
    Exists {
        path: Arc<Path>,
    },
    Absent {
        path: Arc<Path>,
    },
    Contains {
        path: Arc<Path>,
        value: Operand,
    },
    OneOf {
        path: Arc<Path>,
        values: Vec<Operand>,
    },
    Unique {
        path: Arc<Path>,
        by: Option<Arc<Path>>,
    },
    Sorted {
        path: Arc<Path>,
        by: Option<Arc<Path>>,
        descending: bool,
    },
    LatencyBelow(Duration),
    ParsesAsJson {
        path: Arc<Path>,
        claims: Vec<Assertion>,
    },
    SameAs {
        path: Arc<Path>,
        other: Arc<Path>,
        ignore: Vec<Arc<Path>>,
    },
    Expr(Arc<Expression>),
}

#[derive(Debug, Clone)]
pub(crate) enum Operand {
    Path(Arc<Path>),
    Value(Sketch),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Equal,
    AtMost,
    AtLeast,
    Less,
    Greater,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    String,
    Number,
    Integer,
    Boolean,
    Array,
    Object,
    Null,
}

impl Type {
    pub(crate) const ALL: [Type; 7] =
        [Type::String, Type::Number, Type::Integer, Type::Boolean, Type::Array, Type::Object, Type::Null];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Type::String => "string",
            Type::Number => "number",
            Type::Integer => "integer",
            Type::Boolean => "boolean",
            Type::Array => "array",
            Type::Object => "object",
            Type::Null => "null",
        }
    }
}

impl Assertion {
    /// Everything it looks at, `item` and `index` left out.
    pub fn roots(&self) -> BTreeSet<Root> {
        let mut roots = BTreeSet::new();
        self.visit(&mut |path| roots.extend(path.roots()));
        self.visit_expressions(&mut |expression| roots.extend(expression.roots()));
        roots.remove(&Root::Item);
        roots.remove(&Root::Index);
        roots
    }

    /// Whether the time of the call matters to it.
    pub(crate) fn reads_latency(&self) -> bool {
        matches!(self.0, Claim::LatencyBelow(_)) || self.below().iter().any(Assertion::reads_latency)
    }

    /// Calls `see` with every path in it.
    pub(crate) fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Path)) {
        match &self.0 {
            Claim::Equals { left, right } | Claim::NotEquals { left, right } => {
                left.visit(see);
                right.visit(see);
            }
            Claim::Compare { path, bound, .. } | Claim::Length { path, bound, .. } => {
                see(path);
                bound.visit(see);
            }
            Claim::Contains { path, value } => {
                see(path);
                value.visit(see);
            }
            Claim::OneOf { path, values } => {
                see(path);
                values.iter().for_each(|value| value.visit(see));
            }
            Claim::Unique { path, by } | Claim::Sorted { path, by, .. } => {
                see(path);
                by.iter().for_each(|by| see(by));
            }
            Claim::SameAs { path, other, ignore } => {
                see(path);
                see(other);
                ignore.iter().for_each(|path| see(path));
            }
            Claim::IsType { path, .. }
            | Claim::MatchesRegex { path, .. }
            | Claim::MatchesSchema { path, .. }
            | Claim::ForEach { path, .. }
            | Claim::Exists { path }
            | Claim::Absent { path }
            | Claim::ParsesAsJson { path, .. } => see(path),
            Claim::AllOf(_)
            | Claim::AnyOf(_)
            | Claim::Not { .. }
            | Claim::LatencyBelow(_)
            | Claim::Expr(_) => {}
        }
        self.below().iter().for_each(|claim| claim.visit(see));
    }

    pub(crate) fn visit_expressions<'a>(&'a self, see: &mut dyn FnMut(&'a Expression)) {
        if let Claim::Expr(expression) = &self.0 {
            see(expression);
        }
        self.below().iter().for_each(|claim| claim.visit_expressions(see));
    }

    fn below(&self) -> &[Assertion] {
        match &self.0 {
            Claim::AllOf(claims)
            | Claim::AnyOf(claims)
            | Claim::ForEach { claims, .. }
            | Claim::ParsesAsJson { claims, .. } => claims,
            Claim::Not { claim, .. } => std::slice::from_ref(claim),
            _ => &[],
        }
    }
}

impl Operand {
    fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Path)) {
        match self {
            Operand::Path(path) => see(path),
            Operand::Value(sketch) => sketch.references(see),
        }
    }
}

impl Relation {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Relation::Equal => "exactly",
            Relation::AtMost => "at most",
            Relation::AtLeast => "at least",
            Relation::Less => "less than",
            Relation::Greater => "more than",
        }
    }
}
