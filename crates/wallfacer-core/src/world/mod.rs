//! A [`Target`](crate::target::Target) in, the world that each life of its server gets out: what the server finds
//! there, and what is seen of what it does there.
//!
//! | file | in → out |
//! |---|---|
//! | `scope` | a command and roots → the directories they declare |
//! | `launcher` | a command → what must be fetched before there is no network |
//! | `uv` | arguments of uv → its own options, and what it runs |
//! | `recipe` | a target → a [`World`], the same for each life |
//! | `start`, `inside` | a world and a program → a process in it |
//! | `standing` | how far it is confined and watched |
//! | `vigil` | the call in flight → what was seen of it |
//! | `traced` | what was seen, as data |
//! | `way` | an address of the server → a connection |

#[cfg(target_os = "linux")]
mod inside;
mod launcher;
mod pipx;
mod recipe;
mod scope;
mod standing;
mod start;
mod traced;
mod uv;
mod vigil;
mod way;

pub use recipe::World;
pub use scope::DeclaredBy;
pub use standing::{Observed, Standing};
pub use start::way_to;
pub use traced::Traced;
pub use vigil::Vigil;
pub use way::Way;
