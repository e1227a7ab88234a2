//! `man`: prints the manual page, or writes those of all commands, made from the arguments themselves.

use std::path::PathBuf;

use clap::CommandFactory;

use super::{Cli, output};
use crate::exit::{Exit, Failure};

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer man | man -l -                 # read the page of the command itself
  wallfacer man --dir ~/.local/share/man/man1   # then: man wallfacer-check";

/// Print the manual page, or write the pages of all commands into a directory
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// An existing directory, such as ~/.local/share/man/man1
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let failed = |reason: &dyn std::fmt::Display| Failure {
        exit: Exit::Usage,
        message: format!("cannot write the manual pages: {reason}"),
    };
    let failed_writing = |error: std::io::Error| failed(&error);
    if let Some(directory) = &args.dir {
        if !directory.is_dir() {
            return Err(failed(&format!("there is no directory `{}`; make it first", directory.display())));
        }
        clap_mangen::generate_to(Cli::command(), directory).map_err(failed_writing)?;
        return Ok(Exit::Clean);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(failed_writing)?;
    output::print(&String::from_utf8_lossy(&page))
}
