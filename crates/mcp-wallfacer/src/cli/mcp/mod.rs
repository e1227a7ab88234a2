//! `wallfacer mcp`: wallfacer as an MCP server over standard input and output, so that a coding agent can check a server,
//! read what was found, and see whether a fix holds.
//!
//! Each tool runs this very program with the arguments that a person would type. A run that goes wrong, or is cancelled,
//! therefore ends a process of its own and never this server.

mod answer;
mod message;
mod reports;
mod server;
mod tool;
mod typed;

use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use tokio::sync::mpsc;
use wallfacer_core::target::Confine;

use super::runtime;
use super::target::TargetArgs;
use crate::exit::{Exit, Failure};
use server::Server;

/// More than any request of these tools needs.
const LONGEST_LINE: u64 = 1 << 20;
/// Requests that are read ahead of those that are being answered.
const READ_AHEAD: usize = 16;

/// How it is used, for --help.
const EXAMPLES: &str = "\
Examples:
  wallfacer mcp                            # over stdio; for servers that the project's files name
  wallfacer mcp --allow-any-server         # also for any command or URL that the agent names

In a client's file: { \"mcpServers\": { \"wallfacer\": { \"command\": \"wallfacer\", \"args\": [\"mcp\"] } } }";

/// Serve as an MCP server, for coding agents: check, findings, explain, replay, doctor
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Let the agent name any command or URL, and servers of files outside this project
    #[arg(long)]
    allow_any_server: bool,
    /// Let a file of this project open the sandbox, or switch it off
    #[arg(long)]
    allow_open_sandbox: bool,
}

/// What the tools may be used on.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// This program.
    program: PathBuf,
    /// The configuration that was named when the server was started.
    config: Option<PathBuf>,
    allow_any_server: bool,
    allow_open_sandbox: bool,
}

impl Workspace {
    /// A server that is named by the agent must stand in a file of this project, or the user has said that any will do. And
    /// it runs in a sandbox, as the tools say: nobody sits here who would see that a file opens it.
    fn permits(&self, server: Option<&str>) -> Result<(), String> {
        if let Some(opened) = self.opens_sandbox(server) {
            return Err(format!(
                "{opened}, and nobody would see that here; `wallfacer mcp --allow-open-sandbox` lets it"
            ));
        }
        let Some(name) = server.filter(|_| !self.allow_any_server) else { return Ok(()) };
        let chosen = TargetArgs::of_client_server(name).choose(self.config.as_deref());
        match chosen.map_err(|failure| failure.message)?.source {
            Some(_) => Ok(()),
            None => Err(format!(
                "`{name}` is a server of a file outside this project; `wallfacer mcp --allow-any-server` lets it be tested"
            )),
        }
    }
}

impl Workspace {
    /// How a file of this project opens the sandbox, where nobody has allowed it.
    fn opens_sandbox(&self, server: Option<&str>) -> Option<String> {
        if self.allow_open_sandbox {
            return None;
        }
        // What is wrong with the file is told by the command that needs it.
        let args = server.map(TargetArgs::of_client_server).unwrap_or_default();
        let sandbox = args.choose(self.config.as_deref()).ok()?.connector.target().sandbox.clone();
        let is_open = sandbox.confine == Confine::Off || !sandbox.net.is_closed() || !sandbox.keep.is_empty();
        sandbox.opened.filter(|_| is_open).map(|opened| format!("sandbox: {opened}"))
    }
}

/// Serves until the input ends.
pub fn run(args: &Args, config: Option<&Path>) -> Result<Exit, Failure> {
    let program = std::env::current_exe().map_err(|error| Failure {
        exit: Exit::OurFault,
        message: format!("cannot find wallfacer's own program, which the tools run: {error}"),
    })?;
    let allow_any_server = args.allow_any_server;
    let allow_open_sandbox = args.allow_open_sandbox;
    let config = config.map(Path::to_owned);
    let workspace = Workspace { program, config, allow_any_server, allow_open_sandbox };
    let (sender, lines) = mpsc::channel(READ_AHEAD);
    std::thread::spawn(move || read_lines(io::stdin().lock(), &sender));
    runtime()?
        .block_on(Server::new(workspace, io::stdout()).serve(lines))
        .map_err(|error| Failure::usage(&error))?;
    Ok(Exit::Clean)
}

/// Hands on line after line until the input ends. What is longer than a line may be is handed on in pieces, and each of
/// them is refused.
fn read_lines(mut input: impl BufRead, lines: &mpsc::Sender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        match input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) if line.trim_ascii().is_empty() => {}
            Ok(_) if lines.blocking_send(line).is_err() => return,
            Ok(_) => {}
        }
    }
}
