//! Attacks on the sandbox, the redaction and the bounds: each test is a small hostile server or package that tries one
//! way out, as every user that the tests can be, and the proof that it did not get there.
//!
//! Each test says what became of it on the build that the review attacked, commit cbb80d2:
//!
//! | first words | seen there |
//! |---|---|
//! | "Was open" | it failed, for the reason that is given |
//! | "Held" | it passed |
//! | "New" | there was no such thing to be attacked |
//! | "No attack" | it shows that what is closed does not keep out what is meant |
//!
//! `WALLFACER_BINARY=PATH cargo test -p mcp-wallfacer --test attacks` tries them on another build.
#![cfg(target_os = "linux")]

mod agent;
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
