//! The command `wallfacer`: reads the arguments, prints, and exits with a code. Everything else is in `wallfacer-core`.

mod cli;
mod demo;
mod environment;
mod exit;
mod init;
mod interruption;
mod terminal;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = std::env::args_os();
    let outcome = std::panic::catch_unwind(|| cli::run(arguments));
    let outcome = outcome.unwrap_or_else(|_| Err(exit::Failure::panic()));
    let exit = outcome.unwrap_or_else(|failure| terminal::show_failure(&failure));
    exit.into()
}
