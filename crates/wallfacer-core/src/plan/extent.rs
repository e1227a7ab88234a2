//! Measures how large and how deep a request is.

use serde_json::{Map, Value};

use super::case::Case;

/// A request as large or as deep as this may be beyond what the server reads at all, whatever it asks for.
pub const LARGE: usize = 512 << 10;
pub const DEEP: usize = 64;

/// Whether a request may be too much for a server, whatever it asks for.
pub fn is_extreme(case: &Case) -> bool {
    case.single_call().is_some_and(|(_, params)| depth(params) >= DEEP || params_size(params) >= LARGE)
}

/// Bytes of the parameters as they are sent.
pub fn params_size(params: &Map<String, Value>) -> usize {
    serde_json::to_vec(params).map_or(0, |text| text.len())
}

/// Levels that the parameters are nested, without recursion.
pub fn depth(params: &Map<String, Value>) -> usize {
    let mut deepest = 0;
    let mut open: Vec<(usize, &Value)> = params.values().map(|value| (1, value)).collect();
    while let Some((level, value)) = open.pop() {
        deepest = deepest.max(level);
        match value {
            Value::Array(items) => open.extend(items.iter().map(|item| (level + 1, item))),
            Value::Object(members) => open.extend(members.values().map(|member| (level + 1, member))),
            _ => {}
        }
    }
    deepest
}
