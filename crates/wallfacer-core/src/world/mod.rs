//! Makes the world that each life of a [`Target`](crate::target::Target)'s server gets: what the server finds there,
//! and what is seen of what it does there.
//!
//! | file | in → out |
//! |---|---|
//! | `scope` | a command and roots → the directories they declare |
//! | `entrusted` | variables → secrets, and the hosts that are named |
//! | `exposed` | what is kept → the credentials in it |
//! | `launcher` | a command → what must be fetched before there is no network |
//! | `fetch` | a launcher → what it needs, fetched in a jail of its own |
//! | `store` | a command → where what was fetched for it is kept |
//! | `settings` | what package managers are told → the same without secrets |
//! | `uv` | arguments of uv → its own options, and what it runs |
//! | `recipe` | a target → a [`World`], the same for each life |
//! | `start`, `inside` | a world and a program → a process in it |
//! | `access` | what it can get at of the user's own |
//! | `standing` | how far it is confined and watched |
//! | `carried` | what a server left on its disk → what the next one finds there |
//! | `vigil` | the call in flight → what was seen of it |
//! | `sought` | what was seen of a start → what the server looked for in vain |
//! | `stand_in` | a program that is missing → one that answers in its place |
//! | `trust` | files that were read → the lists of authorities among them, with ours in them |
//! | `missed` | an error → what the answer of a service lacked |
//! | `code` | a command → members that its code expects in the answers of services |
//! | `traced` | what was seen, as data |
//! | `way` | an address of the server → a connection |

mod access;
mod carried;
mod code;
mod entrusted;
mod exposed;
mod fetch;
#[cfg(target_os = "linux")]
mod inside;
mod launcher;
mod missed;
mod pipx;
mod recipe;
mod scope;
mod settings;
mod sought;
mod stand_in;
mod standing;
mod start;
mod store;
mod traced;
mod trust;
mod uv;
mod vigil;
mod way;
mod workspace;

pub use access::Access;
pub use carried::{Carried, files_holding};
pub use code::{Expected, expected_members, members_asked_for};
pub use entrusted::Entrusted;
pub use missed::{asked_of_nothing, missed};
pub use recipe::World;
pub use scope::{DeclaredBy, confining_directories, shown_by_project};
pub use sought::{Lack, Sought};
pub use standing::{Observed, Standing};
pub use start::way_to;
pub use traced::Traced;
pub use vigil::Vigil;
pub use way::Way;
pub use workspace::{REPOSITORY, SAMPLES, sample};
