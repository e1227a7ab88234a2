//! The engine of wallfacer: reaches an MCP server, exercises it, and judges what it did.
//!
//! Each folder is one step; it makes the noun that the next one reads, and imports only steps before it.

pub mod place;

pub mod repository;

pub mod stop;

pub mod shard;

pub mod latency;

pub mod severity;

pub mod rule_severity;

pub mod rule_words;

pub mod kind;

pub mod target;

pub mod world;

pub mod wire;

pub mod catalogue;

pub mod plan;

pub mod run;

pub mod observe;

pub mod learn;

pub mod findings;

pub mod judge;

pub mod lock;

pub mod summary;

pub mod report;

pub mod event;

pub mod log;

pub mod session;
