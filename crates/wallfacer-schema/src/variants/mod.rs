//! Lists values of a schema: on the boundary, invalid in one way, adversarial. All three walk the same way: each place
//! of the schema offers candidates for itself, which are set into an otherwise valid value and then judged as a whole.

mod adversarial;
mod boundary;
mod invalid;
mod walk;
mod workshop;

pub use adversarial::Adversarial;
pub use boundary::Boundary;
pub use invalid::Invalid;

pub(crate) use adversarial::list as adversarial;
pub(crate) use boundary::list as boundary;
pub(crate) use invalid::list as invalid;

use serde_json::Value;
use std::{
    collections::hash_map::DefaultHasher,
    hash::Hasher,
    io::{self, Write},
};

/// A short stand-in for a value, to see whether it came before. Used within one list only.
pub(crate) fn fingerprint(value: &Value) -> u64 {
    struct Sink(DefaultHasher);
    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.write(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut sink = Sink(DefaultHasher::new());
    // Writing into a hasher does not fail.
    let _ = serde_json::to_writer(&mut sink, value);
    sink.0.finish()
}
