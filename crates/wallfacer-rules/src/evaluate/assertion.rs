//! Judges claims one after the other. Three values decide as in any three-valued logic, and a fourth is kept apart:
//! what a claim speaks of may be missing, and that never becomes a pass.

use super::budget::{BYTES_PER_STEP, Budget, Unknown};
use super::context::{Context, Scope};
use super::equal::{compare, equal, equal_except};
use super::list;
use super::number::is_integer;
use super::show::show;
use super::verdict::Verdict;
use crate::assertion::{Assertion, Claim, Operand, Relation, Type};
use crate::draft::NOT_PLANTED;
use crate::path::{Path, Root};
use crate::schema::Schema;
use regex::{NoExpand, Regex};
use serde_json::Value;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::time::Duration;

/// Larger texts are not parsed as JSON inside of a rule; a reply may hold one of this size.
const MAX_PARSED_BYTES: usize = 8 << 20;
/// Reasons listed when no alternative of `any_of` holds.
const SHOWN_REASONS: usize = 3;
/// The validator quotes the value it refuses, which may be long.
const SHOWN_REASON_CHARS: usize = 200;

/// What a claim came to.
#[derive(Debug)]
pub(crate) enum Outcome {
    Holds,
    Broken(String),
    /// What it speaks of is not there, or of a kind it cannot speak of: broken, also inside `not`.
    Missing(String),
    Unknown(String),
}

impl From<Unknown> for Outcome {
    fn from(Unknown(why): Unknown) -> Self {
        Outcome::Unknown(why)
    }
}

pub(crate) fn judge_all(claims: &[Assertion], context: &Context<'_>) -> Verdict {
    let budget = Budget::default();
    match all(claims, &Scope::new(context, &budget)) {
        Outcome::Holds => Verdict::Holds,
        Outcome::Broken(why) | Outcome::Missing(why) => Verdict::Broken(why),
        Outcome::Unknown(why) => Verdict::Unknown(why),
    }
}

fn all(claims: &[Assertion], scope: &Scope<'_>) -> Outcome {
    worst(claims.iter().map(|claim| judge(claim, scope)))
}

/// Broken outweighs missing, missing outweighs unknown; a broken one ends the search.
fn worst(outcomes: impl Iterator<Item = Outcome>) -> Outcome {
    let mut result = Outcome::Holds;
    for outcome in outcomes {
        match (&result, outcome) {
            (_, broken @ Outcome::Broken(_)) => return broken,
            (Outcome::Holds | Outcome::Unknown(_), missing @ Outcome::Missing(_)) => result = missing,
            (Outcome::Holds, unknown @ Outcome::Unknown(_)) => result = unknown,
            _ => {}
        }
    }
    result
}

fn judge(claim: &Assertion, scope: &Scope<'_>) -> Outcome {
    let result = scope.budget.spend(1).map_err(Outcome::from).and_then(|()| decide(&claim.0, scope));
    result.unwrap_or_else(|outcome| outcome)
}

fn decide(claim: &Claim, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
    Ok(match claim {
        Claim::Equals { left, right } => equals(left, right, scope, true)?,
        Claim::NotEquals { left, right } => equals(left, right, scope, false)?,
        Claim::Compare { path, relation, bound } => compared(path, *relation, bound, scope)?,
        Claim::Length { path, relation, bound } => length(path, *relation, bound, scope)?,
        Claim::IsType { path, wanted } => is_type(path, *wanted, scope)?,
        Claim::MatchesRegex { path, pattern, except } => {
            let found = first(path, scope)?;
            scope.budget.spend(found.as_str().map_or(0, str::len) / BYTES_PER_STEP)?;
            let matches = |text: &str| pattern.is_match(&without(text, except.as_deref()));
            holds_if(found.as_str().is_some_and(matches), || {
                format!("`{path}` is {}, expected text that matches /{pattern}/", show(found))
            })
        }
        Claim::MatchesSchema { path, schema } => matches_schema(path, schema, scope)?,
        Claim::AllOf(claims) => all(claims, scope),
        Claim::AnyOf(claims) => any(claims, scope),
        Claim::Not { claim, or_missing } => not(claim, *or_missing, scope),
        Claim::ForEach { path, claims } => for_each(path, claims, scope)?,
        Claim::Exists { path } => {
            holds_if(!path.select(scope)?.is_empty(), || format!("`{path}` finds nothing"))
        }
        Claim::Absent { path } => match path.select(scope)?.first() {
            None => Outcome::Holds,
            Some(found) => Outcome::Broken(format!("`{path}` is {}, expected nothing there", show(found))),
        },
        Claim::Contains { path, value } => contains(path, value, scope)?,
        Claim::OneOf { path, values } => one_of(path, values, scope)?,
        Claim::Unique { path, by } => list::unique(path, by.as_deref(), scope)?,
        Claim::Sorted { path, by, descending } => list::sorted(path, by.as_deref(), *descending, scope)?,
        Claim::LatencyBelow(limit) => latency_below(*limit, scope),
        Claim::ParsesAsJson { path, claims } => parses_as_json(path, claims, scope)?,
        Claim::SameAs { path, other, ignore } => same_as(path, other, ignore, scope)?,
        Claim::Expr(expression) => expression.judge(scope),
    })
}

pub(super) fn holds_if(condition: bool, explain: impl FnOnce() -> String) -> Outcome {
    if condition { Outcome::Holds } else { Outcome::Broken(explain()) }
}

/// The value a claim speaks of; a path that finds nothing is never a pass.
fn first<'a>(path: &Path, scope: &Scope<'a>) -> Result<&'a Value, Outcome> {
    path.first(scope)?.ok_or_else(|| match path.root {
        Root::Canary => Outcome::Unknown(format!("`{path}` is not known here: {NOT_PLANTED}")),
        _ => Outcome::Missing(format!("`{path}` finds nothing")),
    })
}

fn value<'a>(operand: &'a Operand, scope: &Scope<'a>) -> Result<Cow<'a, Value>, Outcome> {
    use crate::draft::Sketch;
    match operand {
        Operand::Path(path) => first(path, scope).map(Cow::Borrowed),
        Operand::Value(Sketch::Ready(value)) => Ok(Cow::Borrowed(value)),
        Operand::Value(sketch) => sketch.resolve(scope, "$").map(Cow::Owned).map_err(|unresolved| {
            let why = unresolved.to_string();
            if unresolved.is_unknown { Outcome::Unknown(why) } else { Outcome::Missing(why) }
        }),
    }
}

/// `` `$.a` is 5 `` for a path, `5` for a value.
fn named(operand: &Operand, value: &Value) -> String {
    match operand {
        Operand::Path(path) => format!("`{path}` is {}", show(value)),
        Operand::Value(_) => show(value),
    }
}

fn equals(left: &Operand, right: &Operand, scope: &Scope<'_>, wanted: bool) -> Result<Outcome, Outcome> {
    let (found, expected) = (value(left, scope)?, value(right, scope)?);
    let same = equal(&found, &expected, scope.budget)?;
    Ok(holds_if(same == wanted, || {
        let expectation = if wanted { "expected" } else { "expected anything but" };
        match right {
            Operand::Path(path) => {
                format!("{}, {expectation} {}, the value of `{path}`", named(left, &found), show(&expected))
            }
            Operand::Value(_) => format!("{}, {expectation} {}", named(left, &found), show(&expected)),
        }
    }))
}

fn compared(path: &Path, relation: Relation, bound: &Operand, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
    let (found, bound) = (first(path, scope)?, value(bound, scope)?);
    if !found.is_number() || !bound.is_number() {
        let message =
            format!("`{path}` is {}, expected a number {} {}", show(found), relation.words(), show(&bound));
        return Ok(Outcome::Missing(message));
    }
    Ok(holds_if(compare(found, &bound).is_some_and(|order| fits(order, relation)), || {
        format!("`{path}` is {}, expected {} {}", show(found), relation.words(), show(&bound))
    }))
}

fn fits(order: Ordering, relation: Relation) -> bool {
    match relation {
        Relation::Equal => order.is_eq(),
        Relation::AtMost => order.is_le(),
        Relation::AtLeast => order.is_ge(),
        Relation::Less => order.is_lt(),
        Relation::Greater => order.is_gt(),
    }
}

fn length(path: &Path, relation: Relation, bound: &Operand, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
    let (found, bound) = (first(path, scope)?, value(bound, scope)?);
    let length = match found {
        Value::String(text) => text.chars().count(),
        Value::Array(items) => items.len(),
        other => {
            let message =
                format!("`{path}` is {}, expected text or a list, whose length is asked for", show(other));
            return Ok(Outcome::Missing(message));
        }
    };
    let Some(order) = compare(&Value::from(length), &bound) else {
        return Ok(Outcome::Missing(format!(
            "the length of `{path}` is compared with {}, which is no number",
            show(&bound)
        )));
    };
    Ok(holds_if(fits(order, relation), || {
        format!("`{path}` has length {length}, expected {} {}", relation.words(), show(&bound))
    }))
}

fn is_type(path: &Path, wanted: Type, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
    let found = first(path, scope)?;
    let is_wanted = match (wanted, found) {
        (Type::Integer, Value::Number(number)) => is_integer(number),
        (Type::String, Value::String(_))
        | (Type::Number, Value::Number(_))
        | (Type::Boolean, Value::Bool(_))
        | (Type::Array, Value::Array(_))
        | (Type::Object, Value::Object(_))
        | (Type::Null, Value::Null) => true,
        _ => false,
    };
    Ok(holds_if(is_wanted, || {
        format!("`{path}` is {}, expected a value of type {}", show(found), wanted.name())
    }))
}

/// A text but for what may stand in it.
fn without<'t>(text: &'t str, except: Option<&Regex>) -> Cow<'t, str> {
    except.map_or(Cow::Borrowed(text), |except| except.replace_all(text, NoExpand("")))
}

fn matches_schema(path: &Path, schema: &Schema, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
    let found = first(path, scope)?;
    scope.budget.spend_for(found)?;
    Ok(match schema.violation(found) {
        None => Outcome::Holds,
        Some((at, why)) => {
            let why: String = why.chars().take(SHOWN_REASON_CHARS).collect();
            Outcome::Broken(format!("`{path}` does not match the schema at `{at}`: {why}"))
        }
    })
}

fn any(claims: &[Assertion], scope: &Scope<'_>) -> Outcome {
    let mut reasons = Vec::new();
    let mut unknown = None;
    let mut is_missing = false;
    for claim in claims {
        match judge(claim, scope) {
            Outcome::Holds => return Outcome::Holds,
            Outcome::Broken(why) => reasons.push(why),
            Outcome::Missing(why) => {
                is_missing = true;
                reasons.push(why);
            }
            Outcome::Unknown(why) => unknown = Some(why),
        }
    }
    if let Some(why) = unknown {
        return Outcome::Unknown(why);
    }
    let more = reasons.len().saturating_sub(SHOWN_REASONS);
    reasons.truncate(SHOWN_REASONS);
    let rest = if more > 0 { format!("; or {more} more") } else { String::new() };
    let message = format!("none of these holds: {}{rest}", reasons.join("; or "));
    if is_missing { Outcome::Missing(message) } else { Outcome::Broken(message) }
}

fn not(inner: &Assertion, or_missing: bool, scope: &Scope<'_>) -> Outcome {
    match judge(inner, scope) {
        Outcome::Holds => Outcome::Broken(format!("{}, which must not be", affirm(&inner.0, scope))),
        Outcome::Broken(_) => Outcome::Holds,
        Outcome::Missing(_) if or_missing => Outcome::Holds,
        other => other,
    }
}

/// The claim that holds although it must not, in words.
fn affirm(claim: &Claim, scope: &Scope<'_>) -> String {
    let found = |path: &Path| path.first(scope).ok().flatten().map_or_else(|| "nothing".to_owned(), show);
    match claim {
        // The part that matches says more than the beginning of a long text.
        Claim::MatchesRegex { path, pattern, except } => {
            let text = path.first(scope).ok().flatten().and_then(Value::as_str).unwrap_or_default();
            let text = without(text, except.as_deref());
            let part = pattern.find(&text).map(|found| found.as_str()).unwrap_or_default();
            format!("`{path}` has {} in it, a match of /{pattern}/", show(&Value::from(part)))
        }
        Claim::Equals { left: Operand::Path(path), .. } => format!("`{path}` is {}", found(path)),
        Claim::Compare { path, relation, .. } => {
            format!("`{path}` is {}, {} the bound", found(path), relation.words())
        }
        Claim::Contains { path, value: part } => {
            let part = value(part, scope).map_or_else(|_| "the value".to_owned(), |part| show(&part));
            format!("`{path}` is {} and contains {part}", found(path))
        }
        Claim::Exists { path } | Claim::IsType { path, .. } | Claim::OneOf { path, .. } => {
            format!("`{path}` is {}", found(path))
        }
        Claim::Expr(expression) => format!("`{expression}` is true"),
        _ => "the claim inside `not` holds".into(),
    }
}

fn for_each(path: &Path, claims: &[Assertion], scope: &Scope<'_>) -> Result<Outcome, Outcome> {
    let found = path.select(scope)?;
    // One list means its items, as a path that ends in [*] does.
    let items: Vec<&Value> = match found.as_slice() {
        [Value::Array(items)] if path.is_singular() => items.iter().collect(),
        _ => found,
    };
    Ok(worst(items.into_iter().enumerate().map(|(number, item)| {
        let index = Value::from(number);
        match all(claims, &scope.with_item(item, &index)) {
            Outcome::Broken(why) => Outcome::Broken(format!("item {number} of `{path}`: {why}")),
            Outcome::Missing(why) => Outcome::Missing(format!("item {number} of `{path}`: {why}")),
            other => other,
        }
    })))
}

fn contains(path: &Path, operand: &Operand, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
    let wanted = value(operand, scope)?;
    let candidates = if path.is_singular() { vec![first(path, scope)?] } else { path.select(scope)? };
    if candidates.is_empty() {
        return Ok(Outcome::Missing(format!("`{path}` finds nothing")));
    }
    for candidate in &candidates {
        if holds_value(candidate, &wanted, scope)? {
            return Ok(Outcome::Holds);
        }
    }
    let found = match candidates.as_slice() {
        [only] => show(only),
        several => format!("any of {} values", several.len()),
    };
    Ok(Outcome::Broken(format!("{} is not in `{path}`, which is {found}", show(&wanted))))
}

/// Text holds a part of it, a list holds an item, an object holds a name.
fn holds_value(holder: &Value, wanted: &Value, scope: &Scope<'_>) -> Result<bool, Outcome> {
    match (holder, wanted) {
        (Value::String(text), Value::String(part)) => {
            scope.budget.spend(text.len() / BYTES_PER_STEP)?;
            Ok(text.contains(part.as_str()))
        }
        (Value::Object(members), Value::String(name)) => Ok(members.contains_key(name)),
        (Value::Array(items), wanted) => {
            for item in items {
                if equal(item, wanted, scope.budget)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Ok(false),
    }
}

fn one_of(path: &Path, values: &[Operand], scope: &Scope<'_>) -> Result<Outcome, Outcome> {
    let found = first(path, scope)?;
    let mut shown = Vec::new();
    for operand in values {
        let value = value(operand, scope)?;
        if equal(found, &value, scope.budget)? {
            return Ok(Outcome::Holds);
        }
        shown.push(value.into_owned());
    }
    Ok(Outcome::Broken(format!(
        "`{path}` is {}, expected one of {}",
        show(found),
        show(&Value::Array(shown))
    )))
}

fn latency_below(limit: Duration, scope: &Scope<'_>) -> Outcome {
    match scope.latency {
        Some(latency) => holds_if(latency < limit, || {
            format!("the call took {} ms, expected less than {} ms", latency.as_millis(), limit.as_millis())
        }),
        None => Outcome::Unknown("the time of the call was not measured".into()),
    }
}

fn parses_as_json(path: &Path, claims: &[Assertion], scope: &Scope<'_>) -> Result<Outcome, Outcome> {
    let found = first(path, scope)?;
    let Value::String(text) = found else {
        return Ok(Outcome::Broken(format!("`{path}` is {}, expected text that is JSON", show(found))));
    };
    if text.len() > MAX_PARSED_BYTES {
        return Ok(Outcome::Unknown(format!("`{path}` is {} bytes long, too long to be parsed", text.len())));
    }
    scope.budget.spend(text.len() / BYTES_PER_STEP)?;
    match serde_json::from_str::<Value>(text) {
        Err(error) => Ok(Outcome::Broken(format!("`{path}` is {}, expected JSON: {error}", show(found)))),
        Ok(parsed) => {
            let index = Value::from(0);
            Ok(all(claims, &scope.with_item(&parsed, &index)))
        }
    }
}

fn same_as(
    path: &Path,
    other: &Path,
    ignore: &[std::sync::Arc<Path>],
    scope: &Scope<'_>,
) -> Result<Outcome, Outcome> {
    let (found, expected) = (first(path, scope)?, first(other, scope)?);
    let index = Value::from(0);
    let mut ignored = Vec::new();
    for side in [found, expected] {
        for path in ignore {
            ignored.extend(path.select(&scope.with_item(side, &index))?);
        }
    }
    let same = equal_except(found, expected, &ignored, scope.budget)?;
    Ok(holds_if(same, || {
        format!("`{path}` is {}, and `{other}` is {}; expected the same", show(found), show(expected))
    }))
}
