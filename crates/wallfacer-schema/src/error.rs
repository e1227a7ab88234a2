//! Why a schema could not be read, and why no value could be made. Both name the place in the schema.

/// A document that is no schema we may or can work with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    #[error("a schema is an object or a boolean, not {found}")]
    NotASchema { found: &'static str },
    #[error("{at}: `{reference}` lies outside this document and is never fetched")]
    Remote { at: String, reference: String },
    #[error("{at}: `{reference}` leads nowhere in this document")]
    Dangling { at: String, reference: String },
    #[error("{at}: the schema refers to itself without descending into the value")]
    Circular { at: String },
    #[error("the schema has more than {limit} subschemas")]
    TooManySubschemas { limit: usize },
}

/// Why there is no value. `at` is a JSON pointer into the schema, `#` its root.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unable {
    /// Proven: no value satisfies the schema.
    #[error("unsatisfiable at {at}: {why}")]
    Unsatisfiable { at: String, why: String },
    /// Values may exist, but each would break one of the [`crate::Limits`].
    #[error("too large at {at}: {why}")]
    TooLarge { at: String, why: String },
    /// Values may exist, but none was found.
    #[error("unsupported at {at}: {keyword}: {why}")]
    Unsupported { at: String, keyword: &'static str, why: String },
}

impl Unable {
    pub(crate) fn unsatisfiable(at: &str, why: impl Into<String>) -> Self {
        Unable::Unsatisfiable { at: place(at), why: why.into() }
    }

    pub(crate) fn too_large(at: &str, why: impl Into<String>) -> Self {
        Unable::TooLarge { at: place(at), why: why.into() }
    }

    pub(crate) fn unsupported(at: &str, keyword: &'static str, why: impl Into<String>) -> Self {
        Unable::Unsupported { at: place(at), keyword, why: why.into() }
    }
}

fn place(at: &str) -> String {
    format!("#{at}")
}
