//! Arguments as typed in, the command they mean run, its exit out.

mod again;
mod against;
mod behave;
mod check;
mod checking;
mod ci;
mod conclude;
mod corpus;
mod coverage;
mod diff;
mod differential;
mod doctor;
mod drift;
mod dry_run;
mod effort;
mod feedback;
mod fuzz;
mod keeping;
mod key;
mod lock;
mod output;
mod pack;
mod papers;
mod property;
mod redaction;
mod replay;
mod selection;
mod store;
mod suggest;
mod target;
mod units;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Parser, Subcommand};

use crate::exit::{Exit, Failure};
use crate::{demo, init};

/// Tells the truth about an MCP server by running it
#[derive(Debug, Parser)]
#[command(name = "wallfacer", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// The configuration [default: wallfacer.toml here or above, up to the repository's root]
    #[arg(long, global = true, value_name = "FILE", env = "WALLFACER_CONFIG")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Check(Box<check::Args>),
    Ci(Box<ci::Args>),
    Behave(Box<behave::Args>),
    Lock(Box<lock::Args>),
    Doctor(Box<doctor::Args>),
    Fuzz(Box<fuzz::Args>),
    Differential(Box<differential::Args>),
    Property(Box<property::Args>),
    Suggest(Box<suggest::Args>),
    Coverage(Box<coverage::Args>),
    Replay(Box<replay::Args>),
    Corpus(corpus::Args),
    Diff(diff::Args),
    Init(init::Args),
    Pack(pack::Args),
    Completions(papers::CompletionArgs),
    Man(papers::ManArgs),
    /// The flawed server of --demo, over standard input and output
    #[command(hide = true)]
    DemoServer {
        /// Print the rules that go with it instead
        #[arg(long)]
        rules: bool,
    },
}

/// Runs what the arguments ask for.
pub fn run(arguments: impl Iterator<Item = OsString>) -> Result<Exit, Failure> {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return Ok(show_usage(with_tip(error))),
    };
    match cli.command {
        Command::Check(args) => check::run(&args, cli.config.as_deref()),
        Command::Ci(args) => ci::run(&args, cli.config.as_deref()),
        Command::Behave(args) => behave::run(&args, cli.config.as_deref()),
        Command::Lock(args) => lock::run(&args, cli.config.as_deref()),
        Command::Doctor(args) => doctor::run(&args, cli.config.as_deref()),
        Command::Fuzz(args) => fuzz::run(&args, cli.config.as_deref()),
        Command::Differential(args) => differential::run(&args, cli.config.as_deref()),
        Command::Property(args) => property::run(&args, cli.config.as_deref()),
        Command::Suggest(args) => suggest::run(&args, cli.config.as_deref()),
        Command::Coverage(args) => coverage::run(&args, cli.config.as_deref()),
        Command::Replay(args) => replay::run(&args, cli.config.as_deref()),
        Command::Corpus(args) => corpus::run(&args, cli.config.as_deref()),
        Command::Diff(args) => diff::run(&args),
        Command::Init(args) => {
            let here = target::working_directory()?;
            output::print(&init::run(&args, &here)?)
        }
        Command::Pack(args) => pack::run(&args, cli.config.as_deref()),
        Command::Completions(args) => papers::completions(&args),
        Command::Man(args) => papers::man(&args),
        Command::DemoServer { rules: true } => output::print(demo::INVARIANTS),
        Command::DemoServer { rules: false } => {
            demo::die_of_panics();
            let served = demo::serve(std::io::stdin().lock(), std::io::stdout().lock());
            served.map(|()| Exit::Clean).map_err(|error| Failure::usage(&error))
        }
    }
}

/// Help and version are answers; anything else that clap has to say is a wrong use.
fn show_usage(error: clap::Error) -> Exit {
    let _nobody_reads = error.print();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Exit::Clean,
        _ => Exit::Usage,
    }
}

/// Who forgets the `--` in front of a server's command is told of it.
fn with_tip(mut error: clap::Error) -> clap::Error {
    let takes_command = error.to_string().contains("[-- <COMMAND>");
    let word = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(word)) if takes_command && !word.starts_with('-') => word,
        _ => return error,
    };
    let tip = format!("the command of a server goes behind `--`: -- {word}");
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    error
}

/// One thread is enough: the server is the slow part, and one thread costs least beside it.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| Failure {
        exit: Exit::OurFault,
        message: format!("cannot set up what wallfacer waits with: {error}"),
    })
}
