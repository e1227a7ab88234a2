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
        if marks[start] != Mark::New {
            continue;
        }
        marks[start] = Mark::Open;
        // An explicit stack, because a hostile chain can be as long as the table.
        let mut stack = vec![(start, in_place(&nodes[start]).into_iter())];
        while let Some((index, children)) = stack.last_mut() {
            let Some(child) = children.next().map(|child| child.0 as usize) else {
                marks[*index] = Mark::Done;
                stack.pop();
                continue;
            };
            match marks[child] {
                Mark::Open => return Err(CompileError::Circular { at: format!("#{}", nodes[child].at) }),
                Mark::New => {
                    marks[child] = Mark::Open;
                    stack.push((child, in_place(&nodes[child]).into_iter()));
                }
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
