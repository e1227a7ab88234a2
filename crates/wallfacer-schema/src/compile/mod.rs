//! Compiles a [`Document`] into a table of [`Node`]s. A node stands for one place of the document seen through one
//! dynamic scope, so that after this step every reference is a plain number.

mod circles;
mod heights;
mod keywords;

use crate::{
    document::{Document, Location},
    error::CompileError,
    limits::Limits,
    node::{Node, NodeId},
    pattern::Pattern,
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    sync::Arc,
};

/// A keyword that was written in a way no draft knows, and therefore left out of account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// JSON pointer to the schema that has the keyword.
    pub at: String,
    /// Empty when the place itself holds no schema.
    pub keyword: String,
}

pub(crate) struct Compiled {
    pub nodes: Vec<Node>,
    pub ignored: Vec<Ignored>,
}

/// The node of the whole document.
pub(crate) const ROOT: NodeId = NodeId(0);

pub(crate) fn compile(document: &Value, limits: &Limits) -> Result<Compiled, CompileError> {
    let document = Document::index(document);
    let mut compiler = Compiler::new(&document, limits);
    let root = document.root().clone();
    let scope = compiler.extend_scope(0, root.resource);
    compiler.node_at(&root, scope)?;
    while let Some((id, location, scope)) = compiler.waiting.pop_front() {
        let node = keywords::read(&mut compiler, &location, scope)?;
        compiler.nodes[id.0 as usize] = node;
    }
    let mut nodes = compiler.nodes;
    circles::refuse(&nodes)?;
    heights::measure(&mut nodes, limits.depth);
    Ok(Compiled { nodes, ignored: compiler.ignored })
}

pub(crate) struct Compiler<'c, 'd> {
    pub document: &'c Document<'d>,
    pub ignored: Vec<Ignored>,
    limits: &'c Limits,
    nodes: Vec<Node>,
    known: HashMap<(*const Value, usize), NodeId>,
    waiting: VecDeque<(NodeId, Location<'d>, usize)>,
    /// Dynamic scopes met so far: resources from the outermost in; number 0 is the empty one.
    scopes: Vec<Vec<usize>>,
    scope_numbers: BTreeMap<Vec<usize>, usize>,
    patterns: BTreeMap<String, Arc<Pattern>>,
}

impl<'c, 'd> Compiler<'c, 'd> {
    fn new(document: &'c Document<'d>, limits: &'c Limits) -> Self {
        Compiler {
            document,
            ignored: Vec::new(),
            limits,
            nodes: Vec::new(),
            known: HashMap::new(),
            waiting: VecDeque::new(),
            scopes: vec![Vec::new()],
            scope_numbers: BTreeMap::from([(Vec::new(), 0)]),
            patterns: BTreeMap::new(),
        }
    }

    pub(crate) fn scope(&self, number: usize) -> &[usize] {
        &self.scopes[number]
    }

    /// Each expression is compiled once, however often it is written.
    pub(crate) fn pattern(&mut self, text: &str) -> Arc<Pattern> {
        if let Some(known) = self.patterns.get(text) {
            return Arc::clone(known);
        }
        let pattern = Arc::new(Pattern::parse(text, self.patterns.len()));
        self.patterns.insert(text.to_owned(), Arc::clone(&pattern));
        pattern
    }

    /// The node for a place, made and queued when it is new.
    pub(crate) fn node_at(&mut self, location: &Location<'d>, scope: usize) -> Result<NodeId, CompileError> {
        let scope = self.extend_scope(scope, location.resource);
        let key = (std::ptr::from_ref(location.value), scope);
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        if self.nodes.len() >= self.limits.subschemas {
            return Err(CompileError::TooManySubschemas { limit: self.limits.subschemas });
        }
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(Node::default());
        self.known.insert(key, id);
        self.waiting.push_back((id, location.clone(), scope));
        Ok(id)
    }

    /// A resource joins the scope once, where it was first entered.
    /// Without dynamic references all scopes are one, so that no place is compiled twice.
    fn extend_scope(&mut self, scope: usize, resource: usize) -> usize {
        if !self.document.is_dynamic || self.scopes[scope].contains(&resource) {
            return scope;
        }
        let mut longer = self.scopes[scope].clone();
        longer.push(resource);
        let next = self.scopes.len();
        let number = *self.scope_numbers.entry(longer.clone()).or_insert(next);
        if number == next {
            self.scopes.push(longer);
        }
        number
    }
}
