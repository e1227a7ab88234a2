//! Reads the text of a rule file as its version, its metadata and its tree: the file as typed.

use crate::library::Library;
use crate::metadata::{Metadata, Parameter, ParameterType};
use crate::nearest::nearest;
use crate::problem::{MAX_PROBLEMS, Problem, Problems};
use crate::read::{self, Fields, Keys, LATEST, Reader};
use crate::source::{Source, Span};
use crate::text::{Part, Text};
use crate::yaml::{self, Data, Entry, Key, Node};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

const FILE: Keys = Keys {
    what: "the file",
    names: &[("version", 1), ("metadata", 1), ("invariants", 1), ("for_each_tool", 1), ("sequences", 1)],
};
/// Placeholders that are not parameters.
pub(crate) const RESERVED: [&str; 4] = ["tool_name", "tool", "field", "marker"];

/// A rule file, read but not yet understood: parameters are open, nothing is compiled.
#[derive(Debug, Clone)]
pub struct RuleFile {
    pub version: u32,
    pub metadata: Metadata,
    pub(crate) source: Arc<Source>,
    pub(crate) tree: Node,
    pub(crate) warnings: Vec<Problem>,
}

/// What is put in the place of a placeholder.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Filling {
    /// Chosen by the user of the file.
    Parameter(Value, Option<ParameterType>),
    /// Chosen by the server.
    Foreign(String),
}

impl RuleFile {
    /// `name` is what messages call the file.
    pub fn parse(name: &str, text: &str) -> Result<Self, Problems> {
        let (file, problems) = Self::outline(name, text)?;
        if problems.is_empty() { Ok(file) } else { Err(Problems(problems)) }
    }

    /// As much as can be made out, with everything that is wrong at the top level.
    pub(crate) fn outline(name: &str, text: &str) -> Result<(Self, Vec<Problem>), Problems> {
        // Some Windows editors put a byte order mark in front.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let source = Arc::new(Source::new(name, text));
        let tree = yaml::read(&source).map_err(|problem| Problems(vec![problem]))?;
        let mut library = Library::default();
        let mut reader = Reader::new(source.clone(), LATEST, &mut library);
        reader.version = version(&tree, &mut reader);
        Fields::of(&tree, &FILE, &mut reader);
        let metadata = read::metadata(tree.get("metadata"), &mut reader);
        let (version, problems, warnings) = (reader.version, reader.problems, reader.warnings);
        Ok((Self { version, metadata, source, tree, warnings }, problems))
    }

    pub fn name(&self) -> &str {
        &self.source.name
    }

    /// The same file with its parameters filled in: what a user of the file gets to see.
    pub fn with_parameters(&self, given: &BTreeMap<String, Value>) -> Result<Self, Problems> {
        let (values, mut problems) = self.values(given);
        for name in given.keys().filter(|name| !self.declares(name)) {
            problems.push(self.undeclared(name));
        }
        let tree = self.filled(&values, &mut problems);
        if problems.is_empty() { Ok(Self { tree, ..self.clone() }) } else { Err(Problems(problems)) }
    }

    pub(crate) fn declares(&self, name: &str) -> bool {
        self.metadata.parameters.iter().any(|parameter| parameter.name == name)
    }

    /// A value was given for a parameter that no file declares.
    pub(crate) fn undeclared(&self, name: &str) -> Problem {
        let known = || self.metadata.parameters.iter().map(|parameter| parameter.name.as_str());
        let help = match (nearest(name, known()), known().count()) {
            (Some(meant), _) => format!("did you mean `{meant}`?"),
            (None, 0) => "it takes no parameters".into(),
            (None, _) => format!("it declares {}", known().collect::<Vec<_>>().join(", ")),
        };
        let span = self.tree.get("metadata").map_or(self.tree.span, |metadata| metadata.span);
        self.problem(span, format!("the parameter `{name}` is not declared here"), help)
    }

    /// The value of every parameter declared here.
    pub(crate) fn values(
        &self,
        given: &BTreeMap<String, Value>,
    ) -> (BTreeMap<String, Filling>, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut value = |parameter: &Parameter| {
            let Some(given) = given.get(&parameter.name) else {
                return Filling::Parameter(parameter.default.clone(), parameter.kind);
            };
            let value = match parameter.kind {
                Some(kind) => kind.read(given).unwrap_or_else(|| {
                    let message =
                        format!("`{}` is of type {}, and {given} is not", parameter.name, kind.name());
                    problems.push(self.problem(parameter.span, message, "give a value of its type"));
                    parameter.default.clone()
                }),
                None => given.clone(),
            };
            Filling::Parameter(value, parameter.kind)
        };
        let values =
            self.metadata.parameters.iter().map(|parameter| (parameter.name.clone(), value(parameter)));
        (values.collect(), problems)
    }

    /// The tree with parameters filled in; what else stands in braces must have a meaning later.
    pub(crate) fn filled(&self, values: &BTreeMap<String, Filling>, problems: &mut Vec<Problem>) -> Node {
        let Data::Map(entries) = &self.tree.data else { return self.tree.clone() };
        let entries = entries.iter().map(|entry| {
            if entry.key.is("metadata") {
                return entry.clone();
            }
            let value = fill(&entry.value, &|name| values.get(name).cloned(), self.version);
            let is_fan_out = entry.key.is("for_each_tool");
            let mut unknown = BTreeSet::new();
            for (span, name) in value.placeholders() {
                if let Some(problem) = self.check_placeholder(span, name, is_fan_out) {
                    unknown.insert(name.to_owned());
                    if problems.len() < MAX_PROBLEMS {
                        problems.push(problem);
                    }
                }
            }
            // What is reported once is not to cause further reports.
            let silence = |name: &str| unknown.contains(name).then(|| Filling::Foreign(name.to_owned()));
            Entry { key: entry.key.clone(), value: fill(&value, &silence, self.version) }
        });
        Node { span: self.tree.span, data: Data::Map(entries.collect()) }
    }

    fn check_placeholder(&self, span: Span, name: &str, is_fan_out: bool) -> Option<Problem> {
        let is_latest = self.version >= LATEST;
        let is_known = match name {
            "tool_name" => is_fan_out,
            "tool" | "field" => is_fan_out && is_latest,
            "marker" => is_latest,
            other => other.contains('.'),
        };
        if is_known {
            return None;
        }
        let known = self.metadata.parameters.iter().map(|parameter| parameter.name.as_str());
        let help = match nearest(name, known) {
            Some(meant) => format!("did you mean `{{{{{meant}}}}}`?"),
            None if name != "marker" && RESERVED.contains(&name) => {
                "it has a value only in `for_each_tool`".into()
            }
            None if RESERVED.contains(&name) => format!("it has a value of its own in version {LATEST}"),
            None => "declare it in `metadata: parameters:`, or write `{{{{` for literal braces".into(),
        };
        Some(self.problem(span, format!("`{{{{{name}}}}}` is not a declared parameter"), help))
    }

    pub(crate) fn problem(&self, span: Span, message: impl Into<String>, help: impl Into<String>) -> Problem {
        Problem::new(&self.source, span, message, help)
    }
}

/// As YAML that reads as the same file; comments are not kept.
impl fmt::Display for RuleFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&yaml::print(&self.tree))
    }
}

/// Two files are the same when they say the same, wherever it stands.
impl PartialEq for RuleFile {
    fn eq(&self, other: &Self) -> bool {
        self.tree == other.tree
    }
}

fn version(tree: &Node, reader: &mut Reader<'_>) -> u32 {
    let Data::Map(_) = tree.data else { return LATEST };
    let Some(node) = tree.get("version") else {
        reader.error(tree.span, "the file has no `version`", format!("begin it with `version: {LATEST}`"));
        return LATEST;
    };
    let written = match &node.data {
        Data::Number(number) => number.as_u64().and_then(|version| u32::try_from(version).ok()),
        _ => None,
    };
    written.filter(|version| (1..=LATEST).contains(version)).unwrap_or_else(|| {
        reader.error(
            node.span,
            format!("`version` must be a number from 1 to {LATEST}"),
            format!("write `version: {LATEST}`"),
        );
        LATEST
    })
}

/// The tree with every placeholder filled for which there is something.
pub(crate) fn fill(node: &Node, find: &dyn Fn(&str) -> Option<Filling>, version: u32) -> Node {
    let data = match &node.data {
        Data::Text(text) => match text.whole().and_then(find) {
            // In files before version 4 quotes always make text.
            Some(Filling::Parameter(value, _)) if version >= LATEST => scalar(&value),
            _ => Data::Text(fill_text(text, find)),
        },
        Data::Unquoted(name) => match find(name) {
            Some(Filling::Parameter(Value::String(word), None)) => yaml::resolve(&word),
            Some(Filling::Parameter(value, _)) => scalar(&value),
            Some(Filling::Foreign(name)) => Data::Text(Text { parts: vec![Part::Foreign(name)] }),
            None => Data::Unquoted(name.clone()),
        },
        Data::List(items) => Data::List(items.iter().map(|item| fill(item, find, version)).collect()),
        Data::Map(entries) => {
            let entry = |Entry { key, value }: &Entry| Entry {
                key: Key { span: key.span, text: fill_text(&key.text, find) },
                value: fill(value, find, version),
            };
            Data::Map(entries.iter().map(entry).collect())
        }
        simple => simple.clone(),
    };
    Node { span: node.span, data }
}

fn fill_text(text: &Text, find: &dyn Fn(&str) -> Option<Filling>) -> Text {
    let mut filled = Text::default();
    for part in &text.parts {
        let found = match part {
            Part::Placeholder(name) => find(name),
            Part::Literal(_) | Part::Foreign(_) => None,
        };
        match (found, part) {
            (Some(Filling::Parameter(Value::String(value), _)), _) => filled.push_literal(&value),
            (Some(Filling::Parameter(value, _)), _) => filled.push_literal(&value.to_string()),
            (Some(Filling::Foreign(name)), _) => filled.parts.push(Part::Foreign(name)),
            (None, Part::Literal(literal)) => filled.push_literal(literal),
            (None, part) => filled.parts.push(part.clone()),
        }
    }
    filled
}

fn scalar(value: &Value) -> Data {
    match value {
        Value::Null => Data::Null,
        Value::Bool(truth) => Data::Bool(*truth),
        Value::Number(number) => Data::Number(number.clone()),
        Value::String(text) => Data::Text(Text::literal(text)),
        other => Data::Text(Text::literal(other.to_string())),
    }
}
