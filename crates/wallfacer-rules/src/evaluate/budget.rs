//! How much work the judgement of one call may be.

use serde_json::Value;
use std::cell::Cell;

/// Values looked at for one verdict. A response of 1 MiB has some 100,000 values; ten passes over it are plenty,
/// and nested loops over a response made large on purpose end here, well within a second.
const MAX_STEPS: usize = 2_000_000;

/// Text read in about the time of one step.
pub(crate) const BYTES_PER_STEP: usize = 32;

/// Why nothing can be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unknown(pub(crate) String);

#[derive(Debug)]
pub(crate) struct Budget {
    left: Cell<usize>,
}

impl Default for Budget {
    fn default() -> Self {
        Self { left: Cell::new(MAX_STEPS) }
    }
}

impl Budget {
    pub(crate) fn spend(&self, steps: usize) -> Result<(), Unknown> {
        match self.left.get().checked_sub(steps) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => {
                self.left.set(0);
                Err(Unknown(format!(
                    "the rule was cut off after {MAX_STEPS} steps: the response is too large for it"
                )))
            }
        }
    }

    /// Pays for looking at the whole of a value.
    pub(crate) fn spend_for(&self, value: &Value) -> Result<(), Unknown> {
        match value {
            Value::String(text) => self.spend(1 + text.len() / BYTES_PER_STEP),
            Value::Array(items) => {
                self.spend(1)?;
                items.iter().try_for_each(|item| self.spend_for(item))
            }
            Value::Object(members) => {
                self.spend(1)?;
                members.values().try_for_each(|member| self.spend_for(member))
            }
            _ => self.spend(1),
        }
    }
}
