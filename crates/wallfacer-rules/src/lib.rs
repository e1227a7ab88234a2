//! The rule language: reads rules from a YAML file and judges calls by them. Nothing here waits, reads a file, prints
//! or looks at a clock.
//!
//! ```text
//! text ─ yaml ─▶ RuleFile ─ load, read ─▶ Rules ─ block ─▶ Rule ─ evaluate ─▶ Verdict
//! ```
//!
//! - [`RuleFile`] is a file as typed, every part with its place; [`Rules`] is what it means, with everything compiled.
//! - [`Rules::expand`] makes one [`Rule`] per tool of rules that are about every tool.
//! - [`evaluate`](fn@evaluate) and [`Rule::judge`] decide about one call; [`Step::judge`] about one step of a [`Sequence`].
//! - [`Draft::resolve`] puts together what is sent.
//! - [`test_offline`] tries rules on the fixtures beside them.
//! - [`packs`](fn@packs) are rule files that come along, and [`Shelf`] finds them and those of a workspace;
//!   [`suggest`](fn@suggest) tells which fit a server, [`coverage`](fn@coverage) which tools they reach.
//!
//! A placeholder is never filled in text that is then read again, what could not be observed is
//! [`Verdict::Unknown`], and work on what a server sent is bounded.

mod assertion;
mod block;
mod coverage;
mod draft;
mod evaluate;
mod expr;
mod file;
mod fixture;
mod generate;
mod library;
mod load;
mod metadata;
mod nearest;
mod offline;
mod packs;
mod path;
mod problem;
mod read;
mod rule;
mod rules;
mod schema;
mod sequence;
mod source;
mod suggest;
mod text;
mod tool;
mod written;
mod yaml;

pub use assertion::Assertion;
pub use coverage::{
    Cell, Coverage, Means, PackCoverage, coverage, human as show_coverage, json as coverage_as_json,
};
pub use draft::{CANNOT_BE_FILLED, Draft, Unresolved};
pub use evaluate::{Context, Known, Verdict, evaluate};
pub use file::RuleFile;
pub use fixture::{Expect, Fixture, SequenceFixture};
pub use generate::{Generate, Spec};
pub use library::Compiled;
pub use metadata::{Extended, Metadata, Parameter, ParameterType};
pub use nearest::nearest;
pub use offline::{FixtureOutcome, FixtureResult, test_offline};
pub use packs::{Pack, Shelf, packs};
pub use path::{Path, Root};
pub use problem::{Problem, Problems};
pub use rule::{Input, Origin, Rule};
pub use rules::{Expansion, Loader, Rules, Skipped};
pub use sequence::{Client, Outcome, Sequence, Step, Steps};
pub use source::{Position, Source, Span};
pub use suggest::{
    Suggestion, human as show_suggestions, json as suggestions_as_json, suggest, toml as suggestions_as_toml,
};
pub use tool::ToolShape;

/// The example of the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
