//! Starts the process that a [`Spec`] describes, and gives the running [`Process`], its [`Stdio`] and, at the end, how
//! it ended.
//!
//! Every server is started here, and none outlives its [`Process`]: on Linux each one gets a *keeper*, a small
//! process between us and the server. The keeper adopts whatever the server's tree leaves behind and kills all of
//! it when we say so, or when we die, however suddenly. Elsewhere the process group is all that can be ended, and
//! [`Process::kind`] says so.
//!
//! | file | in → out |
//! |---|---|
//! | `spec`, `program` | what to run → the file to execute |
//! | `keeper/` | the Linux way: fork, keep, launch, hunt |
//! | `group` | the portable way: a process group |
//! | `report` | what a keeper tells us, in 32 bytes |
//! | `control` | one hand on either |
//! | `attendant` | reports and stderr → the state of a life |
//! | `jail/` | a wish for confinement → a world of the server's own |
//! | `watch` | who is there before the server begins |
//! | `process` | the public handle |
//! | `trace/` | a tree that is watched → what it did, call by call |
//! | `sink/` | the sockets of a jail → what was sent out, and to whom |
//! | `tree` | `/proc` → descendants, samples |
//! | `weight` | `/proc` → whether a tree holds too much memory |
//! | `platform` | what this machine offers |
//!
//! Where nothing confines it, a server that means harm can still kill its keeper, since both belong to the same user.
//! Then we adopt what is left of its tree and end it, the status is [`Status::Unknown`], and [`Ended::keeper_killed`] says
//! so. It can also stop its keeper; we get the better of that, unless we are killed meanwhile. One that kills us too, with
//! its keeper, gets away.

// Forking, executing and signalling have no safe interface; no other crate of the workspace may do this.
#![allow(unsafe_code)]

#[cfg(not(unix))]
compile_error!("wallfacer-process needs Unix processes and pipes; on Windows use WSL 2 or a Linux container");

mod attendant;
mod control;
mod ending;
mod error;
mod group;
pub mod jail;
#[cfg(target_os = "linux")]
mod keeper;
mod pipe;
mod platform;
mod process;
mod program;
mod report;
pub mod sink;
mod spec;
mod tail;
pub mod trace;
mod tree;
#[cfg(target_os = "linux")]
mod watch;
#[cfg(target_os = "linux")]
mod weight;

pub use ending::{Ended, Ending, Means, Status};
pub use error::StartError;
pub use jail::{Confinement, Jail, Rung};
pub use platform::{ControlKind, Platform, platform};
pub use process::{Process, Stdio};
pub use spec::Spec;
pub use tail::Stderr;
pub use tree::{Descendant, Sample};
#[cfg(target_os = "linux")]
pub use watch::{Before, Watch};
