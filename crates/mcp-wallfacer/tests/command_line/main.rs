//! The built command in, what its user sees out: both streams, the exit code, and what is left on disk and running.

mod bad_input;
mod doctor;
mod init;
mod network;
mod orphans;
mod papers;
mod secrets;
mod site;
mod tls;
mod world;
