//! Fills in the arguments that a rule sends: `{{steps.NAME.path}}`, `{{canary.NAME}}` and `{{marker}}` are replaced by
//! what is known by then.

use crate::evaluate::{Budget, Known, Scope, Unknown};
use crate::path::{Path, Root};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;

/// Some things can be planted only in a sandbox, some only beside a directory that the server was told of.
pub(crate) const NOT_PLANTED: &str =
    "they need a directory that the server is told to keep to (`--root DIR`), in a sandbox";

/// What stands between the place in a rule that is left open and the reason.
pub const CANNOT_BE_FILLED: &str = " cannot be filled: ";

/// JSON with places that are filled while rules run.
#[derive(Debug, Clone)]
pub struct Draft(pub(crate) Sketch);

#[derive(Debug, Clone)]
pub(crate) enum Sketch {
    /// Nothing in it is left open.
    Ready(Value),
    Text(Vec<Piece>),
    List(Vec<Sketch>),
    Map(Vec<(Vec<Piece>, Sketch)>),
}

#[derive(Debug, Clone)]
pub(crate) enum Piece {
    Literal(String),
    Reference { written: String, path: Arc<Path> },
}

/// A placeholder that stands for nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unresolved {
    /// As written: `steps.login.response.token`.
    pub placeholder: String,
    /// Where in the arguments it stands: `$.user.token`.
    pub at: String,
    pub why: String,
    /// It cannot be known here, rather than being absent from what is known.
    pub is_unknown: bool,
}

impl Draft {
    pub fn resolve(&self, known: &Known<'_>) -> Result<Value, Unresolved> {
        let budget = Budget::default();
        self.0.resolve(&Scope::before_call(*known, &budget), "$")
    }

    /// The JSON itself, if nothing in it is left open.
    pub fn ready(&self) -> Option<&Value> {
        match &self.0 {
            Sketch::Ready(value) => Some(value),
            _ => None,
        }
    }

    /// Adds each value that is written out, with the nearest name above it.
    pub(crate) fn written(&self, found: &mut Vec<(String, String)>) {
        self.0.written("", found);
    }

    /// What must be known to send it.
    pub fn roots(&self) -> Vec<Root> {
        let mut roots = Vec::new();
        self.0.references(&mut |path| roots.push(path.root));
        roots
    }
}

impl Sketch {
    pub(crate) fn resolve(&self, scope: &Scope<'_>, at: &str) -> Result<Value, Unresolved> {
        match self {
            Sketch::Ready(value) => Ok(value.clone()),
            // A string that is one placeholder keeps the type of what it stands for.
            Sketch::Text(pieces) => match pieces.as_slice() {
                [Piece::Reference { written, path }] => look_up(written, path, scope, at).cloned(),
                pieces => join(pieces, scope, at).map(Value::String),
            },
            Sketch::List(items) => items
                .iter()
                .enumerate()
                .map(|(index, item)| item.resolve(scope, &format!("{at}[{index}]")))
                .collect::<Result<_, _>>()
                .map(Value::Array),
            Sketch::Map(members) => {
                let mut resolved = Map::with_capacity(members.len());
                for (name, value) in members {
                    let name = join(name, scope, at)?;
                    let value = value.resolve(scope, &format!("{at}.{name}"))?;
                    resolved.insert(name, value);
                }
                Ok(Value::Object(resolved))
            }
        }
    }

    fn written(&self, name: &str, found: &mut Vec<(String, String)>) {
        match self {
            Sketch::Ready(value) => written_value(value, name, found),
            // What is filled in is not known yet, and what stands around it is no value by itself.
            Sketch::Text(_) => {}
            Sketch::List(items) => items.iter().for_each(|item| item.written(name, found)),
            Sketch::Map(members) => {
                for (pieces, value) in members {
                    let literal = |piece: &Piece| match piece {
                        Piece::Literal(text) => text.clone(),
                        Piece::Reference { .. } => String::new(),
                    };
                    value.written(&pieces.iter().map(literal).collect::<String>(), found);
                }
            }
        }
    }

    pub(crate) fn references<'a>(&'a self, visit: &mut dyn FnMut(&'a Path)) {
        let pieces = |pieces: &'a [Piece], visit: &mut dyn FnMut(&'a Path)| {
            for piece in pieces {
                if let Piece::Reference { path, .. } = piece {
                    visit(path);
                }
            }
        };
        match self {
            Sketch::Ready(_) => {}
            Sketch::Text(text) => pieces(text, visit),
            Sketch::List(items) => items.iter().for_each(|item| item.references(visit)),
            Sketch::Map(members) => {
                for (name, value) in members {
                    pieces(name, visit);
                    value.references(visit);
                }
            }
        }
    }
}

/// Adds each text and number in a value, with the nearest name above it.
pub(crate) fn written_value(value: &Value, name: &str, found: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => found.push((name.to_owned(), text.clone())),
        Value::Number(number) => found.push((name.to_owned(), number.to_string())),
        Value::Array(items) => items.iter().for_each(|item| written_value(item, name, found)),
        Value::Object(members) => {
            members.iter().for_each(|(name, member)| written_value(member, name, found));
        }
        Value::Null | Value::Bool(_) => {}
    }
}

fn join(pieces: &[Piece], scope: &Scope<'_>, at: &str) -> Result<String, Unresolved> {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Literal(literal) => text.push_str(literal),
            Piece::Reference { written, path } => match look_up(written, path, scope, at)? {
                Value::String(found) => text.push_str(found),
                other => text.push_str(&other.to_string()),
            },
        }
    }
    Ok(text)
}

fn look_up<'a>(written: &str, path: &Path, scope: &Scope<'a>, at: &str) -> Result<&'a Value, Unresolved> {
    let unresolved = |why: String, is_unknown| Unresolved {
        placeholder: written.to_owned(),
        at: at.to_owned(),
        why,
        is_unknown,
    };
    match path.first(scope) {
        Ok(Some(value)) => Ok(value),
        Ok(None) if path.root == Root::Canary => Err(unresolved(NOT_PLANTED.to_owned(), true)),
        Ok(None) => Err(unresolved(format!("`{path}` finds nothing"), false)),
        Err(Unknown(why)) => Err(unresolved(why, true)),
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{{{{{}}}}}` at `{}`{CANNOT_BE_FILLED}{}", self.placeholder, self.at, self.why)
    }
}

impl std::error::Error for Unresolved {}
