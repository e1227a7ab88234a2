//! What was seen of a server in one run: by itself, and by tool.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::gather::Effects;
use super::place::Places;

#[derive(Debug, Clone, Default)]
pub struct Behaviour {
    pub places: Places,
    /// Before anything was asked.
    pub startup: Effects,
    /// Between calls, or late for an earlier one.
    pub background: Effects,
    /// The command lines of what still ran when the server had ended.
    pub left_running: BTreeSet<String>,
    /// By the name of the tool, prompt or resource.
    pub done: BTreeMap<String, Done>,
}

/// What the calls of one tool did, all together.
#[derive(Debug, Clone, Default)]
pub struct Done {
    pub calls: u64,
    /// Of these, the ones that succeeded: what the others would do is not known.
    pub completed: u64,
    pub effects: Effects,
}

impl Behaviour {
    /// As documents have it.
    pub fn shown(&self) -> Value {
        let done = self.done.iter().map(|(name, done)| {
            let counts = json!({ "calls": done.calls, "completed": done.completed });
            (name.clone(), json!({ "counts": counts, "effects": done.effects.shown() }))
        });
        json!({
            "startup": self.startup.shown(),
            "background": self.background.shown(),
            "left_running": self.left_running,
            "by_name": done.collect::<serde_json::Map<_, _>>(),
        })
    }

    /// Deeds that were left out as noise.
    pub fn filtered(&self) -> u64 {
        let effects = self.done.values().map(|done| &done.effects);
        effects.chain([&self.startup, &self.background]).map(|effects| effects.filtered).sum()
    }
}
