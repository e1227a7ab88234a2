//! Finds, for each node, how flat a value can be at the least. Recursive schemas end by steering to flat branches;
//! a node without any finite value is unsatisfiable.

use crate::node::{Node, NodeId};
use crate::types::Types;

const NO_VALUE: u32 = u32::MAX;

/// Heights rise from `NO_VALUE` down to their true figure, one level of nesting each round;
/// what is still open after `depth` rounds is too deep to be made anyway.
pub(super) fn measure(nodes: &mut [Node], depth: usize) {
    for node in nodes.iter_mut() {
        node.height = NO_VALUE;
    }
    // In-place chains settle within a round only if visited in the right order, hence a few rounds per level.
    const ROUNDS_PER_LEVEL: usize = 4;
    for _ in 0..depth.saturating_mul(ROUNDS_PER_LEVEL) {
        let mut changed = false;
        for index in (0..nodes.len()).rev() {
            let height = height_of(&nodes[index], nodes);
            changed |= height != nodes[index].height;
            nodes[index].height = height;
        }
        if !changed {
            break;
        }
    }
}

fn height_of(node: &Node, nodes: &[Node]) -> u32 {
    if node.never {
        return NO_VALUE;
    }
    let height = |id: &NodeId| id.of(nodes).height;
    let mut least = 0;
    for group in [&node.any_of, &node.one_of] {
        least = least.max(group.iter().map(height).min().unwrap_or(0));
    }
    least = least.max(node.all_of.iter().map(height).max().unwrap_or(0));
    least.max(own_height(node, &height))
}

/// The nesting that the node's own type demands; a choice of types takes the flattest.
fn own_height(node: &Node, height: &dyn Fn(&NodeId) -> u32) -> u32 {
    let containers = Types::ARRAY.or(Types::OBJECT);
    if node.constant.is_some() || node.members.is_some() || node.types.meets(containers.complement()) {
        return 0;
    }
    let array = node.types.meets(Types::ARRAY).then(|| array_height(node, height));
    let object = node.types.meets(Types::OBJECT).then(|| object_height(node, height));
    array.into_iter().chain(object).min().unwrap_or(NO_VALUE)
}

fn array_height(node: &Node, height: &dyn Fn(&NodeId) -> u32) -> u32 {
    let Some(rules) = &node.array else { return 0 };
    let needed = rules.min_items.unwrap_or(0);
    let prefix = rules.prefix.iter().take(needed).map(height).max().unwrap_or(0);
    let rest = match rules.items {
        Some(items) if needed > rules.prefix.len() => height(&items),
        _ => 0,
    };
    nested(needed, prefix.max(rest))
}

fn object_height(node: &Node, height: &dyn Fn(&NodeId) -> u32) -> u32 {
    let Some(rules) = &node.object else { return 0 };
    let members = rules.required.iter().filter_map(|name| rules.properties.get(name));
    nested(rules.required.len(), members.map(height).max().unwrap_or(0))
}

fn nested(count: usize, tallest: u32) -> u32 {
    if count == 0 { 0 } else { tallest.saturating_add(1) }
}
