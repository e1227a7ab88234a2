//! The compiled form of one schema object: keywords read once, references turned into numbers.

use crate::{format::Format, pattern::Pattern, types::Types};
use indexmap::IndexMap;
use serde_json::{Number, Value};
use std::sync::Arc;
use wallfacer_text::lexicon::FieldKind;

/// A place in the table of compiled schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(pub u32);

impl NodeId {
    pub(crate) fn of(self, nodes: &[Node]) -> &Node {
        &nodes[self.0 as usize]
    }
}

/// Absent parts constrain nothing.
#[derive(Debug, Default)]
pub(crate) struct Node {
    /// JSON pointer into the document.
    pub at: Box<str>,
    /// The schema `false`.
    pub never: bool,
    pub types: Types,
    pub constant: Option<Value>,
    pub members: Option<Vec<Value>>,
    pub number: Option<Box<NumberRules>>,
    pub string: Option<Box<StringRules>>,
    pub array: Option<Box<ArrayRules>>,
    pub object: Option<Box<ObjectRules>>,
    /// `allOf`, and all kinds of reference: each must hold.
    pub all_of: Vec<NodeId>,
    pub any_of: Vec<NodeId>,
    pub one_of: Vec<NodeId>,
    pub not: Option<NodeId>,
    pub condition: Option<Condition>,
    pub hints: Hints,
    /// Nesting of the flattest value that can satisfy this; `u32::MAX` when there is none.
    pub height: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Condition {
    pub test: NodeId,
    pub then: Option<NodeId>,
    pub otherwise: Option<NodeId>,
}

#[derive(Debug, Default)]
pub(crate) struct NumberRules {
    pub minimum: Option<Number>,
    pub maximum: Option<Number>,
    pub exclusive_minimum: Option<Number>,
    pub exclusive_maximum: Option<Number>,
    pub multiple_of: Option<Number>,
}

#[derive(Debug, Default)]
pub(crate) struct StringRules {
    pub min_length: Option<usize>,
    pub max_length: Option<usize>,
    pub pattern: Option<Arc<Pattern>>,
    pub format: Option<Format>,
    pub content: Option<Format>,
}

impl StringRules {
    pub(crate) fn formats(&self) -> impl Iterator<Item = Format> {
        self.format.into_iter().chain(self.content)
    }
}

#[derive(Debug, Default)]
pub(crate) struct ArrayRules {
    pub prefix: Vec<NodeId>,
    pub items: Option<NodeId>,
    pub contains: Option<Contains>,
    pub min_items: Option<usize>,
    pub max_items: Option<usize>,
    pub unique: bool,
    pub unevaluated: Option<NodeId>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Contains {
    pub schema: NodeId,
    pub min: usize,
    pub max: Option<usize>,
    /// From 2020-12 on a matching item counts as evaluated.
    pub marks: bool,
}

#[derive(Debug, Default)]
pub(crate) struct ObjectRules {
    pub properties: IndexMap<String, NodeId>,
    pub patterns: Vec<(Arc<Pattern>, NodeId)>,
    pub additional: Option<NodeId>,
    pub names: Option<NodeId>,
    pub required: Vec<String>,
    pub min_properties: Option<usize>,
    pub max_properties: Option<usize>,
    pub dependent_required: Vec<(String, Vec<String>)>,
    pub dependent_schemas: Vec<(String, NodeId)>,
    pub unevaluated: Option<NodeId>,
}

/// What the author of the schema lets us guess.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    pub samples: Vec<Value>,
    pub kind: Option<FieldKind>,
}

impl Node {
    /// Whether this schema accepts everything.
    pub(crate) fn is_open(&self) -> bool {
        !self.never
            && self.types == Types::ANY
            && self.constant.is_none()
            && self.members.is_none()
            && self.number.is_none()
            && self.string.is_none()
            && self.array.is_none()
            && self.object.is_none()
            && self.all_of.is_empty()
            && self.any_of.is_empty()
            && self.one_of.is_empty()
            && self.not.is_none()
            && self.condition.is_none()
    }
}
