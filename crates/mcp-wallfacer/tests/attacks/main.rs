//! Attacks on the sandbox, the redaction and the bounds: each test is a small hostile server or package that tries one
//! way out, as every user that the tests can be, and the proof that it did not get there.
//!
//! `before.txt` says of each what it did on the build before this suite. `WALLFACER_BINARY=PATH cargo test -p mcp-wallfacer
//! --test attacks` tries all of them on another build than this one; a path of the build before is how that table was made.
#![cfg(target_os = "linux")]

mod agent;
mod before;
mod bounds;
mod environment;
mod fetch;
mod inert;
mod interruption;
mod lanes;
mod links;
#[path = "../command_line/processes.rs"]
mod processes;
mod redaction;
mod refusal;
mod walls;
mod ways;
#[allow(dead_code, reason = "shared with the tests of the command line, which use more of it")]
#[path = "../command_line/world.rs"]
mod world;
