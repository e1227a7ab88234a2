//! The kinds of assertion: the name of each, the version that brought it, and its keys.

use super::fields::Keys;

#[derive(Debug, Clone, Copy)]
pub(super) struct AssertionKind {
    pub(super) name: &'static str,
    pub(super) since: u32,
    pub(super) keys: Keys,
}

macro_rules! kinds {
    ($($name:literal $since:literal [$($key:literal)*] $([4: $($later:literal)*])?)*) => {
        pub(super) const KINDS: &[AssertionKind] = &[
            $(AssertionKind {
                name: $name,
                since: $since,
                keys: Keys { what: concat!("`", $name, "`"), names: &[("kind", 1), $(($key, 1),)* $($(($later, 4)),*)?] },
            }),*
        ];
    };
}

kinds! {
    "equals" 1 ["lhs" "rhs"]
    "not_equals" 1 ["lhs" "rhs"]
    "at_most" 1 ["path" "value"]
    "at_least" 1 ["path" "value"]
    "length_eq" 1 ["path" "value"]
    "length_at_most" 1 ["path" "value"]
    "length_at_least" 1 ["path" "value"]
    "is_type" 1 ["path" "type"]
    "matches_regex" 1 ["path" "pattern"] [4: "except"]
    "matches_schema" 1 ["path" "schema"]
    "all_of" 1 ["assert"]
    "any_of" 1 ["assert"]
    "not" 1 ["assertion"]
    "for_each" 1 ["path" "assert"]
    "exists" 4 ["path"]
    "absent" 4 ["path"]
    "contains" 4 ["path" "value"]
    "one_of" 4 ["path" "values"]
    "unique" 4 ["path" "by"]
    "sorted" 4 ["path" "by" "order"]
    "less_than" 4 ["path" "value"]
    "greater_than" 4 ["path" "value"]
    "latency_below" 4 ["value"]
    "parses_as_json" 4 ["path" "assert"]
    "same_as" 4 ["path" "step" "other" "ignore"]
    "expr" 4 ["expr"]
}
