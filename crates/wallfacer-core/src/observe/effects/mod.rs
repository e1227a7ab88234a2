//! Tells what the server did to the world during a step, its [`Effects`], from what the kernel and the network saw,
//! without the noise of the runtime that it is written in.
//!
//! | file | what it knows |
//! |---|---|
//! | `place` | where a path lies: among canaries, in the declared scope, at home … |
//! | `noise` | what every program of a runtime does, by list and by what was learned |
//! | `deeds` | one event → what it does to which file |
//! | `contact` | flows and connects → whom the server reached |
//! | `gather` | all of a step → its [`Effects`] |
//! | `behaviour` | the effects of all calls of a run, by tool |
//! | `shown` | effects → JSON |
//! | `tokens` | bytes → the canary whose content is among them |

mod behaviour;
mod contact;
mod deeds;
mod gather;
mod noise;
mod place;
mod shown;
#[cfg(test)]
mod tests;
mod tokens;

pub use behaviour::{Behaviour, Done};
pub use contact::Contact;
pub use gather::{Effects, Executed, Touch, Whose, gather};
pub use noise::{BadNoise, Noise};
pub use place::{Place, Places};
pub use tokens::Tokens;
