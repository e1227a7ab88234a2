//! Which members of one array or object have been looked at; `unevaluatedItems` and `unevaluatedProperties`
//! concern the others. Members of objects count by position.

use serde_json::Value;

#[derive(Debug)]
pub(super) struct Marks(Vec<bool>);

impl Marks {
    pub(super) fn of(value: &Value) -> Marks {
        Marks(match value {
            Value::Array(items) => vec![false; items.len()],
            Value::Object(members) => vec![false; members.len()],
            _ => Vec::new(),
        })
    }

    pub(super) fn mark(&mut self, index: usize) {
        self.0[index] = true;
    }

    pub(super) fn has(&self, index: usize) -> bool {
        self.0[index]
    }

    pub(super) fn add(&mut self, other: &Marks) {
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            *own |= other;
        }
    }
}
