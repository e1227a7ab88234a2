//! Evaluates an expression, one step at a time and each step paid for.

use super::functions;
use super::operators;
use super::syntax::{Expr, Macro, MacroKind, Operator};
use crate::evaluate::{BYTES_PER_STEP, Scope, Unknown, show};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Why there is no value.
#[derive(Debug)]
pub(super) enum Fault {
    /// A field that is not there, a sum of text and number: the expression says nothing about this call.
    Undefined(String),
    Unknown(Unknown),
}

pub(super) type Found<'a> = Result<Cow<'a, Value>, Fault>;
type Locals<'a> = Vec<(&'a str, Cow<'a, Value>)>;

impl From<Unknown> for Fault {
    fn from(unknown: Unknown) -> Self {
        Fault::Unknown(unknown)
    }
}

pub(super) fn undefined<T>(why: impl Into<String>) -> Result<T, Fault> {
    Err(Fault::Undefined(why.into()))
}

pub(super) fn run<'a>(expression: &'a Expr, scope: &Scope<'a>) -> Found<'a> {
    value(expression, scope, &mut Vec::new())
}

/// The two sides of a comparison, for a message about it.
pub(super) fn sides<'a>(expression: &'a Expr, scope: &Scope<'a>) -> Option<(Cow<'a, Value>, Cow<'a, Value>)> {
    match expression {
        Expr::Binary(_, left, right) => Some((run(left, scope).ok()?, run(right, scope).ok()?)),
        // Of several claims the first that fails is the one to show.
        Expr::And(left, right) => match run(left, scope).ok()?.as_ref() {
            Value::Bool(true) => sides(right, scope),
            _ => sides(left, scope),
        },
        _ => None,
    }
}

fn value<'a>(expression: &'a Expr, scope: &Scope<'a>, locals: &mut Locals<'a>) -> Found<'a> {
    scope.budget.spend(1)?;
    match expression {
        Expr::Literal(literal) => Ok(Cow::Borrowed(literal)),
        Expr::Root(root) => match scope.root(*root)? {
            Some(found) => Ok(Cow::Borrowed(found)),
            None => undefined(format!("`{}` is not known here", root.name())),
        },
        Expr::Local(name) => match locals.iter().rev().find(|(local, _)| local == name) {
            Some((_, found)) => copied(found, scope),
            None => undefined(format!("`{name}` is not known here")),
        },
        Expr::List(items) => {
            let items = items.iter().map(|item| value(item, scope, locals).map(Cow::into_owned));
            Ok(Cow::Owned(Value::Array(items.collect::<Result<_, _>>()?)))
        }
        Expr::Map(members) => map(members, scope, locals),
        Expr::Field(of, name) => {
            let of = value(of, scope, locals)?;
            match field(&of, name, scope)? {
                Some(found) => Ok(found),
                None => undefined(format!("there is no `{name}` in {}", show(&of))),
            }
        }
        Expr::Has(of, name) => {
            let of = value(of, scope, locals)?;
            Ok(truth(of.get(name).is_some()))
        }
        Expr::Item(of, index) => item(of, index, scope, locals),
        Expr::Not(inner) => Ok(truth(!boolean(inner, scope, locals)?)),
        Expr::Negative(inner) => operators::negative(&*value(inner, scope, locals)?),
        Expr::And(left, right) => both(left, right, false, scope, locals),
        Expr::Or(left, right) => both(left, right, true, scope, locals),
        Expr::Binary(operator, left, right) => binary(*operator, left, right, scope, locals),
        Expr::Choice(condition, then, otherwise) => {
            let chosen = if boolean(condition, scope, locals)? { then } else { otherwise };
            value(chosen, scope, locals)
        }
        Expr::Call(function, arguments) => {
            let arguments = arguments
                .iter()
                .map(|argument| value(argument, scope, locals))
                .collect::<Result<Vec<_>, _>>()?;
            functions::call(*function, &arguments, scope)
        }
        Expr::Matches(of, pattern) => match &*value(of, scope, locals)? {
            Value::String(text) => {
                scope.budget.spend(text.len() / BYTES_PER_STEP)?;
                Ok(truth(pattern.is_match(text)))
            }
            other => undefined(format!("matches(…) needs text, and this is {}", show(other))),
        },
        Expr::Macro(call) => loop_over(call, scope, locals),
    }
}

pub(super) fn truth<'a>(truth: bool) -> Cow<'a, Value> {
    Cow::Owned(Value::Bool(truth))
}

fn boolean<'a>(expression: &'a Expr, scope: &Scope<'a>, locals: &mut Locals<'a>) -> Result<bool, Fault> {
    match &*value(expression, scope, locals)? {
        Value::Bool(truth) => Ok(*truth),
        other => undefined(format!("{} is neither true nor false", show(other))),
    }
}

/// `&&` and `||`: a side that decides is enough, whatever became of the other one.
fn both<'a>(
    left: &'a Expr,
    right: &'a Expr,
    decisive: bool,
    scope: &Scope<'a>,
    locals: &mut Locals<'a>,
) -> Found<'a> {
    let first = boolean(left, scope, locals);
    if matches!(first, Ok(found) if found == decisive) {
        return Ok(truth(decisive));
    }
    let second = boolean(right, scope, locals)?;
    if second == decisive { Ok(truth(decisive)) } else { first.map(truth) }
}

fn binary<'a>(
    operator: Operator,
    left: &'a Expr,
    right: &'a Expr,
    scope: &Scope<'a>,
    locals: &mut Locals<'a>,
) -> Found<'a> {
    let left = value(left, scope, locals)?;
    let right = value(right, scope, locals)?;
    operators::apply(operator, &left, &right, scope)
}

fn map<'a>(members: &'a [(Expr, Expr)], scope: &Scope<'a>, locals: &mut Locals<'a>) -> Found<'a> {
    let mut map = Map::new();
    for (key, member) in members {
        let key = match value(key, scope, locals)?.into_owned() {
            Value::String(key) => key,
            other => return undefined(format!("a key must be text, and this is {}", show(&other))),
        };
        map.insert(key, value(member, scope, locals)?.into_owned());
    }
    Ok(Cow::Owned(Value::Object(map)))
}

/// What the server may leave out of a result has the meaning that the protocol gives it.
fn field<'a>(of: &Cow<'a, Value>, name: &str, scope: &Scope<'a>) -> Result<Option<Cow<'a, Value>>, Fault> {
    let found = part(of, |of| of.get(name), scope)?;
    let is_response = scope.response.is_some_and(|response| std::ptr::eq(response, &raw const **of));
    Ok(found.or_else(|| (is_response && name == "isError" && of.is_object()).then(|| truth(false))))
}

fn item<'a>(of: &'a Expr, index: &'a Expr, scope: &Scope<'a>, locals: &mut Locals<'a>) -> Found<'a> {
    let of = value(of, scope, locals)?;
    let index = value(index, scope, locals)?;
    let found = match (&*of, &*index) {
        (Value::Object(_), Value::String(name)) => part(&of, |of| of.get(name), scope)?,
        (Value::Array(_), Value::Number(number)) => {
            let at = number.as_u64().and_then(|at| usize::try_from(at).ok());
            part(&of, |of| at.and_then(|at| of.get(at)), scope)?
        }
        _ => None,
    };
    found.map_or_else(|| undefined(format!("there is no [{}] in {}", show(&index), show(&of))), Ok)
}

/// A part of a borrowed value is borrowed too; of a computed one it is copied.
fn part<'a>(
    of: &Cow<'a, Value>,
    find: impl for<'b> Fn(&'b Value) -> Option<&'b Value>,
    scope: &Scope<'a>,
) -> Result<Option<Cow<'a, Value>>, Fault> {
    match of {
        Cow::Borrowed(of) => Ok(find(of).map(Cow::Borrowed)),
        Cow::Owned(of) => find(of).map(|found| copied(&Cow::Owned(found.clone()), scope)).transpose(),
    }
}

fn copied<'a>(found: &Cow<'a, Value>, scope: &Scope<'a>) -> Found<'a> {
    // Copies are paid for by their size, or a macro in a macro could make a great many of a great thing.
    if let Cow::Owned(owned) = found {
        scope.budget.spend_for(owned)?;
    }
    Ok(found.clone())
}

fn loop_over<'a>(call: &'a Macro, scope: &Scope<'a>, locals: &mut Locals<'a>) -> Found<'a> {
    let items: Vec<Cow<'a, Value>> = match value(&call.over, scope, locals)? {
        Cow::Borrowed(Value::Array(items)) => items.iter().map(Cow::Borrowed).collect(),
        Cow::Owned(Value::Array(items)) => items.into_iter().map(Cow::Owned).collect(),
        over => match &*over {
            Value::Object(members) => {
                members.keys().map(|name| Cow::Owned(Value::from(name.as_str()))).collect()
            }
            other => return undefined(format!("{} is no list", show(other))),
        },
    };
    scope.budget.spend(items.len())?;
    let mut kept = Vec::new();
    let mut count = 0;
    let mut fault = None;
    for item in items {
        locals.push((&call.variable, item));
        let passes = call.condition.as_ref().map_or(Ok(true), |condition| boolean(condition, scope, locals));
        let outcome = match (call.kind, passes) {
            (MacroKind::All, Ok(false)) => Some(Ok(truth(false))),
            (MacroKind::Exists, Ok(true)) => Some(Ok(truth(true))),
            // One item decides `all` and `exists`, whatever became of the others.
            (MacroKind::All | MacroKind::Exists, Err(Fault::Undefined(why))) => {
                fault = fault.or(Some(why));
                None
            }
            (_, Err(fault)) => Some(Err(fault)),
            (MacroKind::ExistsOne, Ok(true)) => {
                count += 1;
                None
            }
            (MacroKind::Filter | MacroKind::Map, Ok(true)) => match keep(call, scope, locals) {
                Ok(item) => {
                    kept.push(item);
                    None
                }
                Err(fault) => Some(Err(fault)),
            },
            (_, Ok(_)) => None,
        };
        locals.pop();
        if let Some(outcome) = outcome {
            return outcome;
        }
    }
    match (call.kind, fault) {
        (_, Some(why)) => undefined(why),
        (MacroKind::All, None) => Ok(truth(true)),
        (MacroKind::Exists, None) => Ok(truth(false)),
        (MacroKind::ExistsOne, None) => Ok(truth(count == 1)),
        (MacroKind::Filter | MacroKind::Map, None) => Ok(Cow::Owned(Value::Array(kept))),
    }
}

fn keep<'a>(call: &'a Macro, scope: &Scope<'a>, locals: &mut Locals<'a>) -> Result<Value, Fault> {
    let kept = match (&call.result, locals.last()) {
        (Some(result), _) => value(result, scope, locals)?,
        (None, Some((_, item))) => item.clone(),
        (None, None) => Cow::Owned(Value::Null),
    };
    scope.budget.spend_for(&kept)?;
    Ok(kept.into_owned())
}
