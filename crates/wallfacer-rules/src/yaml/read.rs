//! Builds a tree from YAML events. Every way in which a small file could become a large tree is bounded.

use super::mask::Masked;
use super::scalar;
use super::tree::{Data, Entry, Key, Node};
use crate::problem::Problem;
use crate::source::{Source, Span};
use crate::text::{self, Text, Unclosed};
use granit_parser::{Event, Parser, ScalarStyle, ScanError, StrInput, options};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// A large pack is some 50 KiB; a file of this size was generated, and should be several.
const MAX_FILE_BYTES: usize = 1 << 20;
/// Rules are some ten levels deep, schemas in them some ten more; recursion over the tree relies on it.
const MAX_DEPTH: usize = 64;
/// Counted with aliases written out, so that a few lines cannot stand for a billion nodes.
const MAX_NODES: usize = 200_000;

pub(crate) fn read(source: &Arc<Source>) -> Result<Node, Problem> {
    if source.text.len() > MAX_FILE_BYTES {
        let message =
            format!("the file is {} bytes long, and {MAX_FILE_BYTES} are allowed", source.text.len());
        return Err(Problem::new(
            source,
            Span::default(),
            message,
            "divide it, and name the parts in `extends`",
        ));
    }
    let Some(masked) = Masked::new(&source.text) else {
        let message = "the file uses characters that no script has (U+07B2 to U+07BF)";
        return Err(Problem::new(source, Span::default(), message, "take them out"));
    };
    Reader::new(source, &masked).document()
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    masked: &'a Masked,
    events: Parser<'a, StrInput<'a>>,
    anchors: BTreeMap<usize, (Node, usize)>,
    nodes: usize,
}

impl<'a> Reader<'a> {
    fn new(source: &'a Arc<Source>, masked: &'a Masked) -> Self {
        // The parser's own limits lie above ours, so that it is our message that is seen.
        let options = options! { emit_comments: false, flow_nesting_limit: 2 * MAX_DEPTH, block_nesting_limit: 2 * MAX_DEPTH };
        let events = Parser::new_from_str_with_options(&masked.text, options);
        Self { source, masked, events, anchors: BTreeMap::new(), nodes: 0 }
    }

    fn document(mut self) -> Result<Node, Problem> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_none() => {}
                Event::DocumentStart(..) => {
                    return Err(self.problem(
                        span,
                        "a second document begins here",
                        "a rule file is one document; remove the `---`",
                    ));
                }
                Event::StreamEnd => break,
                event => root = Some(self.node(event, span, 0)?),
            }
        }
        Ok(root.unwrap_or(Node { span: Span::default(), data: Data::Null }))
    }

    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Problem> {
        self.count(1, span)?;
        if depth > MAX_DEPTH {
            return Err(self.too_deep(span));
        }
        let before = self.nodes - 1;
        let anchor = event.anchor_id();
        let node = match event {
            Event::Scalar(word, style, _, ref tag) => {
                let text_tag = tag.as_ref().is_some_and(|tag| tag.is_yaml_core_schema_tag("str"));
                let data = self.scalar(&word, style == ScalarStyle::Plain && !text_tag, span)?;
                Node { span, data }
            }
            Event::SequenceStart(..) => self.list(span, depth)?,
            Event::MappingStart(..) => self.map(span, depth)?,
            Event::Alias(id) => return self.alias(id, span, depth),
            _ => {
                return Err(self.problem(
                    span,
                    "this has no meaning here",
                    "write text, a number, a list or a map",
                ));
            }
        };
        if let Some(id) = anchor {
            self.anchors.insert(id, (node.clone(), self.nodes - before));
        }
        Ok(node)
    }

    fn scalar(&self, word: &str, plain: bool, span: Span) -> Result<Data, Problem> {
        let text = Text::parse(&self.masked.unmask(word)).map_err(|Unclosed(rest)| {
            let message = format!("the placeholder `{{{{{}` is not closed", rest.trim());
            self.problem(span, message, "close it with `}}`, or write `{{{{` for two literal braces")
        })?;
        match (text.whole(), text.closed()) {
            (Some(name), _) if plain => Ok(Data::Unquoted(name.to_owned())),
            (None, Some(word)) if plain => Ok(scalar::resolve(&word)),
            _ => Ok(Data::Text(text)),
        }
    }

    fn list(&mut self, span: Span, depth: usize) -> Result<Node, Problem> {
        let mut items = Vec::new();
        loop {
            match self.next()? {
                (Event::SequenceEnd, _) => return Ok(Node { span, data: Data::List(items) }),
                (event, at) => items.push(self.node(event, at, depth + 1)?),
            }
        }
    }

    fn map(&mut self, mut span: Span, depth: usize) -> Result<Node, Problem> {
        let mut entries: Vec<Entry> = Vec::new();
        let mut seen = BTreeSet::new();
        loop {
            let (event, at) = self.next()?;
            if event == Event::MappingEnd {
                break;
            }
            let key = self.node(event, at, depth + 1)?;
            let (event, at) = self.next()?;
            let value = self.node(event, at, depth + 1)?;
            let key = self.key(key)?;
            if !seen.insert(key.text.to_string()) {
                return Err(self.problem(
                    key.span,
                    format!("`{}` is written twice", key.text),
                    "keep one of the two",
                ));
            }
            entries.push(Entry { key, value });
        }
        if let Some(first) = entries.first() {
            span = Span { start: span.start, end: first.key.span.end };
        }
        Ok(Node { span, data: Data::Map(entries) })
    }

    fn key(&self, node: Node) -> Result<Key, Problem> {
        let text = match node.data {
            Data::Text(text) => text,
            Data::Unquoted(name) => Text { parts: vec![text::Part::Placeholder(name)] },
            Data::Null | Data::Bool(_) | Data::Number(_) => {
                Text::literal(self.source.text.get(node.span.start..node.span.end).unwrap_or_default().trim())
            }
            Data::List(_) | Data::Map(_) => {
                return Err(self.problem(node.span, "a key must be text", "put it into quotes"));
            }
        };
        Ok(Key { span: node.span, text })
    }

    fn alias(&mut self, id: usize, span: Span, depth: usize) -> Result<Node, Problem> {
        let Some((_, size)) = self.anchors.get(&id) else {
            return Err(self.problem(
                span,
                "this alias stands inside of what it refers to",
                "write out what is meant",
            ));
        };
        self.count(*size, span)?;
        match self.anchors.get(&id) {
            Some((node, _)) if depth + height(node) <= MAX_DEPTH => Ok(node.clone()),
            _ => Err(self.too_deep(span)),
        }
    }

    fn count(&mut self, more: usize, span: Span) -> Result<(), Problem> {
        self.nodes = self.nodes.saturating_add(more);
        if self.nodes > MAX_NODES {
            let message = format!("more than {MAX_NODES} values, aliases written out");
            return Err(self.problem(span, message, "a rule file is written by hand; check its aliases"));
        }
        Ok(())
    }

    fn next(&mut self) -> Result<(Event<'a>, Span), Problem> {
        match self.events.next_event() {
            Some(Ok((event, span))) => {
                let range = span.byte_range().unwrap_or_default();
                Ok((event, Span { start: range.start, end: range.end }))
            }
            Some(Err(error)) => Err(self.syntax(&error)),
            None => Err(self.problem(Span::default(), "the file ends too early", "check its last lines")),
        }
    }

    fn syntax(&self, error: &ScanError) -> Problem {
        let start = error.marker().byte_offset().unwrap_or_default();
        let line_start =
            self.source.text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
        let line =
            self.source.text.get(line_start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
        let is_bracket = self.source.text.get(start..).is_some_and(|rest| rest.starts_with('['));
        let help = if is_bracket && line.contains("$.") {
            "put the path into quotes: inside of braces its `[` begins a list"
        } else if line.trim_start_matches(' ').starts_with('\t') {
            "indent with spaces; YAML does not allow tabs"
        } else {
            "check quotes, indentation and the space after `:` and `-` just before this place"
        };
        self.problem(Span { start, end: start + 1 }, format!("this is not YAML: {}", error.info()), help)
    }

    fn too_deep(&self, span: Span) -> Problem {
        self.problem(span, format!("nested more than {MAX_DEPTH} levels deep"), "take some levels away")
    }

    fn problem(&self, span: Span, message: impl Into<String>, help: &str) -> Problem {
        Problem::new(self.source, span, message, help)
    }
}

fn height(node: &Node) -> usize {
    match &node.data {
        Data::List(items) => 1 + items.iter().map(height).max().unwrap_or(0),
        Data::Map(entries) => 1 + entries.iter().map(|entry| height(&entry.value)).max().unwrap_or(0),
        _ => 0,
    }
}
