//! One demand on a value. A goal is a set of them.

use crate::node::NodeId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Item {
    /// Negations are taken apart beforehand instead of tested afterwards. Slower and narrower, but it finds
    /// values where guessing does not.
    Hard,
    /// The whole schema.
    Must(NodeId),
    /// The schema's own keywords only; what it combines stands in the goal as demands of its own.
    Leaf(NodeId),
    /// The schema must fail.
    Not(NodeId),
    /// This part of the schema must fail.
    Break(NodeId, Part),
    /// Still to be chosen: a branch of `anyOf`, of `oneOf`, of `if`, or whether a dependency's key is there.
    AnyOf(NodeId),
    OneOf(NodeId),
    If(NodeId),
    Depends(NodeId, u32),
    /// The key of the numbered `dependentSchemas` entry is absent, or present.
    Lacks(NodeId, u32),
    Has(NodeId, u32),
    /// To be tested on the finished value.
    Verify(NodeId),
    VerifyNot(NodeId),
}

/// The part of a schema that is to fail. Those with a direct opposite have an entry of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Part {
    Type,
    Listed,
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
    MultipleOf,
    MinLength,
    MaxLength,
    Text,
    MinItems,
    MaxItems,
    Items,
    Prefix(u32),
    Unique,
    OtherArray,
    MinProperties,
    MaxProperties,
    Required(u32),
    Property(u32),
    Additional,
    OtherObject,
}
