//! A [`Target`](crate::target::Target) in, the world that each life of its server gets out: what the server finds
//! there, and what is seen of what it does there.

mod traced;

pub use traced::Traced;
