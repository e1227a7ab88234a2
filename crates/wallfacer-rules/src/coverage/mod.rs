//! Tells which tools of a server each pack reaches, and what is in the way elsewhere.

mod render;
#[cfg(test)]
mod tests;

pub use render::{human, json};

use crate::path::Root;
use crate::rule::{Input, Rule};
use crate::rules::Rules;
use crate::sequence::Sequence;
use crate::tool::ToolShape;
use std::collections::{BTreeMap, BTreeSet};

/// Tools looked at. A server that lists more was made to exhaust.
const MAX_TOOLS: usize = 2_000;

/// Which tool is reached by which pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coverage {
    pub tools: Vec<String>,
    pub packs: Vec<PackCoverage>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackCoverage {
    pub pack: String,
    /// One per tool, in the same order.
    pub cells: Vec<Cell>,
    /// Tools that rules of the pack are about, and that the server does not have.
    pub missing: BTreeSet<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// So many rules and sequences are tried on the tool.
    Covered(usize),
    /// There are rules about the tool, and something is in their way.
    Blocked(String),
    /// No rule is about the tool.
    Empty(String),
}

/// What a run can do.
#[derive(Clone, Copy)]
pub struct Means<'a> {
    /// Why a tool is not to be called, if it is not.
    pub held_back: &'a dyn Fn(&str) -> Option<String>,
    /// Whether the effects of calls are seen and things can be planted.
    pub observes: bool,
}

pub fn coverage(tools: &[ToolShape], packs: &[(&str, &Rules)], means: Means<'_>) -> Coverage {
    let tools = &tools[..tools.len().min(MAX_TOOLS)];
    Coverage {
        tools: tools.iter().map(|tool| tool.name().to_owned()).collect(),
        packs: packs.iter().map(|(name, rules)| of_pack(name, rules, tools, means)).collect(),
    }
}

impl Coverage {
    /// Tools that no pack reaches.
    pub fn uncovered(&self) -> Vec<&str> {
        let is_covered = |index: usize| {
            self.packs.iter().any(|pack| matches!(pack.cells.get(index), Some(Cell::Covered(_))))
        };
        let open = self.tools.iter().enumerate().filter(|(index, _)| !is_covered(*index));
        open.map(|(_, tool)| tool.as_str()).collect()
    }
}

/// The rules about one tool, by what they need.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    free: usize,
    calling: usize,
    observing: usize,
}

fn of_pack(name: &str, rules: &Rules, tools: &[ToolShape], means: Means<'_>) -> PackCoverage {
    let names: BTreeSet<&str> = tools.iter().map(ToolShape::name).collect();
    let mut counts: BTreeMap<&str, Count> = BTreeMap::new();
    let mut missing = BTreeSet::new();
    let expansion = rules.expand(tools);
    for rule in rules.rules.iter().filter(|rule| !rule.unlisted).chain(&expansion.rules) {
        match names.get(rule.tool.as_str()) {
            Some(tool) => add(counts.entry(tool).or_default(), needs(rule)),
            None => drop(missing.insert(rule.tool.clone())),
        }
    }
    for sequence in &rules.sequences {
        let gone: Vec<_> = sequence.tools().into_iter().filter(|tool| !names.contains(tool)).collect();
        missing.extend(gone.iter().map(|tool| (*tool).to_owned()));
        if gone.is_empty() {
            for tool in sequence.tools().into_iter().filter_map(|tool| names.get(tool)) {
                add(counts.entry(tool).or_default(), sequence_needs(sequence, means));
            }
        }
    }
    let cell = |tool: &ToolShape| match counts.get(tool.name()) {
        Some(count) => reached(tool.name(), *count, means),
        None => Cell::Empty(why_empty(&missing)),
    };
    PackCoverage { pack: name.to_owned(), cells: tools.iter().map(cell).collect(), missing }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    Nothing,
    Call,
    Observation,
    /// Another tool of the same sequence is held back.
    Another,
}

fn add(count: &mut Count, need: Need) {
    match need {
        Need::Nothing => count.free += 1,
        Need::Call => count.calling += 1,
        Need::Observation => count.observing += 1,
        Need::Another => {}
    }
}

fn needs(rule: &Rule) -> Need {
    let is_seen = |root: &Root| matches!(root, Root::Effects | Root::Canary);
    let sent = match &rule.input {
        Input::Fixed(draft) | Input::SchemaValid { over: draft, .. } => draft.roots(),
        Input::Generated(_) => Vec::new(),
    };
    if rule.is_static() {
        Need::Nothing
    } else if sent.iter().any(is_seen) || rule.reads().iter().any(is_seen) {
        Need::Observation
    } else {
        Need::Call
    }
}

fn sequence_needs(sequence: &Sequence, means: Means<'_>) -> Need {
    let is_held_back = sequence.tools().iter().any(|tool| (means.held_back)(tool).is_some());
    if is_held_back { Need::Another } else { Need::Call }
}

fn reached(tool: &str, count: Count, means: Means<'_>) -> Cell {
    let held_back = (means.held_back)(tool);
    let mut reached = count.free;
    if held_back.is_none() {
        reached += count.calling;
        reached += if means.observes { count.observing } else { 0 };
    }
    match (reached, held_back) {
        (0, Some(why)) => Cell::Blocked(why),
        (0, None) if count.observing > 0 => {
            Cell::Blocked("its effects are not observed here; run in the sandbox".to_owned())
        }
        (0, None) => Cell::Blocked("another tool of the same sequence is held back".to_owned()),
        (reached, _) => Cell::Covered(reached),
    }
}

fn why_empty(missing: &BTreeSet<String>) -> String {
    let names: Vec<String> = missing.iter().map(|tool| format!("`{tool}`")).collect();
    match names.is_empty() {
        true => "no rule fits it".to_owned(),
        false => format!(
            "rules are about {}, which the server does not have; set the pack's parameters",
            names.join(", ")
        ),
    }
}

impl std::fmt::Debug for Means<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Means").field("observes", &self.observes).finish_non_exhaustive()
    }
}
