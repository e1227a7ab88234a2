//! Changes the one behaviour that a mode names. Each file is one place where the correct server asks whether something
//! is to be done differently there; the table of the library says what comes of it.

pub mod claims;
pub mod http;
pub mod process;
pub mod reply;
pub mod spelling;
pub mod start;
