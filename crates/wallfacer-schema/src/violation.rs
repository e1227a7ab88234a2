//! One way in which a value breaks a schema: where, which rule, and in words.

use std::fmt;

/// The keyword that is broken, or what is as good as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Rule {
    False,
    Type,
    Enum,
    Const,
    Minimum,
    Maximum,
    ExclusiveMinimum,
    ExclusiveMaximum,
    MultipleOf,
    MinLength,
    MaxLength,
    Pattern,
    Format,
    MinItems,
    MaxItems,
    UniqueItems,
    Contains,
    MaxContains,
    UnevaluatedItems,
    Required,
    AdditionalProperties,
    PropertyNames,
    MinProperties,
    MaxProperties,
    DependentRequired,
    UnevaluatedProperties,
    AnyOf,
    OneOf,
    Not,
}

/// `at` is a JSON pointer into the value; the empty one is the value as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Violation {
    pub at: String,
    pub rule: Rule,
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = if self.at.is_empty() { "(root)" } else { &self.at };
        write!(formatter, "{at}: {}", self.message)
    }
}
