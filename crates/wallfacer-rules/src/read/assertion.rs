//! Reads and compiles one item of an `assert` list.

use super::data;
use super::fields::Fields;
use super::kinds::{AssertionKind, KINDS};
use super::quote;
use super::reader::{Around, LATEST, Reader};
use crate::assertion::{Assertion, Claim, Operand, Relation, Type};
use crate::nearest::nearest;
use crate::path::Path;
use crate::yaml::{Data, Entry, Node};
use std::sync::Arc;

pub(super) fn assertions(node: &Node, key: &str, reader: &mut Reader<'_>, around: &Around) -> Vec<Assertion> {
    let items = reader.list(node, key);
    items.iter().filter_map(|item| assertion(item, reader, around)).collect()
}

fn assertion(node: &Node, reader: &mut Reader<'_>, around: &Around) -> Option<Assertion> {
    let kind = kind(node, reader)?;
    let fields = Fields::of(node, &kind.keys, reader)?;
    let mut claims = ClaimReader { fields, reader, around };
    claims.claim(kind.name).map(Assertion)
}

fn kind(node: &Node, reader: &mut Reader<'_>) -> Option<&'static AssertionKind> {
    let Data::Map(_) = &node.data else {
        let message = format!("an assertion must be a map with a `kind`, and is {}", node.kind());
        reader.error(node.span, message, "write it as { kind: exists, path: $.response.content }");
        return None;
    };
    let Some(written) = node.get("kind") else {
        reader.error(node.span, "an assertion has no `kind`", "add `kind: equals` or another kind to it");
        return None;
    };
    let name = reader.text(written, "kind")?;
    match KINDS.iter().find(|kind| kind.name == name) {
        Some(kind) if kind.since <= reader.version => Some(kind),
        Some(_) => {
            reader.requires_latest(written.span, &format!("the assertion `{name}`"));
            None
        }
        None => {
            let usable = || KINDS.iter().filter(|kind| kind.since <= reader.version).map(|kind| kind.name);
            let help = match nearest(&name, usable()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("known kinds: {}", usable().collect::<Vec<_>>().join(", ")),
            };
            reader.error(written.span, format!("unknown kind of assertion `{name}`"), help);
            None
        }
    }
}

struct ClaimReader<'n, 'd, 'l> {
    fields: Fields<'n>,
    reader: &'d mut Reader<'l>,
    around: &'d Around,
}

impl<'n> ClaimReader<'n, '_, '_> {
    fn claim(&mut self, kind: &str) -> Option<Claim> {
        Some(match kind {
            "equals" => Claim::Equals { left: self.operand("lhs")?, right: self.operand("rhs")? },
            "not_equals" => Claim::NotEquals { left: self.operand("lhs")?, right: self.operand("rhs")? },
            "at_most" => self.compare(Relation::AtMost)?,
            "at_least" => self.compare(Relation::AtLeast)?,
            "less_than" => self.compare(Relation::Less)?,
            "greater_than" => self.compare(Relation::Greater)?,
            "length_eq" => self.length(Relation::Equal)?,
            "length_at_most" => self.length(Relation::AtMost)?,
            "length_at_least" => self.length(Relation::AtLeast)?,
            "is_type" => Claim::IsType { path: self.path("path")?, wanted: self.wanted_type()? },
            "matches_regex" => self.matches_regex()?,
            "matches_schema" => self.matches_schema()?,
            "all_of" => Claim::AllOf(self.nested("assert", self.around)?),
            "any_of" => Claim::AnyOf(self.nested("assert", self.around)?),
            "not" => self.not()?,
            "for_each" => self.for_each()?,
            "exists" => Claim::Exists { path: self.path("path")? },
            "absent" => Claim::Absent { path: self.path("path")? },
            "contains" => Claim::Contains { path: self.path("path")?, value: self.operand("value")? },
            "one_of" => self.one_of()?,
            "unique" => Claim::Unique { path: self.path("path")?, by: self.item_path("by") },
            "sorted" => self.sorted()?,
            "latency_below" => {
                let node = self.required("value")?;
                Claim::LatencyBelow(self.reader.duration(node, "value")?)
            }
            "parses_as_json" => self.parses_as_json()?,
            "same_as" => self.same_as()?,
            "expr" => self.expr()?,
            _ => return None,
        })
    }

    fn required(&mut self, key: &str) -> Option<&'n Node> {
        self.fields.required(key, self.reader)
    }

    fn path(&mut self, key: &str) -> Option<Arc<Path>> {
        let node = self.required(key)?;
        self.reader.path(node, key, self.around)
    }

    /// A path that is read from each item: `$.item.id`.
    fn item_path(&mut self, key: &str) -> Option<Arc<Path>> {
        let node = self.fields.get(key)?;
        self.reader.path(node, key, &self.around.with_item())
    }

    fn operand(&mut self, key: &str) -> Option<Operand> {
        let node = self.required(key)?;
        self.operand_of(node, key)
    }

    fn operand_of(&mut self, node: &Node, key: &str) -> Option<Operand> {
        match &node.data {
            Data::Map(entries) => match entries.as_slice() {
                [Entry { key, value }] if key.is("path") => {
                    self.reader.path(value, "path", self.around).map(Operand::Path)
                }
                [Entry { key, value }] if key.is("value") => Some(self.value(value)),
                _ => Some(self.value(node)),
            },
            Data::Text(text) if text.closed().is_some_and(|text| text.starts_with('$')) => {
                self.reader.path(node, key, self.around).map(Operand::Path)
            }
            _ => Some(self.value(node)),
        }
    }

    fn value(&mut self, node: &Node) -> Operand {
        Operand::Value(data::sketch(node, self.reader, self.around))
    }

    fn compare(&mut self, relation: Relation) -> Option<Claim> {
        let (path, bound) = (self.path("path"), self.number("value"));
        Some(Claim::Compare { path: path?, relation, bound: bound? })
    }

    fn length(&mut self, relation: Relation) -> Option<Claim> {
        let (path, bound) = (self.path("path"), self.number("value"));
        Some(Claim::Length { path: path?, relation, bound: bound? })
    }

    fn number(&mut self, key: &str) -> Option<Operand> {
        let operand = self.operand(key)?;
        if let Operand::Value(crate::draft::Sketch::Ready(value)) = &operand
            && !value.is_number()
        {
            let node = self.required(key)?;
            let message = format!("`{key}` must be a number or a path to one, and is {}", node.kind());
            self.reader.error(node.span, message, "write 5, or { path: $.input.limit }");
            return None;
        }
        Some(operand)
    }

    fn wanted_type(&mut self) -> Option<Type> {
        let node = self.required("type")?;
        self.reader.choice(node, "type", &Type::ALL.map(|kind| (kind.name(), kind)))
    }

    fn matches_regex(&mut self) -> Option<Claim> {
        let path = self.path("path");
        let pattern = self.required("pattern").and_then(|node| self.reader.regex(node, "pattern"));
        let except = match self.fields.get("except") {
            Some(node) => Some(self.reader.regex(node, "except")?),
            None => None,
        };
        Some(Claim::MatchesRegex { path: path?, pattern: pattern?, except })
    }

    fn matches_schema(&mut self) -> Option<Claim> {
        let path = self.path("path");
        let node = self.required("schema")?;
        let schema = self.reader.schema(node, "schema")?;
        match self.reader.library.schema(&schema) {
            Ok(schema) => Some(Claim::MatchesSchema { path: path?, schema }),
            Err(why) => {
                let why: String = why.chars().take(200).collect();
                let help = if schema.to_string().contains("$ref") {
                    "a schema that stands elsewhere cannot be referred to; write it out"
                } else {
                    "see the keywords of JSON Schema 2020-12"
                };
                self.reader.error(node.span, format!("`schema` is not a valid JSON Schema: {why}"), help);
                None
            }
        }
    }

    fn nested(&mut self, key: &str, around: &Around) -> Option<Vec<Assertion>> {
        let node = self.required(key)?;
        Some(assertions(node, key, self.reader, around))
    }

    fn not(&mut self) -> Option<Claim> {
        let node = self.required("assertion")?;
        let claim = Box::new(assertion(node, self.reader, self.around)?);
        // Before `absent` there was no other way to say "this, or nothing at all", and files rely on it.
        let or_missing = self.reader.version < LATEST;
        Some(Claim::Not { claim, or_missing })
    }

    fn for_each(&mut self) -> Option<Claim> {
        let path = self.path("path");
        let claims = self.nested("assert", &self.around.with_item());
        Some(Claim::ForEach { path: path?, claims: claims? })
    }

    fn one_of(&mut self) -> Option<Claim> {
        let path = self.path("path");
        let node = self.required("values")?;
        let values: Vec<_> = self
            .reader
            .list(node, "values")
            .iter()
            .filter_map(|item| self.operand_of(item, "values"))
            .collect();
        if values.is_empty() {
            self.reader.error(node.span, "`values` must list at least one value", "write them as [a, b]");
        }
        Some(Claim::OneOf { path: path?, values })
    }

    fn sorted(&mut self) -> Option<Claim> {
        let orders = [("ascending", false), ("descending", true)];
        let descending = match self.fields.get("order") {
            Some(node) => self.reader.choice(node, "order", &orders)?,
            None => false,
        };
        Some(Claim::Sorted { path: self.path("path")?, by: self.item_path("by"), descending })
    }

    fn parses_as_json(&mut self) -> Option<Claim> {
        let path = self.path("path");
        let claims = match self.fields.get("assert") {
            Some(node) => assertions(node, "assert", self.reader, &self.around.with_item()),
            None => Vec::new(),
        };
        Some(Claim::ParsesAsJson { path: path?, claims })
    }

    fn same_as(&mut self) -> Option<Claim> {
        let path = self.path("path")?;
        let other = match (self.fields.get("step"), self.fields.get("other")) {
            (Some(step), None) => {
                let name = self.reader.text(step, "step")?;
                if !self.around.steps.contains(&name) {
                    self.reader.unknown_step(step.span, &name, self.around);
                    return None;
                }
                Arc::new(path.in_step(&name))
            }
            (None, Some(other)) => self.reader.path(other, "other", self.around)?,
            _ => {
                self.reader.error(
                    self.fields.span,
                    "`same_as` needs one of `step` and `other`",
                    "name an earlier step, or a path to compare with",
                );
                return None;
            }
        };
        let around = self.around.with_item();
        let ignore = match self.fields.get("ignore") {
            Some(node) => {
                let items = self.reader.list(node, "ignore");
                items.iter().filter_map(|item| self.reader.path(item, "ignore", &around)).collect()
            }
            None => Vec::new(),
        };
        Some(Claim::SameAs { path, other, ignore })
    }

    fn expr(&mut self) -> Option<Claim> {
        let node = self.required("expr")?;
        let Data::Text(text) = &node.data else {
            self.reader.mismatch(node, "expr", "text");
            return None;
        };
        let parsed = quote::into_expression(text).and_then(|text| self.reader.library.expression(&text));
        let expression = match parsed {
            Ok(expression) => expression,
            Err(why) => {
                let help =
                    "it is a CEL expression, such as response.structuredContent.sum == input.a + input.b";
                self.reader.error(node.span, format!("`expr` is not valid: {why}"), help);
                return None;
            }
        };
        let unknown = expression.steps().find(|name| !self.around.steps.iter().any(|step| step == name));
        if let Some(name) = unknown {
            self.reader.unknown_step(node.span, name, self.around);
            return None;
        }
        let roots: Vec<_> = expression.roots().collect();
        self.reader.check_roots(node.span, &roots, self.around).then_some(Claim::Expr(expression))
    }
}
