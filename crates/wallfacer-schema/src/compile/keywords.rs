//! Reads one schema object as a [`Node`]. A keyword with a value that no draft allows is noted and ignored: tools are
//! listed with such schemas every day, and a refusal would test nothing.

use super::{Compiler, Ignored};
use crate::{
    document::{Location, draft::Draft},
    error::CompileError,
    format::Format,
    node::{ArrayRules, Condition, Contains, Node, NodeId, NumberRules, ObjectRules, StringRules},
    pointer,
    types::Types,
};
use serde_json::{Map, Number, Value};
use wallfacer_text::lexicon::FieldKind;

/// Defaults and examples kept for one schema.
const MAX_SAMPLES: usize = 32;

pub(super) fn read<'d>(
    compiler: &mut Compiler<'_, 'd>,
    location: &Location<'d>,
    scope: usize,
) -> Result<Node, CompileError> {
    let at = location.at.clone().into_boxed_str();
    match location.value {
        Value::Bool(accepts) => Ok(Node { at, never: !accepts, ..Node::default() }),
        Value::Object(keywords) => {
            let draft = compiler.document.resources[location.resource].draft;
            Reader { compiler, location, scope, keywords, draft }.node()
        }
        other if at.is_empty() => Err(CompileError::NotASchema { found: name_of(other) }),
        _ => {
            compiler.ignored.push(Ignored { at: location.at.clone(), keyword: String::new() });
            Ok(Node { at, ..Node::default() })
        }
    }
}

struct Reader<'r, 'c, 'd> {
    compiler: &'r mut Compiler<'c, 'd>,
    location: &'r Location<'d>,
    scope: usize,
    keywords: &'d Map<String, Value>,
    draft: Draft,
}

impl<'d> Reader<'_, '_, 'd> {
    fn node(mut self) -> Result<Node, CompileError> {
        let mut node = Node { at: self.location.at.clone().into_boxed_str(), ..Node::default() };
        self.references(&mut node)?;
        if !(self.draft.reference_stands_alone() && self.keywords.contains_key("$ref")) {
            self.assertions(&mut node)?;
            self.combinators(&mut node)?;
        }
        self.hints(&mut node);
        Ok(node)
    }

    fn references(&mut self, node: &mut Node) -> Result<(), CompileError> {
        if let Some(reference) = self.text("$ref") {
            let target = self.compiler.document.find(self.location, reference)?;
            node.all_of.push(self.compiler.node_at(&target, self.scope)?);
        }
        if self.draft >= Draft::Twenty
            && let Some(reference) = self.text("$dynamicRef")
        {
            let scope = self.compiler.scope(self.scope);
            let target = self.compiler.document.find_dynamic(self.location, reference, scope)?;
            node.all_of.push(self.compiler.node_at(&target, self.scope)?);
        }
        if self.draft == Draft::Nineteen && self.text("$recursiveRef").is_some() {
            let scope = self.compiler.scope(self.scope);
            let target = self.compiler.document.find_recursive(self.location, scope)?;
            node.all_of.push(self.compiler.node_at(&target, self.scope)?);
        }
        Ok(())
    }

    fn assertions(&mut self, node: &mut Node) -> Result<(), CompileError> {
        node.types = self.types();
        node.constant = self.since(Draft::Six, "const").cloned();
        node.members = self.list("enum").cloned();
        node.number = self.number_rules();
        node.string = self.string_rules();
        node.array = self.array_rules()?;
        node.object = self.object_rules()?;
        Ok(())
    }

    fn combinators(&mut self, node: &mut Node) -> Result<(), CompileError> {
        node.all_of.extend(self.schemas("allOf")?);
        node.any_of = self.schemas("anyOf")?;
        node.one_of = self.schemas("oneOf")?;
        node.not = self.schema("not")?;
        if self.draft >= Draft::Seven
            && let Some(test) = self.schema("if")?
        {
            let (then, otherwise) = (self.schema("then")?, self.schema("else")?);
            // Without both it still tells `unevaluated…` what it has looked at.
            node.condition = Some(Condition { test, then, otherwise });
        }
        Ok(())
    }

    fn hints(&mut self, node: &mut Node) {
        node.hints.samples.extend(self.keywords.get("default").cloned());
        for keyword in ["examples", "example"] {
            match self.keywords.get(keyword) {
                Some(Value::Array(examples)) if keyword == "examples" => {
                    node.hints.samples.extend(examples.iter().cloned());
                }
                Some(example) => node.hints.samples.push(example.clone()),
                None => {}
            }
        }
        node.hints.samples.truncate(MAX_SAMPLES);
        let described = self.text("description").or(self.text("title")).unwrap_or("");
        node.hints.kind = FieldKind::of(&field_name(&self.location.at), described);
    }

    fn types(&mut self) -> Types {
        let named = match self.keywords.get("type") {
            None => return Types::ANY,
            Some(Value::String(name)) => Types::of_name(name),
            Some(Value::Array(names)) => names
                .iter()
                .try_fold(Types::NONE, |types, name| Some(types.or(Types::of_name(name.as_str()?)?))),
            Some(_) => None,
        };
        named.unwrap_or_else(|| {
            self.ignore("type");
            Types::ANY
        })
    }

    fn number_rules(&mut self) -> Option<Box<NumberRules>> {
        let mut rules = NumberRules {
            minimum: self.number("minimum"),
            maximum: self.number("maximum"),
            ..NumberRules::default()
        };
        // Draft 4 and OpenAPI 3.0 make the plain bound exclusive by a flag.
        match self.keywords.get("exclusiveMinimum") {
            Some(Value::Bool(true)) => rules.exclusive_minimum = rules.minimum.take(),
            Some(Value::Bool(false)) => {}
            _ => rules.exclusive_minimum = self.number("exclusiveMinimum"),
        }
        match self.keywords.get("exclusiveMaximum") {
            Some(Value::Bool(true)) => rules.exclusive_maximum = rules.maximum.take(),
            Some(Value::Bool(false)) => {}
            _ => rules.exclusive_maximum = self.number("exclusiveMaximum"),
        }
        rules.multiple_of = self.number("multipleOf").filter(|number| {
            let positive = crate::number::float(number) > 0.0;
            if !positive {
                self.ignore("multipleOf");
            }
            positive
        });
        let set = rules.minimum.is_some()
            || rules.maximum.is_some()
            || rules.exclusive_minimum.is_some()
            || rules.exclusive_maximum.is_some()
            || rules.multiple_of.is_some();
        set.then(|| Box::new(rules))
    }

    fn string_rules(&mut self) -> Option<Box<StringRules>> {
        let rules = StringRules {
            min_length: self.count("minLength"),
            max_length: self.count("maxLength"),
            pattern: self.text("pattern").map(|text| self.compiler.pattern(text)),
            format: self.text("format").and_then(|name| Format::of_name(name, self.draft)),
            content: Format::of_content(
                self.text("contentMediaType"),
                self.text("contentEncoding"),
                self.draft,
            ),
        };
        let set = rules.min_length.is_some()
            || rules.max_length.is_some()
            || rules.pattern.is_some()
            || rules.formats().next().is_some();
        set.then(|| Box::new(rules))
    }

    fn array_rules(&mut self) -> Result<Option<Box<ArrayRules>>, CompileError> {
        let mut rules = ArrayRules {
            min_items: self.count("minItems"),
            max_items: self.count("maxItems"),
            unique: self.keywords.get("uniqueItems") == Some(&Value::Bool(true)),
            contains: self.contains()?,
            ..ArrayRules::default()
        };
        if self.draft >= Draft::Nineteen {
            rules.unevaluated = self.schema("unevaluatedItems")?;
        }
        if self.draft >= Draft::Twenty {
            rules.prefix = self.schemas("prefixItems")?;
        }
        if let Some(Value::Array(_)) = self.keywords.get("items") {
            rules.prefix = self.schemas("items")?;
            rules.items = self.schema("additionalItems")?;
        } else {
            rules.items = self.schema("items")?;
        }
        let set = rules.min_items.is_some()
            || rules.max_items.is_some()
            || rules.unique
            || rules.contains.is_some()
            || rules.unevaluated.is_some()
            || !rules.prefix.is_empty()
            || rules.items.is_some();
        Ok(set.then(|| Box::new(rules)))
    }

    fn contains(&mut self) -> Result<Option<Contains>, CompileError> {
        if self.draft < Draft::Six {
            return Ok(None);
        }
        let Some(schema) = self.schema("contains")? else { return Ok(None) };
        let counted = self.draft >= Draft::Nineteen;
        Ok(Some(Contains {
            schema,
            min: self.count("minContains").filter(|_| counted).unwrap_or(1),
            max: self.count("maxContains").filter(|_| counted),
            marks: self.draft >= Draft::Twenty,
        }))
    }

    fn object_rules(&mut self) -> Result<Option<Box<ObjectRules>>, CompileError> {
        let mut rules = ObjectRules {
            properties: self.keyed("properties")?.into_iter().collect(),
            additional: self.schema("additionalProperties")?,
            min_properties: self.count("minProperties"),
            max_properties: self.count("maxProperties"),
            ..ObjectRules::default()
        };
        for (text, schema) in self.keyed("patternProperties")? {
            rules.patterns.push((self.compiler.pattern(&text), schema));
        }
        if self.draft >= Draft::Six {
            rules.names = self.schema("propertyNames")?;
        }
        if let Some(names) = self.list("required") {
            rules.required = names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
        }
        self.dependencies(&mut rules)?;
        if self.draft >= Draft::Nineteen {
            rules.unevaluated = self.schema("unevaluatedProperties")?;
        }
        let set = !rules.properties.is_empty()
            || rules.additional.is_some()
            || rules.min_properties.is_some()
            || rules.max_properties.is_some()
            || !rules.patterns.is_empty()
            || rules.names.is_some()
            || !rules.required.is_empty()
            || !rules.dependent_required.is_empty()
            || !rules.dependent_schemas.is_empty()
            || rules.unevaluated.is_some();
        Ok(set.then(|| Box::new(rules)))
    }

    /// `dependencies` of the older drafts is `dependentRequired` and `dependentSchemas` in one.
    fn dependencies(&mut self, rules: &mut ObjectRules) -> Result<(), CompileError> {
        let mut keywords = vec!["dependencies"];
        if self.draft >= Draft::Nineteen {
            keywords.extend(["dependentRequired", "dependentSchemas"]);
        }
        for keyword in keywords {
            let Some(Value::Object(members)) = self.keywords.get(keyword) else { continue };
            for (key, value) in members {
                if let Value::Array(names) = value {
                    let names = names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
                    rules.dependent_required.push((key.clone(), names));
                } else if keyword != "dependentRequired" {
                    let schema = self.child(&pointer::join(&pointer::join("", keyword), key), value)?;
                    rules.dependent_schemas.push((key.clone(), schema));
                }
            }
        }
        Ok(())
    }

    fn ignore(&mut self, keyword: &str) {
        let at = self.location.at.clone();
        self.compiler.ignored.push(Ignored { at, keyword: keyword.to_owned() });
    }

    fn since(&self, draft: Draft, keyword: &str) -> Option<&'d Value> {
        (self.draft >= draft).then(|| self.keywords.get(keyword)).flatten()
    }

    /// The keyword's value as `convert` sees it; one that does not convert is noted.
    fn read<T>(&mut self, keyword: &str, convert: impl Fn(&'d Value) -> Option<T>) -> Option<T> {
        let value = self.keywords.get(keyword)?;
        let converted = convert(value);
        if converted.is_none() {
            self.ignore(keyword);
        }
        converted
    }

    fn text(&mut self, keyword: &str) -> Option<&'d str> {
        self.read(keyword, Value::as_str)
    }

    fn list(&mut self, keyword: &str) -> Option<&'d Vec<Value>> {
        self.read(keyword, Value::as_array)
    }

    fn number(&mut self, keyword: &str) -> Option<Number> {
        self.read(keyword, |value| value.as_number().cloned())
    }

    /// A count; larger than the machine can count is as good as the largest.
    fn count(&mut self, keyword: &str) -> Option<usize> {
        self.read(keyword, |value| {
            let float = value.as_f64()?;
            (float >= 0.0 && float.fract() == 0.0).then_some(float as usize)
        })
    }

    fn child(&mut self, path: &str, value: &'d Value) -> Result<NodeId, CompileError> {
        let resource = self.compiler.document.resource_of(value, self.location.resource);
        let location = Location { value, at: format!("{}{path}", self.location.at), resource };
        self.compiler.node_at(&location, self.scope)
    }

    fn schema(&mut self, keyword: &str) -> Result<Option<NodeId>, CompileError> {
        match self.keywords.get(keyword) {
            None => Ok(None),
            Some(value @ (Value::Object(_) | Value::Bool(_))) => {
                self.child(&pointer::join("", keyword), value).map(Some)
            }
            Some(_) => {
                self.ignore(keyword);
                Ok(None)
            }
        }
    }

    fn schemas(&mut self, keyword: &str) -> Result<Vec<NodeId>, CompileError> {
        let Some(values) = self.list(keyword) else { return Ok(Vec::new()) };
        let at = pointer::join("", keyword);
        values.iter().enumerate().map(|(index, value)| self.child(&format!("{at}/{index}"), value)).collect()
    }

    fn keyed(&mut self, keyword: &str) -> Result<Vec<(String, NodeId)>, CompileError> {
        let Some(members) = self.read(keyword, Value::as_object) else { return Ok(Vec::new()) };
        let at = pointer::join("", keyword);
        members
            .iter()
            .map(|(name, value)| Ok((name.clone(), self.child(&pointer::join(&at, name), value)?)))
            .collect()
    }
}

/// The name of the field that a schema describes: `…/properties/paths/items` is about `paths`.
fn field_name(at: &str) -> String {
    let steps = pointer::steps(at).unwrap_or_default();
    let named = (1..steps.len()).rev().find(|&index| steps[index - 1] == "properties");
    let Some(index) = named else { return String::new() };
    let belongs = steps[index + 1..].iter().all(|step| {
        matches!(
            step.as_str(),
            "items" | "anyOf" | "oneOf" | "allOf" | "prefixItems" | "additionalProperties"
        ) || step.bytes().all(|byte| byte.is_ascii_digit())
    });
    if belongs { steps[index].clone() } else { String::new() }
}

fn name_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
