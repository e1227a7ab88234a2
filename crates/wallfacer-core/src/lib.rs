//! The engine of wallfacer: reaches an MCP server, exercises it, and judges what it did.

pub mod target;
