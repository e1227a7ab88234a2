//! Placeholder opening, replaced as the crate is written.
