//! Small MCP servers to test against, each found by the name of its [`Mode`] or [`Flaw`]: the path of the program that
//! plays it, and what is expected of a client that meets it.
//!
//! The program is `wallfacer-fixture MODE [--http | --legacy-sse] [--port N] [--era legacy|modern|both]`.
//! Every flawed mode is the correct server with one behaviour changed, mostly in the answer to
//! `tools/call` of `echo`. The table of modes is the one truth that tests of the wire walk.
//!
//! `wallfacer-fixture flaw NAME [--fixed] [--rename SEED] …` plays a server of the second table: each has a few
//! ordinary tools, one of which goes wrong on some input that has to be found. The table of flaws is the one truth
//! that tests of fuzzing walk.
//!
//! `wallfacer-fixture behaviour NAME [--fixed] …` plays a server of the third table: each does something to the world
//! that has to be seen. The table of behaviours is the one truth that tests of watching walk.
//!
//! `wallfacer-fixture injection NAME [--fixed] [--root DIRECTORY]` plays a server of the fourth table: each does what a
//! payload says.
//!
//! `wallfacer-fixture change NAME [--fixed] …` plays a server of the fifth table: each exists in two versions, of which
//! `--fixed` plays the earlier one.
//!
//! `wallfacer-fixture rule NAME [--fixed] [--root DIRECTORY]` plays a server of the sixth table: each breaks rules of a
//! pack. `wallfacer-fixture rule as-written --script FILE` plays what a file says, and
//! `wallfacer-fixture rule diary --root DIRECTORY` writes down there which calls were made.
//!
//! `wallfacer-fixture ten-bugs [--fixed] --root DIRECTORY` plays a small server for notes with ten bugs, which
//! [`TEN_BUGS`] lists; it shows the variable `NOTES_API_TOKEN`.
//!
//! `wallfacer-fixture hostile [refuses|babbles|changed]` plays a server whose every text acts where it is printed as it
//! is: it refuses to begin, is no server at all, or has changed since.
//!
//! `wallfacer-lacks WHAT[,WHAT…] PROGRAM ARGS…` is no server: it starts a program for which some system calls fail, as
//! on a machine that does not offer them.

mod behaviour_table;
mod change;
mod expected;
mod flaw;
mod flaw_table;
mod hostile;
mod injection;
mod locate;
mod port;
mod renaming;
mod rule_table;
mod table;
mod ten_bugs;

pub use behaviour_table::behaviours;
pub use change::{Change, changes};
pub use expected::{Answer, Catalogue, Ending, Era, Expected, Fault, Mode, Start, Transport};
pub use flaw::{Expect, Flaw};
pub use flaw_table::flaws;
pub use hostile::{HOSTILE_TEXTS, acting};
pub use injection::{Injection, Told, injections};
pub use locate::{lacks, require, server};
pub use port::free_port;
pub use renaming::Renaming;
pub use rule_table::{RuleServer, rule_servers};
pub use table::modes;
pub use ten_bugs::TEN_BUGS;
