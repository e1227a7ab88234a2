//! Values that are known to be good, handed in by the caller: what a server answered, what a user configured.
//! A value is drawn only where the schema allows it.

use crate::format::Format;
use serde_json::Value;
use std::collections::BTreeMap;

/// Values kept for one name, path or format; older ones stay, for they were found first.
const MAX_VALUES: usize = 64;

#[derive(Clone, Debug, Default)]
pub struct Pool {
    by_path: BTreeMap<String, Vec<Value>>,
    by_name: BTreeMap<String, Vec<Value>>,
    by_format: BTreeMap<String, Vec<Value>>,
}

impl Pool {
    pub fn new() -> Pool {
        Pool::default()
    }

    /// For the place with this JSON pointer; array indices are written `*`, as in `/filters/*/limit`.
    pub fn add_for_path(&mut self, pointer: &str, value: Value) {
        keep(self.by_path.entry(pointer.to_owned()).or_default(), value);
    }

    /// For every field of this name, wherever it is.
    pub fn add_for_name(&mut self, name: &str, value: Value) {
        keep(self.by_name.entry(name.to_owned()).or_default(), value);
    }

    /// For every string of this format.
    pub fn add_for_format(&mut self, format: &str, value: Value) {
        keep(self.by_format.entry(format.to_owned()).or_default(), value);
    }

    pub fn is_empty(&self) -> bool {
        self.by_path.is_empty() && self.by_name.is_empty() && self.by_format.is_empty()
    }

    /// All that may fit a place, the most specific first.
    pub(crate) fn candidates(&self, path: &str, name: &str, format: Option<Format>) -> Vec<&Value> {
        let formatted = format.and_then(|format| self.by_format.get(format.name()));
        let lists = [self.by_path.get(path), self.by_name.get(name).filter(|_| !name.is_empty()), formatted];
        lists.into_iter().flatten().flatten().collect()
    }
}

fn keep(values: &mut Vec<Value>, value: Value) {
    if values.len() < MAX_VALUES && !values.contains(&value) {
        values.push(value);
    }
}
