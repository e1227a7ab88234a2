//! `completions`: prints a completion script for a shell, made from the arguments themselves.

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, output};
use crate::exit::{Exit, Failure};

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer completions bash > ~/.local/share/bash-completion/completions/wallfacer
  wallfacer completions fish > ~/.config/fish/completions/wallfacer.fish";

/// Print a completion script for a shell
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    shell: Shell,
}

pub fn run(args: &Args) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "wallfacer", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}
