//! A regular expression as a tree, after all of ECMA-262's spellings have been understood.

use super::class::Class;

#[derive(Clone, Debug)]
pub(super) enum Ast {
    Empty,
    Literal(char),
    Class(Class),
    Concat(Vec<Ast>),
    Alternate(Vec<Ast>),
    Repeat {
        inner: Box<Ast>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    },
    /// Captures are numbered from one, as they are written.
    Capture {
        inner: Box<Ast>,
        number: usize,
    },
    BackReference(usize),
    Start,
    End,
    WordBoundary {
        negated: bool,
    },
    Look {
        inner: Box<Ast>,
        ahead: bool,
        negated: bool,
    },
}

impl Ast {
    /// The fewest characters that a match takes.
    pub(super) fn shortest(&self) -> usize {
        match self {
            Ast::Literal(_) | Ast::Class(_) => 1,
            Ast::Concat(parts) => parts.iter().map(Ast::shortest).fold(0, usize::saturating_add),
            Ast::Alternate(parts) => parts.iter().map(Ast::shortest).min().unwrap_or(0),
            Ast::Repeat { inner, min, .. } => inner.shortest().saturating_mul(*min as usize),
            Ast::Capture { inner, .. } => inner.shortest(),
            _ => 0,
        }
    }

    pub(super) fn has_end_anchor(&self) -> bool {
        match self {
            Ast::End | Ast::WordBoundary { .. } | Ast::Look { .. } => true,
            Ast::Concat(parts) | Ast::Alternate(parts) => parts.iter().any(Ast::has_end_anchor),
            Ast::Repeat { inner, .. } | Ast::Capture { inner, .. } => inner.has_end_anchor(),
            _ => false,
        }
    }
}
