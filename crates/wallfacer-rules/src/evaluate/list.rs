//! Tells whether the items of a list are all different, or in order.

use super::assertion::Outcome;
use super::context::Scope;
use super::equal::compare;
use super::show::show;
use crate::path::Path;
use serde_json::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt::Write;

/// As deep as values are compared elsewhere.
const MAX_DEPTH: usize = 256;

pub(super) fn unique(path: &Path, by: Option<&Path>, scope: &Scope<'_>) -> Result<Outcome, Outcome> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for (index, key) in keys(path, by, scope)?.into_iter().enumerate() {
        let mut text = String::new();
        spell(key, scope, &mut text, 0)?;
        if let Some(earlier) = seen.insert(text, index) {
            return Ok(Outcome::Broken(format!(
                "items {earlier} and {index} of `{path}` are both {}",
                show(key)
            )));
        }
    }
    Ok(Outcome::Holds)
}

pub(super) fn sorted(
    path: &Path,
    by: Option<&Path>,
    descending: bool,
    scope: &Scope<'_>,
) -> Result<Outcome, Outcome> {
    let keys = keys(path, by, scope)?;
    let (wrong, words) =
        if descending { (Ordering::Less, "descending") } else { (Ordering::Greater, "ascending") };
    for (index, pair) in keys.windows(2).enumerate() {
        let (before, after) = (pair[0], pair[1]);
        let Some(order) = compare(before, after) else {
            let message = format!(
                "items {index} and {} of `{path}` are {} and {}, which have no order",
                index + 1,
                show(before),
                show(after)
            );
            return Ok(Outcome::Missing(message));
        };
        if order == wrong {
            return Ok(Outcome::Broken(format!(
                "items {index} and {} of `{path}` are {} and {}, expected {words} order",
                index + 1,
                show(before),
                show(after)
            )));
        }
    }
    Ok(Outcome::Holds)
}

/// What is compared: the items of the list, or what `by` finds in each of them.
fn keys<'a>(path: &Path, by: Option<&Path>, scope: &Scope<'a>) -> Result<Vec<&'a Value>, Outcome> {
    let items = items(path, scope)?;
    let Some(by) = by else { return Ok(items) };
    // The number of an item has no bearing on its key.
    static NO_INDEX: Value = Value::Null;
    items
        .into_iter()
        .enumerate()
        .map(|(number, item)| {
            let found = by.first(&scope.with_item(item, &NO_INDEX))?;
            found
                .ok_or_else(|| Outcome::Missing(format!("`{by}` finds nothing in item {number} of `{path}`")))
        })
        .collect()
}

fn items<'a>(path: &Path, scope: &Scope<'a>) -> Result<Vec<&'a Value>, Outcome> {
    let found = path.select(scope)?;
    match found.as_slice() {
        [] if path.is_singular() => Err(Outcome::Missing(format!("`{path}` finds nothing"))),
        [Value::Array(items)] if path.is_singular() => Ok(items.iter().collect()),
        [other] if path.is_singular() => {
            Err(Outcome::Missing(format!("`{path}` is {}, expected a list", show(other))))
        }
        _ => Ok(found),
    }
}

/// One spelling for equal values: members by name, and `1.0` as `1`.
fn spell(value: &Value, scope: &Scope<'_>, page: &mut String, depth: usize) -> Result<(), Outcome> {
    scope.budget.spend(1)?;
    match value {
        _ if depth > MAX_DEPTH => {
            return Err(Outcome::Unknown("a value is nested too deep to be compared".into()));
        }
        Value::Number(number) => match number.as_f64() {
            Some(float)
                if !number.is_i64() && !number.is_u64() && float.fract() == 0.0 && float.abs() < 9e15 =>
            {
                let _ = write!(page, "{float:.0}");
            }
            _ => page.push_str(&number.to_string()),
        },
        Value::Array(items) => {
            page.push('[');
            for item in items {
                spell(item, scope, page, depth + 1)?;
                page.push(',');
            }
            page.push(']');
        }
        Value::Object(members) => {
            let ordered: BTreeMap<_, _> = members.iter().collect();
            page.push('{');
            for (name, value) in ordered {
                page.push_str(&Value::from(name.as_str()).to_string());
                page.push(':');
                spell(value, scope, page, depth + 1)?;
                page.push(',');
            }
            page.push('}');
        }
        simple => page.push_str(&simple.to_string()),
    }
    Ok(())
}
