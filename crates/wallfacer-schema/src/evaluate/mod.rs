//! Judges a value by a compiled schema. Our own evaluator rather than a library's, because making values asks for it on
//! parts of a schema, within a few hundred nanoseconds, and with a bound on its steps.

mod array;
mod marks;
mod object;
mod scalar;

use crate::{
    node::{Condition, Node, NodeId},
    pointer,
    violation::{Rule, Violation},
};
use marks::Marks;
use serde_json::Value;
use std::collections::HashMap;

/// Deepest chain of schemas followed; keeps the stack small. Deeper values are undecided.
const MAX_DEPTH: usize = 180;
/// Violations that are listed for one value.
const MAX_VIOLATIONS: usize = 200;
/// After so many steps answers are remembered: schemas that refer to the same place again and again would
/// otherwise double the work with each level, while ordinary ones end long before.
const STEPS_BEFORE_MEMORY: usize = 3_000;

/// Whether a value satisfies a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Valid,
    Invalid,
    /// Not to be told within the limits, or a pattern is in the way that we cannot read.
    Undecided,
}

pub(crate) struct Judge<'n> {
    nodes: &'n [Node],
    steps: usize,
    depth: usize,
    undecided: bool,
    listed: Option<Listed>,
    used: usize,
    /// By schema and address of the value, which stays in place while it is judged.
    memory: HashMap<(NodeId, *const Value), bool>,
}

#[derive(Default)]
struct Listed {
    path: Vec<String>,
    violations: Vec<Violation>,
}

impl<'n> Judge<'n> {
    pub(crate) fn new(nodes: &'n [Node], steps: usize) -> Judge<'n> {
        Judge { nodes, steps, depth: 0, undecided: false, listed: None, used: 0, memory: HashMap::new() }
    }

    /// Steps taken so far.
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    pub(crate) fn judge(&mut self, schema: NodeId, value: &Value) -> Judgement {
        self.memory.clear();
        let holds = self.holds(schema, value, None);
        self.judgement(holds)
    }

    /// Only the node's own keywords: what it combines, refers to or makes conditional is left out.
    pub(crate) fn judge_leaf(&mut self, schema: NodeId, value: &Value) -> Judgement {
        self.memory.clear();
        let node = schema.of(self.nodes);
        let holds = !node.never && self.leaf(node, value, None);
        self.judgement(holds)
    }

    /// Every violation that can be named, those inside failing branches included.
    pub(crate) fn violations(&mut self, schema: NodeId, value: &Value) -> Vec<Violation> {
        self.memory.clear();
        self.listed = Some(Listed::default());
        self.holds(schema, value, None);
        self.listed.take().map(|listed| listed.violations).unwrap_or_default()
    }

    fn judgement(&mut self, holds: bool) -> Judgement {
        match (std::mem::take(&mut self.undecided), holds) {
            (true, _) => Judgement::Undecided,
            (false, true) => Judgement::Valid,
            (false, false) => Judgement::Invalid,
        }
    }

    fn holds(&mut self, schema: NodeId, value: &Value, marks: Option<&mut Marks>) -> bool {
        if self.steps == 0 || self.depth >= MAX_DEPTH {
            self.undecided = true;
            return false;
        }
        let key = (schema, std::ptr::from_ref(value));
        // Marks and listed violations are effects that a remembered answer would leave out.
        let remembers = self.used > STEPS_BEFORE_MEMORY && marks.is_none();
        if remembers
            && let Some(&known) = self.memory.get(&key)
            && (known || !self.lists())
        {
            return known;
        }
        self.steps -= 1;
        self.used += 1;
        self.depth += 1;
        let holds = self.holds_here(schema, value, marks);
        self.depth -= 1;
        if remembers && !self.undecided {
            self.memory.insert(key, holds);
        }
        holds
    }

    /// Counts work that is not a schema of its own.
    fn spend(&mut self, steps: usize) {
        self.steps = self.steps.saturating_sub(steps);
        self.used = self.used.saturating_add(steps);
    }

    fn holds_here(&mut self, schema: NodeId, value: &Value, marks: Option<&mut Marks>) -> bool {
        let nodes = self.nodes;
        let node = schema.of(nodes);
        if node.never {
            return self.broken(Rule::False, || "nothing is allowed here".to_owned());
        }
        let rest = (
            node.object.as_ref().and_then(|rules| rules.unevaluated),
            node.array.as_ref().and_then(|rules| rules.unevaluated),
        );
        let mut own = (marks.is_some() || rest != (None, None)).then(|| Marks::of(value));
        let mut holds = self.leaf(node, value, own.as_mut());
        if holds || self.lists() {
            holds &= self.combined(node, value, own.as_mut());
        }
        if let Some(own) = &mut own {
            if holds || self.lists() {
                holds &= self.unevaluated(rest, value, own);
            }
            if let (true, Some(marks)) = (holds, marks) {
                marks.add(own);
            }
        }
        holds
    }

    fn leaf(&mut self, node: &Node, value: &Value, marks: Option<&mut Marks>) -> bool {
        let mut holds = self.scalar(node, value);
        if !holds && !self.lists() {
            return false;
        }
        match (value, &node.array, &node.object) {
            (Value::Array(items), Some(rules), _) => holds &= self.array(rules, items, marks),
            (Value::Object(members), _, Some(rules)) => holds &= self.object(rules, members, value, marks),
            _ => {}
        }
        holds
    }

    fn combined(&mut self, node: &Node, value: &Value, mut marks: Option<&mut Marks>) -> bool {
        let mut holds = true;
        for &schema in &node.all_of {
            holds &= self.holds(schema, value, marks.as_deref_mut());
            if !holds && !self.lists() {
                return false;
            }
        }
        if !node.any_of.is_empty() {
            holds &= self.any_of(&node.any_of, value, marks.as_deref_mut());
        }
        if (holds || self.lists()) && !node.one_of.is_empty() {
            holds &= self.one_of(&node.one_of, value, marks.as_deref_mut());
        }
        if let Some(schema) = node.not
            && (holds || self.lists())
            && self.quietly(|judge| judge.holds(schema, value, None))
        {
            holds = self.broken(Rule::Not, || "has the form that `not` forbids".to_owned());
        }
        if let Some(condition) = node.condition
            && (holds || self.lists())
        {
            holds &= self.condition(condition, value, marks);
        }
        holds
    }

    fn any_of(&mut self, branches: &[NodeId], value: &Value, mut marks: Option<&mut Marks>) -> bool {
        let mut found = false;
        let listed = self.mark_list();
        for &branch in branches {
            found |= self.holds(branch, value, marks.as_deref_mut());
            // With marks every branch counts, for each may evaluate more of the value.
            if found && marks.is_none() {
                break;
            }
        }
        if found {
            self.forget_since(listed);
            return true;
        }
        self.broken(Rule::AnyOf, || "matches no branch of `anyOf`".to_owned())
    }

    fn one_of(&mut self, branches: &[NodeId], value: &Value, mut marks: Option<&mut Marks>) -> bool {
        let mut found = 0;
        let listed = self.mark_list();
        for &branch in branches {
            found += usize::from(self.holds(branch, value, marks.as_deref_mut()));
            if found > 1 {
                break;
            }
        }
        match found {
            1 => {
                self.forget_since(listed);
                true
            }
            0 => self.broken(Rule::OneOf, || "matches no branch of `oneOf`".to_owned()),
            _ => {
                self.forget_since(listed);
                self.broken(Rule::OneOf, || "matches more than one branch of `oneOf`".to_owned())
            }
        }
    }

    fn condition(&mut self, condition: Condition, value: &Value, mut marks: Option<&mut Marks>) -> bool {
        let applies = self.quietly(|judge| judge.holds(condition.test, value, marks.as_deref_mut()));
        let branch = if applies { condition.then } else { condition.otherwise };
        branch.is_none_or(|branch| self.holds(branch, value, marks))
    }

    fn unevaluated(
        &mut self,
        (properties, items): (Option<NodeId>, Option<NodeId>),
        value: &Value,
        marks: &mut Marks,
    ) -> bool {
        let mut holds = true;
        match (value, properties, items) {
            (Value::Object(members), Some(schema), _) => {
                for (index, (name, member)) in members.iter().enumerate() {
                    if !marks.has(index) {
                        marks.mark(index);
                        holds &= self.inside(name, |judge| {
                            judge.holds(schema, member, None)
                                || judge
                                    .broken(Rule::UnevaluatedProperties, || "is an unknown key".to_owned())
                        });
                    }
                }
            }
            (Value::Array(members), _, Some(schema)) => {
                for (index, member) in members.iter().enumerate() {
                    if !marks.has(index) {
                        marks.mark(index);
                        holds &= self.inside_item(index, |judge| {
                            judge.holds(schema, member, None)
                                || judge.broken(Rule::UnevaluatedItems, || "is an item too many".to_owned())
                        });
                    }
                }
            }
            _ => {}
        }
        holds
    }

    fn lists(&self) -> bool {
        self.listed.as_ref().is_some_and(|listed| listed.violations.len() < MAX_VIOLATIONS)
    }

    fn broken(&mut self, rule: Rule, message: impl FnOnce() -> String) -> bool {
        if let Some(listed) = &mut self.listed
            && listed.violations.len() < MAX_VIOLATIONS
        {
            let at = listed.path.iter().fold(String::new(), |at, step| pointer::join(&at, step));
            listed.violations.push(Violation { at, rule, message: message() });
        }
        false
    }

    fn mark_list(&self) -> usize {
        self.listed.as_ref().map_or(0, |listed| listed.violations.len())
    }

    /// A branch that failed is no violation once another one holds.
    fn forget_since(&mut self, mark: usize) {
        if let Some(listed) = &mut self.listed {
            listed.violations.truncate(mark);
        }
    }

    /// Without listing: a test that fails is no violation.
    fn quietly<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let listed = self.listed.take();
        let answer = ask(self);
        self.listed = listed;
        answer
    }

    fn inside<T>(&mut self, step: &str, ask: impl FnOnce(&mut Self) -> T) -> T {
        if let Some(listed) = &mut self.listed {
            listed.path.push(step.to_owned());
        }
        let answer = ask(self);
        if let Some(listed) = &mut self.listed {
            listed.path.pop();
        }
        answer
    }

    fn inside_item<T>(&mut self, index: usize, ask: impl FnOnce(&mut Self) -> T) -> T {
        if self.lists() { self.inside(&index.to_string(), ask) } else { ask(self) }
    }
}
