//! Loads the [`Rules`] of a file with its parameters, and those of every file it extends.

use crate::block::Block;
use crate::file::{Filling, RuleFile};
use crate::problem::{MAX_PROBLEMS, Problem, Problems};
use crate::read::{self, Reader};
use crate::rules::{Loader, Rules};
use crate::source::Span;
use crate::yaml::{Data, Node};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Files that extend each other more deeply than this are a mistake.
const MAX_DEPTH: usize = 8;
const MAX_FILES: usize = 64;

pub(crate) fn load(
    file: &RuleFile,
    problems: Vec<Problem>,
    given: &BTreeMap<String, Value>,
    loader: Loader<'_>,
) -> Result<Rules, Problems> {
    let rules = Rules { metadata: file.metadata.clone(), ..Rules::default() };
    let mut loading = Loading { rules, problems, loader, loaded: BTreeSet::new(), declared: BTreeSet::new() };
    loading.include(file, given, &mut Vec::new());
    for name in given.keys().filter(|name| !loading.declared.contains(*name)) {
        loading.problems.push(file.undeclared(name));
    }
    loading.finish()
}

struct Loading<'a> {
    rules: Rules,
    problems: Vec<Problem>,
    loader: Loader<'a>,
    loaded: BTreeSet<String>,
    declared: BTreeSet<String>,
}

impl Loading<'_> {
    fn include(&mut self, file: &RuleFile, given: &BTreeMap<String, Value>, trail: &mut Vec<String>) {
        let (values, problems) = file.values(given);
        self.problems.extend(problems);
        self.rules.warnings.extend(file.warnings.iter().cloned());
        self.declared.extend(values.keys().cloned());
        let tree = file.filled(&values, &mut self.problems);
        self.body(file, &tree);
        // What a file decides about a parameter holds for the files it extends, too.
        let mut handed_on = given.clone();
        for (name, filling) in values {
            if let Filling::Parameter(value, _) = filling {
                handed_on.insert(name, value);
            }
        }
        for extended in &file.metadata.extends {
            if let Some(other) = self.find(file, &extended.pack, extended.span, trail) {
                trail.push(extended.pack.clone());
                self.include(&other, &handed_on, trail);
                trail.pop();
            }
        }
    }

    fn find(&mut self, file: &RuleFile, pack: &str, span: Span, trail: &[String]) -> Option<RuleFile> {
        let (message, help) = if trail.iter().any(|other| other == pack) {
            (format!("`{pack}` extends itself, by way of {}", trail.join(", ")), "take it out of `extends`")
        } else if trail.len() >= MAX_DEPTH || self.loaded.len() >= MAX_FILES {
            (
                format!("more than {MAX_DEPTH} files extend each other, or {MAX_FILES} in all"),
                "merge some of them",
            )
        } else if !self.loaded.insert(pack.to_owned()) {
            return None;
        } else {
            match (self.loader)(pack).map(|text| RuleFile::outline(pack, &text)) {
                Some(Ok((other, problems))) => {
                    self.problems.extend(problems);
                    return Some(other);
                }
                Some(Err(Problems(problems))) => {
                    self.problems.extend(problems);
                    return None;
                }
                None => {
                    let help = "name a built-in pack, or a file in `packs/` without its ending";
                    (format!("there is no pack `{pack}`"), help)
                }
            }
        };
        self.problems.push(file.problem(span, message, help));
        None
    }

    /// What the file itself says. A name that an extending file has used already is skipped: the extending file wins.
    fn body(&mut self, file: &RuleFile, tree: &Node) {
        let taken: BTreeSet<String> = self.names();
        let mut reader = Reader::new(file.source.clone(), file.version, &mut self.rules.library);
        let mut seen = BTreeSet::new();
        let (rules, blocks, sequences) =
            (&mut self.rules.rules, &mut self.rules.blocks, &mut self.rules.sequences);
        read_each(tree, "invariants", &mut reader, |node, reader| {
            let Some(rule) = read::rule(node, reader) else { return };
            read::check_name(&mut seen, &rule.name, name_span(node), reader);
            if !taken.contains(&rule.name) {
                rules.push(rule);
            }
        });
        read_each(tree, "for_each_tool", &mut reader, |node, reader| {
            let Some(block) = Block::read(node, reader) else { return };
            read::check_name(&mut seen, &block.name, name_span(node), reader);
            // Tried on an example, so that its mistakes show without a server; its texts are compiled with that.
            if let Err(problems) = block.sample(reader.library) {
                reader.problems.extend(problems);
            }
            if !taken.contains(&block.name) {
                blocks.push(block);
            }
        });
        read_each(tree, "sequences", &mut reader, |node, reader| {
            let Some(sequence) = read::sequence(node, reader) else { return };
            read::check_name(&mut seen, &sequence.name, name_span(node), reader);
            if !taken.contains(&sequence.name) {
                sequences.push(sequence);
            }
        });
        self.problems.append(&mut reader.problems);
        self.rules.warnings.append(&mut reader.warnings);
    }

    fn names(&self) -> BTreeSet<String> {
        let rules = self.rules.rules.iter().map(|rule| &rule.name);
        let blocks = self.rules.blocks.iter().map(|block| &block.name);
        let sequences = self.rules.sequences.iter().map(|sequence| &sequence.name);
        rules.chain(blocks).chain(sequences).cloned().collect()
    }

    fn finish(mut self) -> Result<Rules, Problems> {
        if self.problems.is_empty() {
            return Ok(self.rules);
        }
        // Each file from its top to its bottom; the files stay in the order they were read.
        let mut files: Vec<String> = Vec::new();
        for problem in &self.problems {
            if !files.contains(&problem.source.name) {
                files.push(problem.source.name.clone());
            }
        }
        let order = |problem: &Problem| files.iter().position(|name| *name == problem.source.name);
        self.problems.sort_by_key(|problem| (order(problem), problem.span.start));
        self.problems.dedup();
        self.problems.truncate(MAX_PROBLEMS);
        Err(Problems(self.problems))
    }
}

/// The items under a key, until enough is found wrong with them.
fn read_each(tree: &Node, key: &str, reader: &mut Reader<'_>, mut read: impl FnMut(&Node, &mut Reader<'_>)) {
    for node in tree.get(key).map(|node| reader.list(node, key)).unwrap_or_default() {
        if reader.problems.len() >= MAX_PROBLEMS {
            return;
        }
        read(node, reader);
    }
}

fn name_span(node: &Node) -> Span {
    match &node.data {
        Data::Map(_) => node.get("name").map_or(node.span, |name| name.span),
        _ => node.span,
    }
}
