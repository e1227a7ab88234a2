//! A [`Call`] in, a [`Recording`] out. The only step that waits on the server.
//! Nothing is interpreted here, so that an old recording can be judged by a new check.

mod call;
mod recording;

pub use call::{Call, execute};
pub use recording::Recording;
