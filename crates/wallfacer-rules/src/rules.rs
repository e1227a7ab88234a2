//! What rule files mean: rules, rules about every tool, and sequences, compiled and checked.

use crate::block::Block;
use crate::file::RuleFile;
use crate::library::{Compiled, Library};
use crate::load::load;
use crate::metadata::Metadata;
use crate::problem::{Problem, Problems};
use crate::rule::Rule;
use crate::sequence::Sequence;
use crate::tool::ToolShape;
use serde_json::Value;
use std::collections::BTreeMap;

/// Rules made from blocks for one server. A server that lists tools without end must not make rules without end.
const MAX_EXPANDED: usize = 20_000;

#[derive(Debug, Clone, Default)]
pub struct Rules {
    pub metadata: Metadata,
    /// Rules about one tool each.
    pub rules: Vec<Rule>,
    pub sequences: Vec<Sequence>,
    /// What is odd, but not wrong.
    pub warnings: Vec<Problem>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) library: Library,
}

/// The rules of the blocks for the tools at hand.
#[derive(Debug, Clone, Default)]
pub struct Expansion {
    pub rules: Vec<Rule>,
    /// Rules that could not be made for a tool.
    pub skipped: Vec<Skipped>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    pub rule: String,
    pub tool: String,
    pub why: String,
}

/// Finds the text of the file that `extends` names.
pub type Loader<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Rules {
    /// Reads a file and everything it extends. `name` is what messages call the file, `given` are parameters.
    pub fn read(
        name: &str,
        text: &str,
        given: &BTreeMap<String, Value>,
        loader: Loader<'_>,
    ) -> Result<Self, Problems> {
        let (file, problems) = RuleFile::outline(name, text)?;
        load(&file, problems, given, loader)
    }

    /// As [`Rules::read`], for a file that is parsed already.
    pub fn load(
        file: &RuleFile,
        given: &BTreeMap<String, Value>,
        loader: Loader<'_>,
    ) -> Result<Self, Problems> {
        load(file, Vec::new(), given, loader)
    }

    /// One rule per block, tool and field that fit each other.
    pub fn expand(&self, tools: &[ToolShape]) -> Expansion {
        // What does not name the tool is compiled already.
        let mut library = self.library.clone();
        let mut expansion = Expansion::default();
        for block in &self.blocks {
            for tool in tools {
                for field in block.targets(tool) {
                    let made = if expansion.rules.len() < MAX_EXPANDED {
                        block.rule(tool.name(), field, &mut library).map_err(|problems| why(&problems))
                    } else {
                        Err(format!("more than {MAX_EXPANDED} rules"))
                    };
                    match made {
                        Ok(rule) => expansion.rules.push(rule),
                        Err(why) if expansion.skipped.len() < MAX_EXPANDED => {
                            expansion.skipped.push(Skipped {
                                rule: block.name.clone(),
                                tool: tool.name().to_owned(),
                                why,
                            });
                        }
                        Err(_) => return expansion,
                    }
                }
            }
        }
        expansion
    }

    /// What stands in the arguments that its rules and sequences send, as far as it is written in the file, each with the
    /// nearest name above it.
    pub fn sent(&self) -> Vec<(String, String)> {
        let mut library = self.library.clone();
        let samples: Vec<Rule> =
            self.blocks.iter().filter_map(|block| block.sample(&mut library).ok()).collect();
        let mut sent = Vec::new();
        for rule in self.rules.iter().chain(&samples) {
            rule.input.written(&mut sent);
        }
        for sequence in &self.sequences {
            let steps = sequence.steps.iter().chain(&sequence.cleanup);
            steps.for_each(|step| step.with.written(&mut sent));
        }
        sent
    }

    /// How many rules are about every tool.
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// What was compiled while reading; evaluating compiles nothing.
    pub fn compiled(&self) -> Compiled {
        self.library.compiled()
    }
}

fn why(problems: &[Problem]) -> String {
    problems.first().map_or_else(|| "it could not be read".into(), |problem| problem.message.clone())
}
