//! Refuses schemas that refer to themselves while staying at the same value: `{"$ref": "#"}` says nothing
//! and would be followed for ever.

use crate::{
    error::CompileError,
    node::{Node, NodeId},
};

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

pub(super) fn refuse(nodes: &[Node]) -> Result<(), CompileError> {
    let mut marks = vec![Mark::New; nodes.len()];
    for start in 0..nodes.len() {
        // An explicit stack, because a hostile chain can be as long as the table.
        let mut stack = vec![(start, 0)];
        while let Some((index, next)) = stack.pop() {
            let children = in_place(&nodes[index]);
            if next == 0 {
                if marks[index] == Mark::Done {
                    continue;
                }
                marks[index] = Mark::Open;
            }
            let Some(child) = children.get(next).map(|child| child.0 as usize) else {
                marks[index] = Mark::Done;
                continue;
            };
            stack.push((index, next + 1));
            match marks[child] {
                Mark::Open => return Err(CompileError::Circular { at: format!("#{}", nodes[child].at) }),
                Mark::New => stack.push((child, 0)),
                Mark::Done => {}
            }
        }
    }
    Ok(())
}

/// The schemas that a node applies to the same value.
fn in_place(node: &Node) -> Vec<NodeId> {
    let mut children = [&node.all_of[..], &node.any_of, &node.one_of].concat();
    children.extend(node.not);
    if let Some(condition) = &node.condition {
        children.push(condition.test);
        children.extend(condition.then);
        children.extend(condition.otherwise);
    }
    if let Some(object) = &node.object {
        children.extend(object.dependent_schemas.iter().map(|(_, schema)| *schema));
    }
    children
}
