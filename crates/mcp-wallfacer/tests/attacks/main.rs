//! Attacks on the sandbox, the redaction and the bounds: each test is a small hostile server or package that tries one
//! way out, as every user that the tests can be, and the proof that it did not get there.
//!
//! `before.txt` says how each test went on the build before this suite. In the comments of the tests, "Was open" means that the
//! attack worked on that build, and "Held" that it did not. "No attack" is a test that the protection does not keep out what is
//! meant to get through.
//!
//! `WALLFACER_BINARY=PATH cargo test -p mcp-wallfacer --test attacks` runs the suite on another build. The table was made in
//! this way.
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
mod network;
mod planted;
#[path = "../command_line/processes.rs"]
mod processes;
mod random;
mod redaction;
mod refusal;
mod walls;
mod ways;
#[allow(dead_code, reason = "shared with the tests of the command line, which use more of it")]
#[path = "../command_line/world.rs"]
mod world;
