//! The name of a [`Mode`] in, a small MCP server out: the path of the program that plays it, and what is
//! expected of a client that meets it.
//!
//! The program is `wallfacer-fixture MODE [--http | --legacy-sse] [--port N] [--era legacy|modern|both]`.
//! Every flawed mode is the correct server with one behaviour changed, mostly in the answer to
//! `tools/call` of `echo`. The table of modes is the one truth that tests walk.

mod expected;
mod locate;
mod table;

pub use expected::{Answer, Catalogue, Ending, Era, Expected, Fault, Mode, Start, Transport};
pub use locate::{require, server};
pub use table::modes;
