//! Makes one rule per tool (and per field) of a rule about every tool. What the server calls its tools is put into the
//! tree as names, never as text to be read again.

use crate::file::{Filling, fill};
use crate::library::Library;
use crate::problem::Problem;
use crate::read::{self, Fields, Keys, Reader, Selector};
use crate::rule::{Origin, Rule};
use crate::source::{Source, Span};
use crate::tool::ToolShape;
use crate::written::written;
use crate::yaml::Node;
use std::sync::Arc;

const BLOCK: Keys = Keys {
    what: "an item of `for_each_tool`",
    names: &[("name", 1), ("description", 1), ("where", 1), ("apply", 1)],
};
/// Stands for any tool while a file is checked without a server.
pub(crate) const SAMPLE_TOOL: &str = "example_tool";
pub(crate) const SAMPLE_FIELD: &str = "example_field";

#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) name: String,
    description: Option<String>,
    selector: Selector,
    written_name: Node,
    apply: Node,
    source: Arc<Source>,
    version: u32,
    span: Span,
    written: Arc<str>,
}

impl Block {
    pub(crate) fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Self> {
        let fields = Fields::of(node, &BLOCK, reader)?;
        let written_name = fields.required("name", reader)?.clone();
        let selector = read::selector(fields.get("where"), reader);
        let apply = fields.required("apply", reader)?.clone();
        if !selector.is_about_fields() {
            for (span, _) in node.placeholders().into_iter().filter(|(_, name)| *name == "field") {
                let help = "say which fields are meant: where: { field: { type: string } }";
                reader.error(span, "`{{field}}` has no value, for the rule is not about fields", help);
            }
        }
        Some(Self {
            name: written_name.json().as_str().unwrap_or_default().to_owned(),
            description: fields.text("description", reader),
            selector,
            written_name,
            apply,
            source: reader.source.clone(),
            version: reader.version,
            span: node.span,
            written: written("for_each_tool", node, reader.version),
        })
    }

    /// The tool, with each field the rule is about; with `None` if it is about none in particular.
    pub(crate) fn targets<'t>(&self, tool: &'t ToolShape) -> Vec<Option<&'t str>> {
        match (self.selector.fits(tool), self.selector.is_about_fields()) {
            (false, _) => Vec::new(),
            (true, false) => vec![None],
            (true, true) => self.selector.fields(tool).into_iter().map(Some).collect(),
        }
    }

    pub(crate) fn rule(
        &self,
        tool: &str,
        field: Option<&str>,
        library: &mut Library,
    ) -> Result<Rule, Vec<Problem>> {
        let find = |name: &str| match name {
            "tool_name" | "tool" => Some(Filling::Foreign(tool.to_owned())),
            "field" => field.map(|field| Filling::Foreign(field.to_owned())),
            _ => None,
        };
        let mut reader = Reader::new(self.source.clone(), self.version, library);
        let name = reader.text(&fill(&self.written_name, &find, self.version), "name");
        let body = read::body(&fill(&self.apply, &find, self.version), &mut reader);
        match (name, body) {
            (Some(name), Some(body)) if reader.problems.is_empty() => {
                let name = self.telling(name, field);
                let origin = Origin { file: self.source.name.clone(), line: self.source.line(self.span) };
                let written = self.written.clone();
                Ok(body.into_rule(name, self.description.clone(), tool.to_owned(), origin, written))
            }
            _ => Err(reader.problems),
        }
    }

    /// Findings are told apart by the name of the rule, so the field must be in it.
    fn telling(&self, name: String, field: Option<&str>) -> String {
        let says_field = self.written_name.placeholders().iter().any(|(_, name)| *name == "field");
        match field {
            Some(field) if !says_field => format!("{name}.{field}"),
            _ => name,
        }
    }

    pub(crate) fn sample(&self, library: &mut Library) -> Result<Rule, Vec<Problem>> {
        self.rule(SAMPLE_TOOL, Some(SAMPLE_FIELD), library)
    }
}
