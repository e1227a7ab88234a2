//! The kinds of assertion: the name of each, the version that brought it, and its keys.

use super::fields::Keys;

#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) since: u32,
    pub(super) keys: Keys,
}

macro_rules! kinds {
    ($($name:literal $since:literal $what:literal [$($key:literal)*])*) => {
        pub(super) const KINDS: &[Kind] = &[
            $(Kind { name: $name, since: $since, keys: Keys { what: $what, names: &[("kind", 1), $(($key, 1)),*] } }),*
        ];
    };
}

kinds! {
    "equals" 1 "`equals`" ["lhs" "rhs"]
    "not_equals" 1 "`not_equals`" ["lhs" "rhs"]
    "at_most" 1 "`at_most`" ["path" "value"]
    "at_least" 1 "`at_least`" ["path" "value"]
    "length_eq" 1 "`length_eq`" ["path" "value"]
    "length_at_most" 1 "`length_at_most`" ["path" "value"]
    "length_at_least" 1 "`length_at_least`" ["path" "value"]
    "is_type" 1 "`is_type`" ["path" "type"]
    "matches_regex" 1 "`matches_regex`" ["path" "pattern"]
    "matches_schema" 1 "`matches_schema`" ["path" "schema"]
    "all_of" 1 "`all_of`" ["assert"]
    "any_of" 1 "`any_of`" ["assert"]
    "not" 1 "`not`" ["assertion"]
    "for_each" 1 "`for_each`" ["path" "assert"]
    "exists" 4 "`exists`" ["path"]
    "absent" 4 "`absent`" ["path"]
    "contains" 4 "`contains`" ["path" "value"]
    "one_of" 4 "`one_of`" ["path" "values"]
    "unique" 4 "`unique`" ["path" "by"]
    "sorted" 4 "`sorted`" ["path" "by" "order"]
    "less_than" 4 "`less_than`" ["path" "value"]
    "greater_than" 4 "`greater_than`" ["path" "value"]
    "latency_below" 4 "`latency_below`" ["value"]
    "parses_as_json" 4 "`parses_as_json`" ["path" "assert"]
    "same_as" 4 "`same_as`" ["path" "step" "other" "ignore"]
    "expr" 4 "`expr`" ["expr"]
}
