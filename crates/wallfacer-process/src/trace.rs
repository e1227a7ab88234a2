//! Watches what a whole process tree does (files, sockets, programs) and records it in order.
//!
//! A [`Filter`] makes the kernel stop each task of the tree at the calls that matter, and nowhere else; [`enter`] puts
//! it on, right before the server's program is executed; a [`Tracer`] handles the stops on a thread of its own and
//! writes each event into a [`Recorder`] before the task goes on, hence before it can answer the request that made it
//! act. That is why an event belongs to the call in flight, exactly, as long as calls come one at a time.
//!
//! | file | in → out |
//! |---|---|
//! | `event` | the nouns: what was done, to what, with which outcome |
//! | `recorder` | events → a bounded record, with the call in flight |
//! | `call` | numbers of system calls, per architecture → names |
//! | `filter`, `enter` | the table → a seccomp program; and putting it on |
//! | `tracer`, `task` | stops → events |
//! | `alertness` | waiting → the next stop |
//! | `decode` | registers and memory of a stopped task → what it asks for; pure |
//! | `address`, `question` | bytes of a socket address, of a DNS message → their meaning; pure |
//! | `tracee` | `ptrace`, memory and `/proc` of one stopped task |
//! | `sockets` | which socket is of which kind, and connected to whom |
//!
//! What is asked for is read from the target's memory, which another of its threads may change at any time: it is a
//! claim. What an `open` really opened, and which program really runs, is read after the call: that is evidence. For
//! calls that give no descriptor (unlink, rename …) the directory is resolved after the call, and the name is a claim.
//!
//! What is not seen: `stat`, `access` and `readlink` (left out, for they are noise, unless [`Options::lookups`] asks for those
//! that fail), and content that goes through
//! `write`, `sendfile` or shared memory. What is refused, because it would make the record untrue, is listed at
//! [`Filter`]; so a server that needs `ptrace`, mounts or more rights itself, such as one that starts a browser with its
//! own sandbox, cannot do its work while it is watched. A target can find out that it is watched (`TracerPid`,
//! `Seccomp`) and behave. On aarch64 all of this is written down but was never run.

#[cfg(target_os = "linux")]
mod address;
#[cfg(target_os = "linux")]
mod alertness;
#[cfg(target_os = "linux")]
mod call;
#[cfg(target_os = "linux")]
mod decode;
#[cfg(target_os = "linux")]
mod enter;
mod event;
#[cfg(target_os = "linux")]
mod filter;
mod gate;
mod question;
mod recorder;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod task;
#[cfg(target_os = "linux")]
mod tracee;
#[cfg(target_os = "linux")]
mod tracer;

#[cfg(target_os = "linux")]
pub use enter::enter;
pub use event::{
    Access, Address, Event, Family, Image, Kind, Location, Message, Outcome, Program, Socket, Transport,
};
#[cfg(target_os = "linux")]
pub use filter::{Filter, Options};
pub use gate::{Decision, Gate};
pub use question::Question;
pub use recorder::{Lost, Recorder, Recording};
#[cfg(target_os = "linux")]
pub use tracer::{AttachError, Tracer};
