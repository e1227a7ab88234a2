//! Indexes a JSON document by its schema resources: what has an identifier, an anchor, a base URI, a draft. References
//! are looked up here and nowhere else, and only within the document.

pub(crate) mod draft;
pub(crate) mod subschemas;
mod uri;

use crate::{error::CompileError, pointer};
use draft::Draft;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A schema within the document: its text, where it stands, and the resource it belongs to.
#[derive(Clone, Debug)]
pub(crate) struct Location<'d> {
    pub value: &'d Value,
    pub at: String,
    pub resource: usize,
}

#[derive(Debug)]
pub(crate) struct Resource<'d> {
    uri: String,
    root: Location<'d>,
    pub draft: Draft,
    anchors: BTreeMap<String, Location<'d>>,
    dynamic: BTreeSet<String>,
    recursive: bool,
}

#[derive(Debug)]
pub(crate) struct Document<'d> {
    pub resources: Vec<Resource<'d>>,
    by_uri: BTreeMap<String, usize>,
    /// Addresses of the values that open a resource, to know the base when a pointer passes through one.
    roots: HashMap<*const Value, usize>,
    /// Whether any reference depends on the path by which it was reached.
    pub is_dynamic: bool,
}

impl<'d> Document<'d> {
    pub(crate) fn index(root: &'d Value) -> Document<'d> {
        let mut document = Document {
            resources: Vec::new(),
            by_uri: BTreeMap::new(),
            roots: HashMap::new(),
            is_dynamic: false,
        };
        let draft = declared_draft(root).unwrap_or(Draft::Twenty);
        document.open("", Location { value: root, at: String::new(), resource: 0 }, draft);
        let mut waiting = vec![Location { value: root, at: String::new(), resource: 0 }];
        while let Some(location) = waiting.pop() {
            let resource = document.enter(&location);
            let children = subschemas::of(location.value);
            waiting.extend(children.into_iter().map(|(path, value)| Location {
                value,
                at: format!("{}{path}", location.at),
                resource,
            }));
        }
        document
    }

    pub(crate) fn root(&self) -> &Location<'d> {
        &self.resources[0].root
    }

    /// Where a reference written in `from` leads.
    pub(crate) fn find(&self, from: &Location<'d>, reference: &str) -> Result<Location<'d>, CompileError> {
        let (before, fragment) = uri::split_fragment(reference);
        let resource = if before.is_empty() {
            from.resource
        } else {
            let target = uri::resolve(&self.resources[from.resource].uri, before);
            *self.by_uri.get(&target).ok_or_else(|| CompileError::Remote {
                at: format!("#{}", from.at),
                reference: reference.to_owned(),
            })?
        };
        let found = match fragment.as_str() {
            "" => Some(self.resources[resource].root.clone()),
            path if path.starts_with('/') => self.follow(resource, path),
            name => self.resources[resource].anchors.get(name).cloned(),
        };
        found.ok_or_else(|| CompileError::Dangling {
            at: format!("#{}", from.at),
            reference: reference.to_owned(),
        })
    }

    /// A dynamic reference goes to the outermost resource of the scope that has the same dynamic anchor.
    pub(crate) fn find_dynamic(
        &self,
        from: &Location<'d>,
        reference: &str,
        scope: &[usize],
    ) -> Result<Location<'d>, CompileError> {
        let start = self.find(from, reference)?;
        let (_, anchor) = uri::split_fragment(reference);
        if !self.resources[start.resource].dynamic.contains(&anchor) {
            return Ok(start);
        }
        let outermost = scope.iter().find(|&&resource| self.resources[resource].dynamic.contains(&anchor));
        Ok(outermost.map_or(start, |&resource| self.resources[resource].anchors[&anchor].clone()))
    }

    /// The 2019-09 form: `$recursiveRef: "#"` with `$recursiveAnchor: true`.
    pub(crate) fn find_recursive(
        &self,
        from: &Location<'d>,
        scope: &[usize],
    ) -> Result<Location<'d>, CompileError> {
        let start = self.find(from, "#")?;
        if !self.resources[start.resource].recursive {
            return Ok(start);
        }
        let outermost = scope.iter().find(|&&resource| self.resources[resource].recursive);
        Ok(outermost.map_or(start, |&resource| self.resources[resource].root.clone()))
    }

    /// The resource that a value belongs to when it is reached from `current`.
    pub(crate) fn resource_of(&self, value: &Value, current: usize) -> usize {
        self.roots.get(&std::ptr::from_ref(value)).copied().unwrap_or(current)
    }

    fn follow(&self, resource: usize, path: &str) -> Option<Location<'d>> {
        let mut location = self.resources[resource].root.clone();
        for step in pointer::steps(path)? {
            location.value = pointer::descend(location.value, &step)?;
            location.at = pointer::join(&location.at, &step);
            location.resource = self.resource_of(location.value, location.resource);
        }
        Some(location)
    }

    fn open(&mut self, uri: &str, location: Location<'d>, draft: Draft) -> usize {
        let number = self.resources.len();
        let root = Location { resource: number, ..location };
        self.roots.insert(std::ptr::from_ref(root.value), number);
        self.by_uri.entry(uri.to_owned()).or_insert(number);
        self.resources.push(Resource {
            uri: uri.to_owned(),
            root,
            draft,
            anchors: BTreeMap::new(),
            dynamic: BTreeSet::new(),
            recursive: false,
        });
        number
    }

    /// Notes identifier and anchors of one schema object; the resource that holds below it comes back.
    fn enter(&mut self, location: &Location<'d>) -> usize {
        let Value::Object(keywords) = location.value else { return location.resource };
        let outer = location.resource;
        let draft = declared_draft(location.value).unwrap_or(self.resources[outer].draft);
        let alone = draft.reference_stands_alone() && keywords.contains_key("$ref");
        let id = keywords.get(draft.id_keyword()).and_then(Value::as_str).filter(|_| !alone);
        let mut resource = outer;
        if let Some(id) = id {
            let (before, fragment) = uri::split_fragment(id);
            if !before.is_empty() {
                resource = self.identify(location, before, draft);
            }
            if draft.has_hash_anchors() && !fragment.is_empty() && !fragment.starts_with('/') {
                self.anchor(resource, &fragment, location);
            }
        }
        if draft >= Draft::Nineteen {
            self.note_anchors(resource, location, keywords);
        }
        resource
    }

    fn identify(&mut self, location: &Location<'d>, id: &str, draft: Draft) -> usize {
        let uri = uri::resolve(&self.resources[location.resource].uri, id);
        if location.at.is_empty() {
            // The root keeps answering to the empty URI too.
            self.by_uri.insert(uri.clone(), 0);
            self.resources[0].uri = uri;
            return 0;
        }
        self.open(&uri, location.clone(), draft)
    }

    fn note_anchors(
        &mut self,
        resource: usize,
        location: &Location<'d>,
        keywords: &serde_json::Map<String, Value>,
    ) {
        if let Some(name) = keywords.get("$anchor").and_then(Value::as_str) {
            self.anchor(resource, name, location);
        }
        if let Some(name) = keywords.get("$dynamicAnchor").and_then(Value::as_str) {
            self.anchor(resource, name, location);
            self.resources[resource].dynamic.insert(name.to_owned());
        }
        if keywords.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.resources[resource].recursive = true;
        }
        self.is_dynamic |= keywords.contains_key("$dynamicRef") || keywords.contains_key("$recursiveRef");
    }

    fn anchor(&mut self, resource: usize, name: &str, location: &Location<'d>) {
        let location = Location { resource, ..location.clone() };
        self.resources[resource].anchors.entry(name.to_owned()).or_insert(location);
    }
}

fn declared_draft(value: &Value) -> Option<Draft> {
    value.get("$schema").and_then(Value::as_str).and_then(Draft::of_uri)
}
