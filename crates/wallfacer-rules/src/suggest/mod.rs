//! Suggests the packs that fit the tools of a server, each with its parameters and the reason. A suggestion that is not
//! needed costs a look at it; one that is missing costs a class of bugs. So: in doubt, suggest.

mod heuristics;
mod pairs;
mod render;
#[cfg(test)]
mod tests;
mod words;

pub use render::{human, json, toml};

use crate::packs::Shelf;
use crate::tool::ToolShape;
use std::collections::{BTreeMap, BTreeSet};

/// Tools looked at. A server that lists more was made to exhaust.
const MAX_TOOLS: usize = 2_000;

/// A pack that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    pub pack: String,
    /// The tool by which it was found to fit; `None` if it fits every server.
    pub tool: Option<String>,
    /// Only such as the pack declares.
    pub parameters: BTreeMap<String, String>,
    pub reason: String,
}

/// Those that fit, the ones about every server first. A pack may be suggested for several tools, for each once.
pub fn suggest(tools: &[ToolShape]) -> Vec<Suggestion> {
    let tools = &tools[..tools.len().min(MAX_TOOLS)];
    let shelf = Shelf::default();
    let mut declared = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut found = heuristics::all(tools);
    found.retain_mut(|suggestion| {
        let known: &BTreeSet<String> = declared.entry(suggestion.pack.clone()).or_insert_with(|| {
            shelf.parameters(&suggestion.pack).into_iter().map(|parameter| parameter.name).collect()
        });
        suggestion.parameters.retain(|name, _| known.contains(name));
        seen.insert((suggestion.pack.clone(), suggestion.tool.clone()))
    });
    found
}
