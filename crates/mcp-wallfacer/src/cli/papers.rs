//! Shell completions and manual pages, made from the arguments themselves.

use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, output};
use crate::exit::{Exit, Failure};

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
pub struct CompletionArgs {
    shell: Shell,
}

/// Print the manual page, or write the pages of all commands into a directory
#[derive(Debug, clap::Args)]
pub struct ManArgs {
    /// An existing directory, such as ~/.local/share/man/man1
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn completions(args: &CompletionArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "wallfacer", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

pub fn man(args: &ManArgs) -> Result<Exit, Failure> {
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
