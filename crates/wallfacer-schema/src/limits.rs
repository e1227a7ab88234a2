//! What a hostile schema may cost. Everything that loops, grows or recurses stops at one of these.

/// Bounds on work and size; [`Limits::default`] suits tool schemas and payloads of up to a mebibyte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Subschemas a document may have, those reached by reference counted once per dynamic scope.
    pub subschemas: usize,
    /// Longest string made, in characters; a schema that demands a longer one is refused.
    pub string: usize,
    /// Most items of an array or keys of an object; a schema that demands more is refused.
    pub items: usize,
    /// Most JSON values inside one generated value.
    pub nodes: usize,
    /// Most bytes of text inside one generated value, the names of its keys included; a schema that demands more is refused.
    pub text: usize,
    /// Deepest nesting of a generated value. Each level takes some stack: far above the default, give the thread more.
    pub depth: usize,
    /// How often one place is tried again before it is given up.
    pub tries: usize,
    /// Steps that making one value may take, failed tries included.
    pub steps: usize,
    /// Steps that judging one value may take.
    pub judge_steps: usize,
    /// Combinations of subschemas that are worked out and remembered.
    pub plans: usize,
    /// Entries of a boundary, invalid or adversarial list.
    pub variants: usize,
    /// Candidates that a shrinker proposes.
    pub shrinks: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            subschemas: 20_000,
            string: 1 << 20,
            items: 10_000,
            nodes: 20_000,
            text: 4 << 20,
            depth: 64,
            tries: 48,
            steps: 60_000,
            judge_steps: 500_000,
            plans: 5_000,
            variants: 2_000,
            shrinks: 2_000,
        }
    }
}
