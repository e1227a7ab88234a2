//! Runs the built command as a user would, and looks at what the user sees: both streams, the exit code, and what is
//! left on disk and running.

mod bad_input;
mod behave;
mod check;
mod ci;
mod corpus;
mod diff;
mod differential;
mod docs;
mod docs_run;
mod doctor;
mod fuzz;
mod help;
mod init;
mod lock;
mod mcp;
mod network;
mod orphans;
mod pack;
#[cfg(target_os = "linux")]
mod processes;
mod property;
mod replay;
mod report;
mod secrets;
mod shard;
mod site;
mod stored;
mod templates;
mod tls;
mod world;
