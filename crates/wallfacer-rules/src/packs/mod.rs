//! Finds a pack by its name: its text, its parameters, its rules. Built-in packs are part of the program; those of a
//! workspace are read by the caller and handed in.

mod builtin;
#[cfg(test)]
mod mutation;
#[cfg(test)]
mod tests;

use crate::file::RuleFile;
use crate::metadata::Parameter;
use crate::problem::Problems;
use crate::rules::Rules;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

/// Packs that extend each other further than this are refused when they are loaded; asking stops there, too.
const MAX_EXTENDED: usize = 64;

/// A built-in pack.
#[derive(Debug, Clone, PartialEq)]
pub struct Pack {
    pub name: &'static str,
    /// What it is for, in one sentence.
    pub about: String,
    /// Its own parameters, then those of the packs it extends.
    pub parameters: Vec<Parameter>,
    pub text: &'static str,
}

/// The built-in packs, by name.
pub fn packs() -> &'static [Pack] {
    static PACKS: LazyLock<Vec<Pack>> = LazyLock::new(|| {
        let shelf = Shelf::default();
        let described = |(name, text): &(&'static str, &'static str)| {
            // Tests read each of them, so that none is missing here.
            let file = RuleFile::parse(name, text).ok()?;
            let about = file.metadata.description.clone().unwrap_or_default();
            Some(Pack { name, about, parameters: shelf.parameters(name), text })
        };
        builtin::TEXTS.iter().filter_map(described).collect()
    });
    &PACKS
}

/// Where packs are looked for: those of the workspace first, then the built-in ones.
#[derive(Debug, Clone, Default)]
pub struct Shelf {
    workspace: BTreeMap<String, String>,
}

impl Shelf {
    /// With the packs of a workspace: their names, which are those of their files without the ending, and their texts.
    pub fn new(workspace: BTreeMap<String, String>) -> Self {
        Self { workspace }
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        let own = self.workspace.get(name).map(String::as_str);
        own.or_else(|| builtin::TEXTS.iter().find(|(other, _)| *other == name).map(|(_, text)| *text))
    }

    /// Every pack there is, by name.
    pub fn names(&self) -> BTreeSet<&str> {
        let own = self.workspace.keys().map(String::as_str);
        own.chain(builtin::TEXTS.iter().map(|(name, _)| *name)).collect()
    }

    pub fn is_of_workspace(&self, name: &str) -> bool {
        self.workspace.contains_key(name)
    }

    /// The rules of a pack with those it extends, or `None` if there is no such pack.
    pub fn rules(&self, name: &str, given: &BTreeMap<String, Value>) -> Option<Result<Rules, Problems>> {
        let text = self.text(name)?;
        // A pack of the workspace may extend the built-in one whose name it bears.
        let loader = |wanted: &str| match wanted == name {
            true => {
                builtin::TEXTS.iter().find(|(other, _)| *other == name).map(|(_, text)| (*text).to_owned())
            }
            false => self.text(wanted).map(str::to_owned),
        };
        Some(Rules::read(name, text, given, &loader))
    }

    /// Every parameter that a pack takes: its own, then those of the packs it extends, each once.
    pub fn parameters(&self, name: &str) -> Vec<Parameter> {
        let mut found: Vec<Parameter> = Vec::new();
        for (_, file) in self.chain(name) {
            for parameter in file.metadata.parameters {
                if !found.iter().any(|other| other.name == parameter.name) {
                    found.push(parameter);
                }
            }
        }
        found
    }

    /// The values for a pack: what is set for the packs it extends, over that what is set for itself, over that `typed`.
    pub fn given(
        &self,
        name: &str,
        set: &BTreeMap<String, BTreeMap<String, String>>,
        typed: &BTreeMap<String, String>,
    ) -> BTreeMap<String, Value> {
        let mut given = BTreeMap::new();
        // From the furthest to the nearest, so that the nearest wins.
        for (extended, file) in self.chain(name).iter().rev() {
            let values = set.get(extended).into_iter().flatten();
            let is_own = extended == name;
            given.extend(values.filter(|(key, _)| is_own || file.declares(key)));
        }
        given.extend(typed);
        given.into_iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))).collect()
    }

    /// The pack and those it extends, nearest first; what cannot be read is left out.
    fn chain(&self, name: &str) -> Vec<(String, RuleFile)> {
        let mut chain = Vec::new();
        let mut waiting = vec![name.to_owned()];
        let mut seen = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            if seen.len() >= MAX_EXTENDED || !seen.insert(name.clone()) {
                continue;
            }
            if let Some(file) = self.text(&name).and_then(|text| RuleFile::parse(&name, text).ok()) {
                waiting.extend(file.metadata.extends.iter().rev().map(|extended| extended.pack.clone()));
                chain.push((name, file));
            }
        }
        chain
    }
}
