//! Flaws before the first answer.

use super::process;
use crate::outlet::Outlet;
use std::io::{self, Write};
use std::process::abort;
use std::sync::Once;
use std::thread;
use std::time::Duration;

/// The exit code of the mode that does not even start.
const EXIT_AT_START: i32 = 3;

/// Runs before anything is read.
pub fn begin(mode: &str) -> io::Result<()> {
    match mode {
        "exits-at-start" => {
            writeln!(io::stderr(), "the configuration is missing")?;
            process::exit(EXIT_AT_START)
        }
        "dies-at-start" => abort(),
        "prints-banner" => {
            let mut stdout = io::stdout();
            stdout.write_all(b"Welcome to the fixture server!\nNow listening on stdio.\n")?;
            stdout.flush()
        }
        _ => Ok(()),
    }
}

/// Whether this request is never answered. A client that waits for a response of its own is kept waiting.
pub fn ignores(mode: &str, method: &str, outlet: &dyn Outlet) -> bool {
    let ignored = match mode {
        "never-answers" => true,
        "never-answers-initialize" => method == "initialize",
        "never-answers-discover" => method == "server/discover",
        _ => false,
    };
    if ignored {
        outlet.hold();
    }
    ignored
}

/// The first request of all waits, as behind a launcher that still downloads.
pub fn delay(mode: &str, time: Duration) {
    static FIRST: Once = Once::new();
    if mode == "slow-start" {
        FIRST.call_once(|| thread::sleep(time));
    }
}
