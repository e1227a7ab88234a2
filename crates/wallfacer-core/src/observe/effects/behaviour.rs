//! What was seen of a server in one run: by itself, and by tool.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::gather::Effects;
use super::place::Places;
use crate::plan::Subject;

#[derive(Debug, Clone, Default)]
pub struct Behaviour {
    pub places: Places,
    /// Before anything was asked.
    pub startup: Effects,
    /// Between calls, or late for an earlier one.
    pub background: Effects,
    /// The command lines of what still ran when the server had ended.
    pub left_running: BTreeSet<String>,
    /// By tool, prompt or resource, of which two may have one name.
    pub done: BTreeMap<Subject, Done>,
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
        let done = self.by_name().into_iter().map(|(name, _, done)| {
            let counts = json!({ "calls": done.calls, "completed": done.completed });
            (name, json!({ "counts": counts, "effects": done.effects.shown() }))
        });
        json!({
            "startup": self.startup.shown(),
            "background": self.background.shown(),
            "left_running": self.left_running,
            "by_name": done.collect::<serde_json::Map<_, _>>(),
        })
    }

    /// All by name, in its order. What has the name of a tool and is none says what it is.
    pub fn by_name(&self) -> Vec<(String, &Subject, &Done)> {
        let mut named: Vec<_> =
            self.done.iter().map(|(subject, done)| (self.name(subject), subject, done)).collect();
        named.sort_by(|(one, ..), (other, ..)| one.cmp(other));
        named
    }

    fn name(&self, subject: &Subject) -> String {
        let name = subject.name().unwrap_or("the server");
        let is_taken = subject.tool().is_none() && self.done.contains_key(&Subject::Tool(name.to_owned()));
        if is_taken { format!("{name} ({})", subject.word()) } else { name.to_owned() }
    }

    /// Deeds that were left out as noise.
    pub fn filtered(&self) -> u64 {
        let effects = self.done.values().map(|done| &done.effects);
        effects.chain([&self.startup, &self.background]).map(|effects| effects.filtered).sum()
    }
}
