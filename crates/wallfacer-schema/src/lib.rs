//! Makes values from a JSON Schema: valid, on the boundary, invalid in one named way, adversarial; and shrinks them.
//!
//! ```
//! use serde_json::json;
//! use wallfacer_schema::{Choices, Judgement, Pool, Schema};
//!
//! let schema = Schema::compile(&json!({
//!     "type": "object",
//!     "required": ["path"],
//!     "properties": {"path": {"type": "string"}, "limit": {"type": "integer", "maximum": 100}}
//! }))?;
//! let pool = Pool::new();
//!
//! let mut choices = Choices::seeded(42);
//! let value = schema.valid(&mut choices, &pool)?;
//! assert_eq!(schema.judge(&value), Judgement::Valid);
//! assert_eq!(schema.valid(&mut Choices::replay(choices.recorded()), &pool)?, value);
//!
//! let invalid = schema.invalid(&pool)?;
//! assert!(invalid.iter().any(|made| made.violation.to_string() == "/limit: above maximum 100"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The path of the data, one folder or file each:
//!
//! | step | in → out |
//! |---|---|
//! | `document` | JSON → resources, anchors, drafts; references are looked up here, never fetched |
//! | `compile` | document → table of nodes, in which a reference is a number |
//! | `evaluate` | node and value → judgement, violations |
//! | `plan` | demands on one value → a choice, a shape, or the proof that there is none |
//! | `generate` | plan and choices → value |
//! | `variants` | schema → boundary, invalid and adversarial lists |
//! | `shrink` | value → simpler values |
//! | `pattern`, `format`, `field` | what strings look like: by expression, by format, by the name of the field |
//!
//! There is no I/O, no clock and no other randomness than [`Choices`]. Whatever a schema asks for ends at the
//! [`Limits`], with an error that names the place.

mod choices;
mod compile;
mod document;
mod error;
mod evaluate;
mod field;
mod format;
mod generate;
mod limits;
mod node;
mod number;
mod pattern;
mod plan;
pub mod pointer;
mod pool;
mod schema;
mod shrink;
mod types;
mod variants;
mod violation;
mod weight;

pub use choices::Choices;
pub use compile::Ignored;
pub use error::{CompileError, Unable};
pub use evaluate::Judgement;
pub use field::{attacks::Attack, samples};
pub use generate::Having;
pub use limits::Limits;
pub use pool::Pool;
pub use schema::Schema;
pub use shrink::{Class, Shrinker};
pub use variants::{Adversarial, Boundary, Invalid};
pub use violation::{Rule, Violation};
pub use wallfacer_text::lexicon::FieldKind;
pub use weight::weight;

/// The examples of the README are run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
