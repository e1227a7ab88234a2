//! Reads typed values of a rule file, compiles patterns and paths on the way, and collects everything that is wrong.

use super::quote;
use crate::library::Library;
use crate::nearest::nearest;
use crate::path::{Path, Root};
use crate::problem::{MAX_PROBLEMS, Problem};
use crate::source::{Source, Span};
use crate::text::Text;
use crate::yaml::{Data, Node};
use regex::Regex;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// The version in which everything beyond the first three was added.
pub(crate) const LATEST: u32 = 4;

/// Longer waits than this are a mistake in the unit.
const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) source: Arc<Source>,
    pub(crate) version: u32,
    pub(crate) library: &'a mut Library,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

/// What exists around a claim.
#[derive(Debug, Clone, Default)]
pub(crate) struct Around {
    /// Names of earlier steps.
    pub(crate) steps: Vec<String>,
    /// Inside `for_each` and its like.
    pub(crate) item: bool,
}

impl Around {
    pub(crate) fn with_item(&self) -> Self {
        Self { item: true, ..self.clone() }
    }
}

impl<'a> Reader<'a> {
    pub(crate) fn new(source: Arc<Source>, version: u32, library: &'a mut Library) -> Self {
        Self { source, version, library, problems: Vec::new(), warnings: Vec::new() }
    }

    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        self.problems.push(Problem::new(&self.source, span, message, help));
    }

    pub(crate) fn warn(&mut self, span: Span, message: impl Into<String>, help: impl Into<String>) {
        if self.warnings.len() < MAX_PROBLEMS {
            self.warnings.push(Problem::new(&self.source, span, message, help));
        }
    }

    /// `a_key` must be `what`, and is something else.
    pub(crate) fn mismatch(&mut self, node: &Node, key: &str, what: &str) {
        let help = match what {
            "a list" => "begin each item with `- `, or write [a, b]",
            "text" => "write it on one line, in quotes if need be",
            "true or false" => "write true or false, without quotes",
            "a number" => "write a number, without quotes",
            _ => "write it as lines of `key: value`",
        };
        self.error(node.span, format!("`{key}` must be {what}, and is {}", node.kind()), help);
    }

    /// A feature of the latest version in an older file.
    pub(crate) fn requires_latest(&mut self, span: Span, what: &str) {
        let message = format!("{what} needs version {LATEST}, and this file is version {}", self.version);
        self.error(span, message, format!("write `version: {LATEST}` at the top of the file"));
    }

    pub(crate) fn text(&mut self, node: &Node, key: &str) -> Option<String> {
        match &node.data {
            Data::Text(text) => {
                let closed = text.closed();
                if closed.is_none() {
                    self.left_open(node.span, key, text);
                }
                closed
            }
            // What YAML takes for a number is a fine name all the same.
            Data::Number(number) => Some(number.to_string()),
            Data::Bool(truth) => Some(truth.to_string()),
            _ => {
                self.mismatch(node, key, "text");
                None
            }
        }
    }

    fn left_open(&mut self, span: Span, key: &str, text: &Text) {
        let names: Vec<_> = text.placeholders().map(|name| format!("`{{{{{name}}}}}`")).collect();
        let message = format!("{} cannot stand in `{key}`", names.join(", "));
        self.error(
            span,
            message,
            "it is filled only in arguments and in values that are compared; write `{{{{` for literal braces",
        );
    }

    pub(crate) fn boolean(&mut self, node: &Node, key: &str) -> Option<bool> {
        match node.data {
            Data::Bool(truth) => Some(truth),
            _ => {
                self.mismatch(node, key, "true or false");
                None
            }
        }
    }

    /// A whole number from `least` to `most`.
    pub(crate) fn count(&mut self, node: &Node, key: &str, least: u32, most: u32) -> Option<u32> {
        let number = match &node.data {
            Data::Number(number) => number.as_u64().and_then(|number| u32::try_from(number).ok()),
            _ => None,
        };
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let message = format!("`{key}` must be a whole number from {least} to {most}");
            self.error(node.span, message, "write a number in that range, without quotes");
        }
        number
    }

    pub(crate) fn list<'n>(&mut self, node: &'n Node, key: &str) -> &'n [Node] {
        match &node.data {
            Data::List(items) => items,
            Data::Null => &[],
            _ => {
                self.mismatch(node, key, "a list");
                &[]
            }
        }
    }

    pub(crate) fn texts(&mut self, node: &Node, key: &str) -> Vec<String> {
        self.list(node, key).iter().filter_map(|item| self.text(item, key)).collect()
    }

    /// One of several words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        node: &Node,
        key: &str,
        known: &[(&'static str, T)],
    ) -> Option<T> {
        let written = match &node.data {
            // `type: null` is the word, not the absence of one.
            Data::Null => "null".to_owned(),
            _ => self.text(node, key)?,
        };
        let found = known.iter().find(|(name, _)| *name == written).map(|(_, value)| *value);
        if found.is_none() {
            let names = || known.iter().map(|(name, _)| *name);
            let help = match nearest(&written, names()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known here: {}", names().collect::<Vec<_>>().join(", ")),
            };
            self.error(node.span, format!("`{key}` cannot be `{written}`"), help);
        }
        found
    }

    pub(crate) fn duration(&mut self, node: &Node, key: &str) -> Option<Duration> {
        let written = self.text(node, key)?;
        let split = written.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(written.len());
        let number = written[..split].parse::<u64>().ok();
        let duration = number.and_then(|number| match &written[split..] {
            "ms" => Some(Duration::from_millis(number)),
            "s" => Some(Duration::from_secs(number)),
            "m" => number.checked_mul(60).map(Duration::from_secs),
            "h" => number.checked_mul(3600).map(Duration::from_secs),
            _ => None,
        });
        let duration = duration.filter(|duration| !duration.is_zero() && *duration <= MAX_DURATION);
        if duration.is_none() {
            let message = format!("`{key}` is not a length of time: `{written}`");
            self.error(node.span, message, "write it as 500ms, 30s, 10m or 1h, up to a day");
        }
        duration
    }

    pub(crate) fn regex(&mut self, node: &Node, key: &str) -> Option<Arc<Regex>> {
        let Data::Text(text) = &node.data else {
            let text = self.text(node, key)?;
            return self.compiled_regex(node, key, &text);
        };
        let Some(pattern) = text.render(regex::escape) else {
            self.left_open(node.span, key, text);
            return None;
        };
        self.compiled_regex(node, key, &pattern)
    }

    fn compiled_regex(&mut self, node: &Node, key: &str, pattern: &str) -> Option<Arc<Regex>> {
        match self.library.regex(pattern) {
            Ok(regex) => Some(regex),
            Err(why) => {
                let help = if why.contains("look-around") || why.contains("backreference") {
                    "write it without looking around or back; `not` and `all_of` can say the same"
                } else {
                    "a backslash needs single quotes around the pattern, or two of it in double quotes"
                };
                self.error(node.span, format!("`{key}` is not a valid pattern: {why}"), help);
                None
            }
        }
    }

    pub(crate) fn path(&mut self, node: &Node, key: &str, around: &Around) -> Option<Arc<Path>> {
        let Data::Text(text) = &node.data else {
            let message = format!("`{key}` must be a path, and is {}", node.kind());
            self.error(node.span, message, "a path looks like $.response.content[0].text");
            return None;
        };
        if text.placeholders().next().is_some() {
            self.left_open(node.span, key, text);
            return None;
        }
        let path = quote::into_path(text).and_then(|text| self.library.path(&text));
        match path {
            Ok(path) => self.check_path(node.span, &path, around).then_some(path),
            Err(why) => {
                let message = format!("`{key}` is not a valid path: {why}");
                self.error(node.span, message, "a path looks like $.response.content[0].text");
                None
            }
        }
    }

    /// Whether everything a path reads exists where it stands.
    pub(crate) fn check_path(&mut self, span: Span, path: &Path, around: &Around) -> bool {
        let roots = path.roots();
        let step = (path.root == Root::Steps).then(|| path.first_name());
        match step {
            Some(Some(name)) if !around.steps.iter().any(|step| step == name) => {
                self.unknown_step(span, name, around);
                false
            }
            _ => self.check_roots(span, &roots, around),
        }
    }

    pub(crate) fn unknown_step(&mut self, span: Span, name: &str, around: &Around) {
        let help = match nearest(name, around.steps.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None if around.steps.is_empty() => "give an earlier step a name with `bind`".into(),
            None => format!("bound before are {}", around.steps.join(", ")),
        };
        self.error(span, format!("no earlier step is bound as `{name}`"), help);
    }

    pub(crate) fn check_roots(&mut self, span: Span, roots: &[Root], around: &Around) -> bool {
        for root in roots {
            match root {
                Root::Item | Root::Index if !around.item => {
                    let message = format!("`$.{}` exists only inside `for_each`", root.name());
                    self.error(
                        span,
                        message,
                        "read from `$.response`, or put the assertion into a `for_each`",
                    );
                    return false;
                }
                Root::Effects | Root::Canary | Root::Marker if self.version < LATEST => {
                    self.requires_latest(span, &format!("`$.{}`", root.name()));
                    return false;
                }
                _ => {}
            }
        }
        true
    }

    /// Data as it is written; what is known only while rules run cannot stand in it.
    pub(crate) fn json(&mut self, node: &Node, key: &str) -> Value {
        for (span, name) in node.placeholders() {
            let message = format!("`{{{{{name}}}}}` cannot stand in `{key}`");
            self.error(span, message, "write the value itself, or `{{{{` for literal braces");
        }
        node.json()
    }

    pub(crate) fn schema(&mut self, node: &Node, key: &str) -> Option<Value> {
        match &node.data {
            Data::Map(_) | Data::Bool(_) => Some(self.json(node, key)),
            _ => {
                self.mismatch(node, key, "a JSON Schema");
                None
            }
        }
    }
}
